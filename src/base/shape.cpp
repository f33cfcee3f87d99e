// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "base/shape.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/hash.hpp"

namespace umbel {
namespace {

/// Builds the group of `ranks`, which agree in the first `level` path entries.
Group make_group(const std::vector<std::vector<int>>& paths, std::vector<Rank> ranks, std::size_t level) {
  Group group{.ranks = std::move(ranks), .children = {}};
  if (level == paths.front().size()) return group;
  std::vector<std::pair<int, std::vector<Rank>>> parts;
  for (Rank rank : group.ranks) {
    const int id = paths[static_cast<std::size_t>(rank)][level];
    auto found = std::ranges::find(parts, id, &std::pair<int, std::vector<Rank>>::first);
    if (found == parts.end()) found = parts.insert(parts.end(), {id, {}});
    found->second.push_back(rank);
  }
  for (auto& [id, members] : parts) group.children.push_back(make_group(paths, std::move(members), level + 1));
  // A group with a single part adds nothing: the part stands for it.
  if (group.children.size() == 1) {
    Group only = std::move(group.children.front());
    return only;
  }
  return group;
}

}  // namespace

Shape Shape::one_node(int ranks) { return from_nodes(std::vector<int>(static_cast<std::size_t>(ranks), 0)); }

Shape Shape::from_nodes(std::span<const int> node_of_rank) {
  std::vector<std::vector<int>> paths;
  paths.reserve(node_of_rank.size());
  for (int node : node_of_rank) paths.push_back({node});
  return from_paths(paths);
}

Shape Shape::from_paths(std::span<const std::vector<int>> path_of_rank) {
  if (path_of_rank.empty()) throw InvalidArgument("a shape needs at least one rank");
  const std::size_t length = path_of_rank.front().size();
  if (length == 0) throw InvalidArgument("a placement path is empty");
  Shape shape;
  std::map<std::vector<int>, int> numbers;  // path prefix → number of its last entry, per parent
  std::map<std::vector<int>, int> next;     // parent prefix → next free number
  for (std::size_t r = 0; r < path_of_rank.size(); ++r) {
    const std::vector<int>& path = path_of_rank[r];
    if (path.size() != length)
      throw InvalidArgument(fmt::format("placement paths differ in length: rank 0 has {} levels, rank {} has {}",
                                        length, r, path.size()));
    std::vector<int> prefix, normal;
    for (int id : path) {
      const std::vector<int> parent = prefix;
      prefix.push_back(id);
      auto [where, fresh] = numbers.try_emplace(prefix, 0);
      if (fresh) where->second = next[parent]++;
      normal.push_back(where->second);
    }
    shape.paths_.push_back(std::move(normal));
  }
  std::map<std::vector<int>, int> node_numbers;
  for (const auto& path : shape.paths_) {
    auto [where, fresh] = node_numbers.try_emplace(path, static_cast<int>(shape.nodes_.size()));
    if (fresh) shape.nodes_.emplace_back();
    auto& members = shape.nodes_[static_cast<std::size_t>(where->second)];
    shape.node_of_.push_back(where->second);
    shape.local_index_.push_back(static_cast<int>(members.size()));
    members.push_back(static_cast<Rank>(shape.node_of_.size() - 1));
  }
  std::vector<Rank> all(shape.node_of_.size());
  for (std::size_t r = 0; r < all.size(); ++r) all[r] = static_cast<Rank>(r);
  shape.root_ = make_group(shape.paths_, std::move(all), 0);
  auto depth = [](auto&& self, const Group& group) -> int {
    int deepest = 0;
    for (const Group& child : group.children) deepest = std::max(deepest, self(self, child));
    return group.children.empty() ? 0 : deepest + 1;
  };
  shape.levels_ = std::max(1, depth(depth, shape.root_));
  return shape;
}

int Shape::smallest_node() const noexcept {
  return static_cast<int>(std::ranges::min(nodes_, {}, &std::vector<Rank>::size).size());
}

int Shape::largest_node() const noexcept {
  return static_cast<int>(std::ranges::max(nodes_, {}, &std::vector<Rank>::size).size());
}

std::uint64_t Shape::hash() const noexcept {
  std::uint64_t hash = kHashOfNothing;
  for (const auto& path : paths_) {
    hash = hashed(hash, path.size());
    for (int id : path) hash = hashed(hash, static_cast<std::uint64_t>(id) + 1);
  }
  return hash;
}

}  // namespace umbel
