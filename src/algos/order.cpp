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

}  // namespace

std::vector<std::vector<Rank>> nodes_in_order(const Group& group) {
  std::vector<std::vector<Rank>> nodes;
  collect(group, nodes);
  return nodes;
}

std::vector<Rank> ranks_in_order(const Shape& shape) {
  std::vector<Rank> order;
  for (const auto& node : nodes_in_order(shape.root())) order.insert(order.end(), node.begin(), node.end());
  return order;
}

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
