// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/lanes/rank_tree.hpp"

#include <algorithm>
#include <utility>

#include "algos/order.hpp"

namespace umbel::algos {

RankTree::RankTree(Tree tree) : tree_(std::move(tree)), sizes_(tree_.parent.size(), 0) {
  for (Rank rank = 0; rank < static_cast<Rank>(sizes_.size()); ++rank)
    for (Rank above = rank; above >= 0; above = parent(above)) ++sizes_[static_cast<std::size_t>(above)];
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
  for (Rank child : children(root())) most = std::max(most, size(child));
  return most;
}

RankTree binomial_tree(const Shape& shape, Rank root) {
  Tree tree(root, shape.ranks());
  hang_all(tree, ranks_from(shape, root), binomial_parent);
  return RankTree(std::move(tree));
}

RankTree group_tree(const Shape& shape, Rank root) {
  Tree tree(root, shape.ranks());
  hang_mates(tree, shape, hang_groups(tree, shape, 0, [](int) { return 0; }));
  return RankTree(std::move(tree));
}

}  // namespace umbel::algos
