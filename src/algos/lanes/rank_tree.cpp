// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/lanes/rank_tree.hpp"

#include <algorithm>
#include <utility>

#include "algos/order.hpp"

namespace umbel::algos {
namespace {

Rank leader(const Group& group, Rank root) {
  return std::ranges::find(group.ranks, root) != group.ranks.end() ? root : group.ranks.front();
}

void join(const Group& group, Rank root, std::vector<Rank>& parents) {
  const Rank top = leader(group, root);
  for (Rank rank : group.is_node() ? group.ranks : std::vector<Rank>{})
    if (rank != top) parents[static_cast<std::size_t>(rank)] = top;
  for (const Group& child : group.children) {
    const Rank below = leader(child, root);
    if (below != top) parents[static_cast<std::size_t>(below)] = top;
    join(child, root, parents);
  }
}

}  // namespace

RankTree::RankTree(std::vector<Rank> parents, const std::vector<Rank>& order)
    : parents_(std::move(parents)), children_(parents_.size()), sizes_(parents_.size(), 0) {
  for (Rank rank : order) {
    if (parent(rank) < 0)
      root_ = rank;
    else
      children_[static_cast<std::size_t>(parent(rank))].push_back(rank);
    for (Rank above = rank; above >= 0; above = parent(above)) ++sizes_[static_cast<std::size_t>(above)];
  }
}

std::vector<Rank> RankTree::subtree(Rank rank) const {
  std::vector<Rank> ranks{rank};
  for (Rank child : children(rank)) {
    const std::vector<Rank> below = subtree(child);
    ranks.insert(ranks.end(), below.begin(), below.end());
  }
  return ranks;
}

int RankTree::largest() const {
  int most = 0;
  for (Rank child : children(root_)) most = std::max(most, size(child));
  return most;
}

int RankTree::height() const {
  int most = 0;
  for (Rank rank = 0; rank < static_cast<Rank>(parents_.size()); ++rank) {
    int hops = 0;
    for (Rank above = parent(rank); above >= 0; above = parent(above)) ++hops;
    most = std::max(most, hops);
  }
  return most;
}

RankTree binomial_tree(const Shape& shape, Rank root) {
  std::vector<Rank> order = ranks_in_order(shape);
  std::ranges::rotate(order, std::ranges::find(order, root));
  std::vector<Rank> parents(order.size(), -1);
  for (std::size_t at = 1; at < order.size(); ++at)
    parents[static_cast<std::size_t>(order[at])] = order[at & (at - 1)];  // without its lowest set bit
  return {std::move(parents), order};
}

RankTree group_tree(const Shape& shape, Rank root) {
  std::vector<Rank> parents(static_cast<std::size_t>(shape.ranks()), -1);
  join(shape.root(), root, parents);
  return {std::move(parents), ranks_in_order(shape)};
}

}  // namespace umbel::algos
