// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/all_reduce/groups.hpp"

#include <set>

#include <gtest/gtest.h>

#include "algos/check/prove.hpp"

namespace umbel::algos::all_reduce {
namespace {

Shape racks(const std::vector<std::vector<int>>& paths) { return Shape::from_paths(paths); }

TEST(Groups, WithoutRacksNodesAreTheTops) {
  const Groups groups(Shape::from_nodes(std::vector<int>{0, 1, 0, 1, 2}));
  EXPECT_EQ(groups.levels(), 0);
  EXPECT_EQ(groups.count(), 3);
  EXPECT_EQ(groups.paths(), 1);
  EXPECT_EQ(groups.shards(), 1);
}

TEST(Groups, EveryRankOfASmallRackOwnsSeveralParts) {
  // One node beside three.
  const Groups groups(racks({{0, 0}, {1, 0}, {1, 1}, {1, 2}}));
  ASSERT_EQ(groups.levels(), 1);
  EXPECT_EQ(groups.parts(1), 3);
  EXPECT_EQ(groups.most_owned(), 3);
  std::set<Rank> owners;
  for (int path = 0; path < 3; ++path) {
    EXPECT_EQ(groups.owner(groups.tops()[0], 1, path, 0), 0);
    owners.insert(groups.owner(groups.tops()[1], 1, path, 0));
  }
  EXPECT_EQ(owners, (std::set<Rank>{1, 2, 3}));
  EXPECT_DOUBLE_EQ(groups.largest_share(), 1);
}

TEST(Groups, SomeOfAMuchLargerRackOwnNothing) {
  std::vector<std::vector<int>> paths{{0, 0}};
  for (int node = 0; node < 9; ++node) paths.push_back({1, node});
  const Groups groups(racks(paths));
  EXPECT_EQ(groups.parts(1), 4);
  std::set<Rank> owners;
  for (int path = 0; path < 4; ++path) owners.insert(groups.owner(groups.tops()[1], 1, path, 0));
  EXPECT_EQ(owners, (std::set<Rank>{1, 2, 3, 4}));
}

TEST(Groups, PlacesAndOwnersAgreeOnAllShapes) {
  for (int ranks = 2; ranks <= 24; ++ranks) {
    for (const auto& [name, shape] : check::shapes_of(ranks)) {
      if (shape.nodes() < 2) continue;
      const Groups groups(shape);
      for (Rank rank = 0; rank < ranks; ++rank) {
        const Groups::Place place = groups.place_of(rank);
        ASSERT_EQ(place.tiers.size(), static_cast<std::size_t>(groups.levels()) + 1);
        EXPECT_EQ(place.tiers.front()->ranks.size(), shape.peers_of(rank).size()) << name;
        EXPECT_EQ(place.tiers.back(), &groups.tops()[static_cast<std::size_t>(place.top())]) << name;
      }
      for (const Tier& top : groups.tops()) {
        for (int shard = 0; shard < groups.shards(); ++shard)
          for (int path = 0; path < groups.paths(); ++path) {
            const Rank owner = groups.owner(top, groups.levels(), path, shard);
            EXPECT_EQ(shape.local_index(owner), shard) << name;
            EXPECT_TRUE(std::ranges::count(top.ranks, owner) == 1) << name;
          }
      }
    }
  }
}

}  // namespace
}  // namespace umbel::algos::all_reduce
