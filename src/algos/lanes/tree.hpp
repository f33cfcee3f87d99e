// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Shapes of trees: who stands where. What goes up and down them is the collectives' matter.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "algos/algorithm.hpp"
#include "base/shape.hpp"

namespace umbel::algos {

/// A member's place in a tree over members 0 … m−1.
struct TreePlace {
  struct Child {
    int member = 0;
    int lowest = 0;  ///< lowest member of its subtree
  };
  int parent = -1;
  std::vector<Child> children;
};

/// Binomial tree with root 0: a member's parent is itself without its lowest set bit.
TreePlace binomial_place(int member, int members);

/// One of two binary trees in which (but for one member) every inner member of one is a leaf of the other.
/// Tree 0 is an in-order tree; tree 1 is its mirror image, or, for an odd number of members, is shifted by one.
TreePlace double_tree_place(int tree, int member, int members);

/// A tree over all ranks.
struct Tree {
  Rank root = 0;
  std::vector<Rank> parent;                 ///< by rank; −1: none
  std::vector<std::vector<Rank>> children;  ///< by rank, in the order in which they are served

  Tree(Rank top, int ranks);
  void hang(Rank child, Rank under);
  /// Serves the children in the opposite order from now on.
  void turn_around();

  std::span<const Rank> below(Rank rank) const { return children[static_cast<std::size_t>(rank)]; }
  Rank above(Rank rank) const { return parent[static_cast<std::size_t>(rank)]; }
};

/// Hangs members 1 … of a list under others of it, in this order: near and small subtrees first.
/// @param parent_of  the parent's index, below the member's own
void hang_all(Tree& tree, std::span<const Rank> members, int (*parent_of)(int member));
int binomial_parent(int member);
/// Radix 4: a member's parent is itself without its lowest digit that is not zero.
int quadnomial_parent(int member);
int chain_parent(int member);

/// Hangs bridges, one a node, under the root: on every level of groups the bridges of a group's members form a tree.
/// Members in the root's groups are bridged by the root, others by the rank `shard` of their first node.
/// @return all bridges, by node number
std::vector<Rank> hang_groups(Tree& tree, const Shape& shape, int shard, int (*parent_of)(int member));

/// Hangs whoever is not in the tree yet under the bridge of its node.
void hang_mates(Tree& tree, const Shape& shape, std::span<const Rank> bridges);

/// Two complementary trees over all members but the first, which is the root of both, in front of them.
std::vector<Tree> double_trees(Rank root, const std::vector<Rank>& members);

/// Edges on the longest way down.
int depth_of(const Tree& tree);
/// What leaves the busiest rank when each tree carries an equal part of n down, ÷ n.
double sent_down(std::span<const Tree> trees);

}  // namespace umbel::algos
