// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The checker on shares of different lengths: algorithms that say wrongly that they serve them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "algos/check/prove.hpp"

namespace umbel::algos::check {
namespace {

using ::testing::HasSubstr;

struct Claim {
  Collective collective;
  const char* algorithm;
  bool direct;
};

class UnequalShares : public ::testing::TestWithParam<Claim> {};

TEST_P(UnequalShares, OfAnAlgorithmThatDoesNotServeThemAreFound) {
  Algorithm claimed = *find(GetParam().collective, GetParam().algorithm);
  const Spec spec{.direct = GetParam().direct};
  ASSERT_FALSE(claimed.serves_unequal(spec));
  EXPECT_FALSE(prove(claimed, Shape::one_node(4), spec, Effort::quick).finding);
  claimed.unequal = Unequal::always;
  const Proof proof = prove(claimed, Shape::one_node(4), spec, Effort::quick);
  ASSERT_TRUE(proof.finding);
  EXPECT_THAT(proof.finding->text, HasSubstr("in shares of different lengths; operation 0: "));
}

/// Lengths are heard through shared memory: what a program says of another node's it cannot know.
TEST(Bundles, WithLengthsThatOnlyAnotherNodeKnowsAreFound) {
  const Shape shape = Shape::from_nodes(std::vector<int>{0, 0, 1, 1});
  std::vector<Program> programs = build_all(*find(Collective::gather, "hierarchical_bundles"), shape, {});
  const Setting setting{.shape = shape};
  ASSERT_FALSE(inspect(setting, programs));
  ASSERT_FALSE(programs[2].bundles.empty());
  programs[2].bundles[0].owner = 0;
  const auto finding = inspect(setting, programs);
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->fault, Fault::ownership);
  EXPECT_THAT(finding->text, HasSubstr("rank 2: a bundle with a length that only rank 0 outside the node knows"));
}

/// Two lengths that are swapped: the bundle is as long as it should be, and cut in the wrong place.
TEST(Bundles, InAnotherOrderThanTheReceiversAreFound) {
  const Shape shape = Shape::from_nodes(std::vector<int>{0, 0, 1, 1});
  std::vector<Program> programs = build_all(*find(Collective::gather, "hierarchical_bundles"), shape, {});
  const std::vector<std::uint64_t> shares{3, 3, 5, 2};
  const Operation right{.programs = programs, .count = 4, .chunk = 4, .shares = shares};
  ASSERT_FALSE(run({.shape = shape}, std::span(&right, 1)).finding);
  std::swap(programs[0].bundles[0], programs[0].bundles[1]);
  for (Slice& slice : programs[0].slices)
    if (slice.bundle >= 0 && slice.buffer == Buffer::output) slice.block.base = slice.item == 0 ? 3 : 2;
  const Operation wrong{.programs = programs, .count = 4, .chunk = 4, .shares = shares};
  const auto finding = run({.shape = shape}, std::span(&wrong, 1)).finding;
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->fault, Fault::result);
}

INSTANTIATE_TEST_SUITE_P(
    Of, UnequalShares,
    ::testing::Values(Claim{Collective::all_gather, "bruck", false}, Claim{Collective::all_to_all, "direct", true},
                      Claim{Collective::all_to_all, "pairwise", true}, Claim{Collective::scatter, "direct", true}),
    [](const auto& i) {
      return std::string(name_of(i.param.collective)) + "_" + i.param.algorithm + (i.param.direct ? "_direct" : "");
    });

}  // namespace
}  // namespace umbel::algos::check
