// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Trees over all ranks in which the shares of a subtree travel together: what gather and scatter move along.
#pragma once

#include <vector>

#include "algos/lanes/tree.hpp"

namespace umbel::algos {

class RankTree {
 public:
  explicit RankTree(Tree tree);

  Rank root() const { return tree_.root; }
  Rank parent(Rank rank) const { return tree_.above(rank); }
  std::span<const Rank> children(Rank rank) const { return tree_.below(rank); }
  /// Ranks in its subtree, itself included.
  int size(Rank rank) const { return sizes_[static_cast<std::size_t>(rank)]; }
  bool leaf(Rank rank) const { return size(rank) == 1; }
  /// The rank, then the subtrees of its children one after another: the order of shares that travel together.
  std::vector<Rank> subtree(Rank rank) const;
  /// The largest subtree below the root.
  int largest() const;
  /// Hops from the root to the rank farthest away.
  int height() const { return depth_of(tree_); }

 private:
  Tree tree_;
  std::vector<int> sizes_;
};

/// A binomial tree over the ranks node by node, beginning with the root's node: subtrees are runs of neighbours.
RankTree binomial_tree(const Shape& shape, Rank root);

/// Every group's ranks are below its leader, the lowest rank, or the root in its groups: leaders of nodes are below the
/// leaders of their groups, on any number of levels, and so one message crosses a group's border.
RankTree group_tree(const Shape& shape, Rank root);

}  // namespace umbel::algos
