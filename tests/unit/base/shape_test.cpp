// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "base/shape.hpp"

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace umbel {
namespace {

std::vector<Rank> to_vector(std::span<const Rank> ranks) { return {ranks.begin(), ranks.end()}; }

/// What holds for every shape.
void expect_consistent(const Shape& shape) {
  std::vector<Rank> seen;
  Rank lowest_so_far = -1;
  std::size_t smallest = static_cast<std::size_t>(shape.ranks()), largest = 0;
  for (int node = 0; node < shape.nodes(); ++node) {
    const auto ranks = to_vector(shape.node_ranks(node));
    ASSERT_FALSE(ranks.empty());
    EXPECT_TRUE(std::ranges::is_sorted(ranks));
    EXPECT_GT(ranks.front(), lowest_so_far) << "nodes are ordered by their lowest rank";
    lowest_so_far = ranks.front();
    smallest = std::min(smallest, ranks.size());
    largest = std::max(largest, ranks.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      EXPECT_EQ(shape.node_of(ranks[i]), node);
      EXPECT_EQ(shape.local_index(ranks[i]), static_cast<int>(i));
      EXPECT_EQ(to_vector(shape.peers_of(ranks[i])), ranks);
      seen.push_back(ranks[i]);
    }
  }
  std::ranges::sort(seen);
  ASSERT_EQ(seen.size(), static_cast<std::size_t>(shape.ranks()));
  for (std::size_t r = 0; r < seen.size(); ++r) EXPECT_EQ(seen[r], static_cast<Rank>(r));
  EXPECT_EQ(static_cast<std::size_t>(shape.smallest_node()), smallest);
  EXPECT_EQ(static_cast<std::size_t>(shape.largest_node()), largest);
}

/// Children partition a group, ascend by lowest rank, and the leaves are the shape's nodes.
void collect_leaves(const Group& group, std::vector<std::vector<Rank>>& leaves) {
  EXPECT_TRUE(std::ranges::is_sorted(group.ranks));
  if (group.is_node()) {
    leaves.push_back(group.ranks);
    return;
  }
  EXPECT_GT(group.children.size(), 1U) << "a level with one part adds nothing";
  std::vector<Rank> all;
  Rank lowest = -1;
  for (const Group& child : group.children) {
    EXPECT_GT(child.ranks.front(), lowest);
    lowest = child.ranks.front();
    all.insert(all.end(), child.ranks.begin(), child.ranks.end());
    collect_leaves(child, leaves);
  }
  std::ranges::sort(all);
  EXPECT_EQ(all, group.ranks);
}

TEST(Shape, OneNodeHoldsAllRanks) {
  const Shape shape = Shape::one_node(5);
  expect_consistent(shape);
  EXPECT_EQ(shape.nodes(), 1);
  EXPECT_EQ(shape.levels(), 1);
  EXPECT_TRUE(shape.root().is_node());
}

TEST(Shape, AnyNodeNumbersInAnyOrder) {
  const Shape shape = Shape::from_nodes(std::vector{7, -3, 7, 100, -3});
  expect_consistent(shape);
  EXPECT_EQ(shape.nodes(), 3);
  EXPECT_EQ(to_vector(shape.node_ranks(0)), (std::vector<Rank>{0, 2}));
  EXPECT_EQ(to_vector(shape.node_ranks(1)), (std::vector<Rank>{1, 4}));
  EXPECT_EQ(to_vector(shape.node_ranks(2)), (std::vector<Rank>{3}));
}

TEST(Shape, ThreeLevelsNestAndTheSameNumberInTwoRacksIsTwoNodes) {
  const Shape shape = Shape::from_paths(std::vector<std::vector<int>>{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 0}});
  expect_consistent(shape);
  EXPECT_EQ(shape.nodes(), 4);
  EXPECT_EQ(shape.levels(), 2);
  ASSERT_EQ(shape.root().children.size(), 2U);
  EXPECT_EQ(shape.root().children[0].ranks, (std::vector<Rank>{0, 1, 4}));
}

TEST(Shape, RandomPlacementsAreConsistentTrees) {
  std::mt19937 random(20260117);
  for (int round = 0; round < 200; ++round) {
    const int ranks = 1 + static_cast<int>(random() % 40);
    const std::size_t levels = 1 + random() % 3;
    std::vector<std::vector<int>> paths(static_cast<std::size_t>(ranks));
    for (auto& path : paths)
      for (std::size_t l = 0; l < levels; ++l) path.push_back(static_cast<int>(random() % 3));
    const Shape shape = Shape::from_paths(paths);
    expect_consistent(shape);
    std::vector<std::vector<Rank>> leaves;
    collect_leaves(shape.root(), leaves);
    std::ranges::sort(leaves);
    std::vector<std::vector<Rank>> nodes;
    for (int n = 0; n < shape.nodes(); ++n) nodes.push_back(to_vector(shape.node_ranks(n)));
    EXPECT_EQ(leaves, nodes);
    EXPECT_EQ(static_cast<std::size_t>(shape.nodes()), std::set(paths.begin(), paths.end()).size());
  }
}

TEST(Shape, TheHashSeesStructureNotNumbers) {
  const auto hash = [](std::vector<int> nodes) { return Shape::from_nodes(nodes).hash(); };
  EXPECT_EQ(hash({0, 0, 1, 1}), hash({9, 9, 4, 4}));
  const std::set<std::uint64_t> different{hash({0, 0, 1, 1}), hash({0, 1, 0, 1}), hash({0, 1, 1, 0}),
                                          hash({0, 0, 0, 0}), hash({0, 1, 2, 3}), hash({0, 0, 1}),
                                          hash({0, 0, 0, 1})};
  EXPECT_EQ(different.size(), 7U);
}

TEST(Shape, WhatIsNoPlacementIsRefused) {
  EXPECT_THROW(Shape::from_nodes({}), InvalidArgument);
  EXPECT_THROW(Shape::from_paths(std::vector<std::vector<int>>{{0}, {0, 1}}), InvalidArgument);
  EXPECT_THROW(Shape::from_paths(std::vector<std::vector<int>>{{}}), InvalidArgument);
}

}  // namespace
}  // namespace umbel
