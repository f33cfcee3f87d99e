// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The checker on shares of different lengths: algorithms that say wrongly that they serve them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

INSTANTIATE_TEST_SUITE_P(
    Of, UnequalShares,
    ::testing::Values(Claim{Collective::all_gather, "bruck", false}, Claim{Collective::all_to_all, "direct", true},
                      Claim{Collective::all_to_all, "pairwise", true}, Claim{Collective::scatter, "direct", true}),
    [](const auto& i) {
      return std::string(name_of(i.param.collective)) + "_" + i.param.algorithm + (i.param.direct ? "_direct" : "");
    });

}  // namespace
}  // namespace umbel::algos::check
