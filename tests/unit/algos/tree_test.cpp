// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// What the proofs of broadcast and reduce do not show: that trees hold every rank once, and how often they cross the
// borders of groups.
#include <algorithm>

#include <gtest/gtest.h>

#include "algos/check/prove.hpp"
#include "algos/lanes/tree.hpp"
#include "algos/order.hpp"

namespace umbel::algos {
namespace {

constexpr int kRanks[] = {1, 2, 3, 5, 8, 13, 24};

/// Whether every rank but the root has a parent, and is among the parent's children, once.
bool holds_all(const Tree& tree) {
  std::vector<Rank> seen{tree.root};
  for (std::size_t at = 0; at < seen.size(); ++at)
    for (Rank child : tree.below(seen[at])) {
      if (tree.above(child) != seen[at]) return false;
      seen.push_back(child);
    }
  std::ranges::sort(seen);
  return std::ranges::adjacent_find(seen) == seen.end() && seen.size() == tree.parent.size();
}

/// Edges that lead into `group` from outside.
int entries(const Tree& tree, const Group& group) {
  const auto inside = [&](Rank rank) { return std::ranges::binary_search(group.ranks, rank); };
  return static_cast<int>(std::ranges::count_if(
      group.ranks, [&](Rank rank) { return tree.above(rank) >= 0 && !inside(tree.above(rank)); }));
}

void expect_single_entries(const Tree& tree, const Group& group, const std::string& where) {
  const bool has_root = std::ranges::binary_search(group.ranks, tree.root);
  EXPECT_EQ(entries(tree, group), has_root ? 0 : 1) << where;
  for (const Group& child : group.children) expect_single_entries(tree, child, where);
}

template <class Check>
void for_each_case(Check&& check) {
  for (const int ranks : kRanks)
    for (const check::NamedShape& named : check::shapes_of(ranks))
      for (Rank root = 0; root < ranks; ++root) check(named.shape, root, named.name + ", root " + std::to_string(root));
}

TEST(Trees, OfGroupsCrossEachBorderOnce) {
  for_each_case([](const Shape& shape, Rank root, const std::string& where) {
    Tree tree(root, shape.ranks());
    hang_mates(tree, shape, hang_groups(tree, shape, 0, binomial_parent));
    EXPECT_TRUE(holds_all(tree)) << where;
    expect_single_entries(tree, shape.root(), where);
  });
}

TEST(Trees, OfOwnersHoldAllRanksAndCrossEachBorderOnce) {
  for_each_case([](const Shape& shape, Rank root, const std::string& where) {
    for (int shard = 0; shard < shape.smallest_node(); ++shard) {
      Tree tree(shape.peers_of(root)[static_cast<std::size_t>(shard)], shape.ranks());
      hang_mates(tree, shape, hang_groups(tree, shape, shard, binomial_parent));
      EXPECT_TRUE(holds_all(tree)) << where;
      expect_single_entries(tree, shape.root(), where);
    }
  });
}

TEST(Trees, FlatOnesHoldAllRanks) {
  for_each_case([](const Shape& shape, Rank root, const std::string& where) {
    const std::vector<Rank> order = ranks_from(shape, root);
    EXPECT_EQ(order.front(), root) << where;
    for (const auto parent_of : {binomial_parent, quadnomial_parent, chain_parent}) {
      Tree tree(root, shape.ranks());
      hang_all(tree, order, parent_of);
      EXPECT_TRUE(holds_all(tree)) << where;
    }
    for (const Tree& tree : double_trees(root, order)) EXPECT_TRUE(holds_all(tree)) << where;
  });
}

TEST(Trees, AChainFromTheRootEntersEachGroupOnce) {
  for_each_case([](const Shape& shape, Rank root, const std::string& where) {
    Tree tree(root, shape.ranks());
    hang_all(tree, ranks_from(shape, root), chain_parent);
    expect_single_entries(tree, shape.root(), where);
  });
}

TEST(Trees, RadixFour) {
  Tree tree(0, 22);
  hang_all(tree, ranks_ascending(Shape::one_node(22)), quadnomial_parent);
  EXPECT_EQ(std::vector<Rank>(tree.below(0).begin(), tree.below(0).end()), (std::vector<Rank>{1, 2, 3, 4, 8, 12, 16}));
  EXPECT_EQ(tree.above(21), 20);
  EXPECT_EQ(tree.above(20), 16);
  EXPECT_EQ(depth_of(tree), 3);
}

TEST(Trees, InnerMembersOfOneAreLeavesOfTheOther) {
  for (int members = 2; members <= 33; ++members) {
    const std::vector<Tree> trees = double_trees(0, ranks_ascending(Shape::one_node(members)));
    int inner_in_both = 0;
    for (Rank rank = 1; rank < members; ++rank)
      inner_in_both += !trees[0].below(rank).empty() && !trees[1].below(rank).empty() ? 1 : 0;
    EXPECT_LE(inner_in_both, 1) << members;
  }
}

}  // namespace
}  // namespace umbel::algos
