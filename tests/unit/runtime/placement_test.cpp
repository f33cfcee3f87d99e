// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/placement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace umbel::runtime {
namespace {

using testing::ElementsAre;
using Path = std::vector<int>;

std::string refusal(std::string_view text, int ranks) {
  try {
    parse_placement(text, ranks);
    return "";
  } catch (const InvalidArgument& error) {
    return error.what();
  }
}

Reach all_reach(int ranks) {
  return {.ranks = ranks, .bits = std::vector<std::uint8_t>(static_cast<std::size_t>(ranks * ranks), 1)};
}

void cut(Reach& reach, Rank a, Rank b) { reach.bits[static_cast<std::size_t>(a * reach.ranks + b)] = 0; }

TEST(Placement, ANumberMakesContiguousBlocksLargerFirst) {
  EXPECT_THAT(parse_placement("2", 5), ElementsAre(Path{0}, Path{0}, Path{0}, Path{1}, Path{1}));
  EXPECT_THAT(parse_placement("3", 4), ElementsAre(Path{0}, Path{0}, Path{1}, Path{2}));
  EXPECT_THAT(parse_placement(" 1 ", 2), ElementsAre(Path{0}, Path{0}));
}

TEST(Placement, AListHasOneEntryPerRank) {
  EXPECT_THAT(parse_placement("0,1,0", 3), ElementsAre(Path{0}, Path{1}, Path{0}));
  EXPECT_THAT(parse_placement("0/0,0/1,1/0,1/1", 4), ElementsAre(Path{0, 0}, Path{0, 1}, Path{1, 0}, Path{1, 1}));
  EXPECT_THAT(parse_placement("3/1", 1), ElementsAre(Path{3, 1}));
}

TEST(Placement, WhatDoesNotFitIsNamed) {
  using testing::HasSubstr;
  EXPECT_THAT(refusal("5", 4), HasSubstr("more nodes than the 4 ranks"));
  EXPECT_THAT(refusal("0", 4), HasSubstr("number of nodes"));
  EXPECT_THAT(refusal("-1", 4), HasSubstr("number of nodes"));
  EXPECT_THAT(refusal("two", 4), HasSubstr("number of nodes"));
  EXPECT_THAT(refusal("0,0,1", 4), HasSubstr("3 entries for 4 ranks"));
  EXPECT_THAT(refusal("0,x", 2), HasSubstr("entry 1 \"x\""));
  EXPECT_THAT(refusal("0,", 2), HasSubstr("entry 1 \"\""));
  EXPECT_THAT(refusal("0/0,1", 2), HasSubstr("entry 1 \"1\" has 1 levels"));
}

TEST(Placement, OfAShapeGivesTheShapeBack) {
  for (const char* text : {"2", "0,1,0,1", "0/0,0/1,1/0,1/1", "1/1,0/0,0/1,1/0", "0/0/0,0/0/0,0/1/0,1/0/0"}) {
    const Shape shape = Shape::from_paths(parse_placement(text, 4));
    EXPECT_EQ(Shape::from_paths(parse_placement(placement_text(shape), 4)), shape) << text;
  }
  EXPECT_EQ(placement_text(Shape::from_paths(parse_placement("0,1,0", 3))), "0,1,0");
  EXPECT_EQ(Shape::from_paths(parse_placement(placement_text(Shape::one_node(1)), 1)), Shape::one_node(1));
}

TEST(Nodes, AreRanksThatReachEachOtherPairwise) {
  Reach reach = all_reach(4);
  for (Rank a : {0, 2})
    for (Rank b : {1, 3}) {
      cut(reach, a, b);
      cut(reach, b, a);
    }
  const Shape shape = shape_from_reach(reach);
  EXPECT_EQ(shape.nodes(), 2);
  EXPECT_TRUE(shape.same_node(0, 2));
  EXPECT_TRUE(shape.same_node(1, 3));
}

TEST(Nodes, OneDirectionIsNotEnough) {
  Reach reach = all_reach(3);
  cut(reach, 2, 1);  // rank 2 cannot read rank 1: it joins no group with rank 1 in it
  const Shape shape = shape_from_reach(reach);
  EXPECT_EQ(shape.nodes(), 2);
  EXPECT_TRUE(shape.same_node(0, 1));
  EXPECT_EQ(shape.node_of(2), 1);
}

TEST(Nodes, APlacementOfRanksThatCannotMapEachOtherIsAnError) {
  Reach reach = all_reach(3);
  cut(reach, 0, 2);
  EXPECT_NO_THROW(shape_from_placement("0,0,1", reach));
  EXPECT_THROW(shape_from_placement("0,1,0", reach), InvalidArgument);
}

}  // namespace
}  // namespace umbel::runtime
