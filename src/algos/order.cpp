// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/order.hpp"

#include <algorithm>
#include <numeric>

namespace umbel::algos {
namespace {

void collect(const Group& group, std::vector<std::vector<Rank>>& nodes) {
  if (group.is_node()) nodes.push_back(group.ranks);
  for (const Group& child : group.children) collect(child, nodes);
}

void collect_from(const Group& group, Rank first, std::vector<std::vector<Rank>>& nodes) {
  if (group.is_node()) {
    nodes.push_back(group.ranks);
    const auto at = std::ranges::find(nodes.back(), first);
    if (at != nodes.back().end()) std::rotate(nodes.back().begin(), at, nodes.back().end());
    return;
  }
  const auto holds = [&](const Group& child) { return std::ranges::binary_search(child.ranks, first); };
  const auto found = std::ranges::find_if(group.children, holds);
  const auto start = found == group.children.end() ? group.children.begin() : found;
  for (std::size_t k = 0; k < group.children.size(); ++k) {
    const auto at = static_cast<std::size_t>(start - group.children.begin()) + k;
    collect_from(group.children[at % group.children.size()], first, nodes);
  }
}

std::vector<Rank> flat(const std::vector<std::vector<Rank>>& nodes) {
  std::vector<Rank> order;
  for (const auto& node : nodes) order.insert(order.end(), node.begin(), node.end());
  return order;
}

}  // namespace

std::vector<std::vector<Rank>> nodes_in_order(const Group& group) {
  std::vector<std::vector<Rank>> nodes;
  collect(group, nodes);
  return nodes;
}

std::vector<Rank> ranks_in_order(const Shape& shape) { return flat(nodes_in_order(shape.root())); }

std::vector<std::vector<Rank>> nodes_from(const Group& group, Rank first) {
  std::vector<std::vector<Rank>> nodes;
  collect_from(group, first, nodes);
  return nodes;
}

std::vector<Rank> ranks_from(const Shape& shape, Rank first) { return flat(nodes_from(shape.root(), first)); }

std::vector<Rank> ranks_ascending(const Shape& shape) {
  std::vector<Rank> ranks(static_cast<std::size_t>(shape.ranks()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

std::vector<Rank> others_in_turn(Rank rank, int ranks) {
  std::vector<Rank> others;
  for (int k = 1; k < ranks; ++k) others.push_back((rank + k) % ranks);
  return others;
}

int ranks_leaving(const Shape& shape, int distance) {
  std::vector<int> leaving(static_cast<std::size_t>(shape.nodes()));
  for (Rank rank = 0; rank < shape.ranks(); ++rank)
    if (!shape.same_node(rank, (rank + distance) % shape.ranks()))
      ++leaving[static_cast<std::size_t>(shape.node_of(rank))];
  return std::ranges::max(leaving);
}

}  // namespace umbel::algos
