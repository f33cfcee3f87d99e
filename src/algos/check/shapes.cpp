// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Placements to prove algorithms on.
#include <algorithm>
#include <random>

#include <fmt/format.h>

#include "algos/check/prove.hpp"

namespace umbel::algos::check {
namespace {

/// A placement by a function from rank to node.
template <class NodeOf>
Shape placed(int ranks, NodeOf&& node_of) {
  std::vector<int> nodes;
  for (Rank rank = 0; rank < ranks; ++rank) nodes.push_back(node_of(rank));
  return Shape::from_nodes(nodes);
}

/// A placement by a function from rank to (…, rack, node).
template <class PathOf>
Shape placed_in_racks(int ranks, PathOf&& path_of) {
  std::vector<std::vector<int>> paths;
  for (Rank rank = 0; rank < ranks; ++rank) paths.push_back(path_of(rank));
  return Shape::from_paths(paths);
}

void collect_paths(const Group& group, const std::vector<int>& path, std::vector<std::vector<int>>& out) {
  if (group.is_node()) {
    for (Rank rank : group.ranks) out[static_cast<std::size_t>(rank)] = path;
    return;
  }
  for (std::size_t k = 0; k < group.children.size(); ++k) {
    std::vector<int> deeper = path;
    deeper.push_back(static_cast<int>(k));
    collect_paths(group.children[k], deeper, out);
  }
}

}  // namespace

std::vector<NamedShape> shapes_of(int ranks) {
  std::vector<NamedShape> all;
  const auto add = [&](std::string name, Shape shape) {
    const bool known = std::ranges::any_of(all, [&](const NamedShape& other) { return other.shape == shape; });
    if (!known) all.push_back({std::move(name), std::move(shape)});
  };
  const int half = (ranks + 1) / 2;
  const int third = (ranks + 2) / 3;
  add("one node", Shape::one_node(ranks));
  add("two nodes", placed(ranks, [&](Rank r) { return r / half; }));
  add("uneven", placed(ranks, [&](Rank r) { return r < ranks - third ? 0 : r < ranks - 1 ? 1 : 2; }));
  add("uneven, reversed", placed(ranks, [&](Rank r) { return ranks - 1 - r < ranks - third ? 0 : 1; }));
  add("cyclic", placed(ranks, [](Rank r) { return r % 2; }));
  add("cyclic over three", placed(ranks, [](Rank r) { return r % 3; }));
  add("one rank a node", placed(ranks, [](Rank r) { return r; }));
  add("nodes of four", placed(ranks, [](Rank r) { return r / 4; }));
  add("three levels", placed_in_racks(ranks, [&](Rank r) {
        return std::vector{r / half, r % half / ((half + 1) / 2)};
      }));
  add("three levels, cyclic", placed_in_racks(ranks, [](Rank r) { return std::vector{r % 2, r / 2 % 2}; }));
  std::mt19937 random(static_cast<unsigned>(ranks));
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const int nodes = 2 + below(std::max(1, ranks / 2));
  add("random", placed(ranks, [&](Rank) { return below(nodes); }));
  add("random, three levels", placed_in_racks(ranks, [&](Rank) { return std::vector{below(3), below(3)}; }));
  // Racks of unequal numbers of nodes: two and three; one beside many more than anybody owns parts for.
  add("uneven racks", placed_in_racks(ranks, [](Rank r) {
        return r % 5 < 2 ? std::vector{0, r % 5} : std::vector{1, r % 5};
      }));
  add("lopsided racks", placed_in_racks(ranks, [](Rank r) { return r < 2 ? std::vector{0, 0} : std::vector{1, r}; }));
  add("four levels", placed_in_racks(ranks, [](Rank r) { return std::vector{r / 4 % 2, r / 2 % 2, r % 2}; }));
  add("random, four levels", placed_in_racks(ranks, [&](Rank) { return std::vector{below(3), below(3), below(3)}; }));
  return all;
}

std::string text_of(const Shape& shape) {
  std::vector<std::vector<int>> paths(static_cast<std::size_t>(shape.ranks()));
  collect_paths(shape.root(), {}, paths);
  const std::size_t levels = std::max<std::size_t>(1, std::ranges::max(paths, {}, &std::vector<int>::size).size());
  std::string out;
  for (auto& path : paths) {
    path.resize(levels);  // a group that was not split further: node 0 of itself
    if (!out.empty()) out += ',';
    out += fmt::format("{}", fmt::join(path, "/"));
  }
  return out;
}

}  // namespace umbel::algos::check
