// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/planner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/error.hpp"

namespace umbel::runtime {
namespace {

using testing::HasSubstr;

PlannerInputs inputs(Rank rank, const Shape& shape) {
  return {.rank = rank, .shape = shape, .layout = {.semaphores = 1024, .slot_bytes = 1U << 20U}, .direct = true};
}

PlanKey fp32(std::uint64_t count) { return {.count = count, .elem_bytes = 4}; }

PlanKey forced(PlanKey key, std::string_view name) {
  key.algorithm = static_cast<std::int32_t>(algos::find(Collective::all_reduce, name) -
                                            algos::catalog(Collective::all_reduce).data());
  return key;
}

Shape two_nodes() { return Shape::from_nodes(std::vector<int>{0, 0, 0, 1, 1}); }

std::string refusal(PlannerInputs in, const PlanKey& key) { return Planner(std::move(in)).refuses(key); }

TEST(Planner, EveryRankComesToTheSamePlan) {
  const std::vector<std::vector<int>> racks{{0, 0}, {1, 0}, {1, 1}, {1, 2}, {1, 2}};
  for (const Shape& shape : {Shape::one_node(4), two_nodes(), Shape::from_paths(racks)}) {
    for (std::uint64_t count : {0U, 1U, 1000U, 100'000U, 10'000'000U}) {
      Planner first(inputs(0, shape));
      const Plan plan = first.plan(fp32(count));
      for (Rank rank = 1; rank < shape.ranks(); ++rank) {
        Planner other(inputs(rank, shape));
        const Plan& theirs = other.plan(fp32(count));
        EXPECT_EQ(theirs.built->algorithm, plan.built->algorithm);
        EXPECT_EQ(theirs.built->spec, plan.built->spec);
        EXPECT_EQ(theirs.hash, plan.hash);
        EXPECT_EQ(theirs.binding.chunk, plan.binding.chunk);
        EXPECT_EQ(theirs.binding.piece, plan.binding.piece);
        EXPECT_EQ(theirs.binding.window_bytes, plan.binding.window_bytes);
        EXPECT_EQ(theirs.built->program.rank, rank);
      }
    }
  }
}

TEST(Planner, EveryRankOfUnevenNodesRefusesWhatOneRankCannotHold) {
  const Shape uneven = Shape::from_nodes(std::vector<int>{0, 0, 0, 0, 0, 0, 0, 0, 1});
  for (const algos::Algorithm& algorithm : algos::catalog(Collective::all_reduce)) {
    PlanKey key = fp32(1'000'000);
    key.algorithm = static_cast<std::int32_t>(&algorithm - algos::catalog(Collective::all_reduce).data());
    for (std::size_t semaphores = 1; semaphores <= 1024; semaphores *= 2) {
      PlannerInputs in = inputs(0, uneven);
      in.channels = 4;
      in.layout.semaphores = semaphores;
      const std::string reason = refusal(in, key);
      for (in.rank = 1; in.rank < uneven.ranks(); ++in.rank)
        EXPECT_EQ(refusal(in, key), reason) << algorithm.name << ", " << semaphores << " semaphores";
    }
  }
}

TEST(Planner, ARefusedCallLeavesThePlansAlone) {
  Planner planner(inputs(0, two_nodes()));
  constexpr std::uint64_t kMany = 512;  // as many as are kept
  std::vector<const Plan*> plans;
  for (std::uint64_t count = 1; count <= kMany; ++count) plans.push_back(&planner.plan(fp32(count)));
  PlanKey refused = fp32(1000);
  refused.algorithm = static_cast<std::int32_t>(algos::find(Collective::all_reduce, "one_shot") -
                                                algos::catalog(Collective::all_reduce).data());
  ASSERT_THROW(planner.plan(refused), Unsupported);
  for (std::uint64_t count = kMany; count >= 1; --count) EXPECT_EQ(&planner.plan(fp32(count)), plans[count - 1]);
}

TEST(Planner, CallsOfAboutTheSameSizeAreDoneAlike) {
  // So a program whose sizes never repeat seldom has the algorithms weighed. A doubling has eight classes.
  PlannerInputs in = inputs(0, two_nodes());
  in.layout.slot_bytes = 1U << 28U;  // no cut has to be made smaller
  std::set<std::uint64_t> hashes;
  for (std::uint64_t first = 1U << 12U; first <= 1U << 22U; first *= 2) {
    for (std::uint64_t k = 8; k < 16; ++k) {
      const std::uint64_t low = first / 8 * k, high = first / 8 * (k + 1) - 1;
      Planner one(in), other(in);  // whatever sizes each has met before
      const Plan small = one.plan(fp32(low)), large = other.plan(fp32(high));
      EXPECT_EQ(small.hash, large.hash) << low;
      EXPECT_NE(small.predicted_s, large.predicted_s) << "each is predicted for its own size";
      hashes.insert(small.hash);
    }
  }
  EXPECT_GT(hashes.size(), 1U) << "nothing to tell apart";
}

TEST(Planner, WhatFitsOnePieceIsNotCut) {
  // 70,000 elements are in the class that begins at exactly 256 KiB, a size of pieces that is tried.
  PlannerInputs in = inputs(0, Shape::from_nodes(std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
  in.layout.slot_bytes = 1U << 28U;
  EXPECT_EQ(Planner(in).plan(forced(fp32(70'000), "recursive_doubling")).binding.pieces, 1U);
}

TEST(Planner, NodeMatesMakeEquallyGoodRoots) {
  PlanKey key = fp32(100'000);
  key.collective = Collective::broadcast;
  Planner planner(inputs(0, two_nodes()));
  for (Rank root = 0; root < 5; ++root) {
    key.root = root;
    const Plan plan = planner.plan(key);
    EXPECT_EQ(plan.built->spec.root, root);
    key.root = root < 3 ? 0 : 3;
    EXPECT_EQ(plan.hash, planner.plan(key).hash);
  }
}

TEST(Planner, OfThoseThatAreAlikeTheFirstInTheCatalogIsTaken) {
  constexpr double kAlike = 1.02, kRounding = 1e-3;
  const Shape four_nodes = Shape::from_nodes(std::vector<int>{0, 0, 1, 1, 2, 2, 3, 3});
  int not_the_least = 0;
  for (std::uint64_t count = 1; count <= 1U << 24U; count = 2 * count + 1) {  // each the largest of its class
    Planner planner(inputs(0, four_nodes));
    PlanKey key = fp32(count);
    key.collective = Collective::broadcast;
    std::vector<Candidate> all = planner.candidates(key);
    std::erase_if(all, [](const Candidate& one) { return !one.refused.empty(); });
    double least = all.front().predicted_s;
    for (const Candidate& one : all) least = std::min(least, one.predicted_s);
    EXPECT_LE(all.front().predicted_s, least * kAlike) << count;
    for (const Candidate& one : all)
      if (one.predicted_s < least * (kAlike - kRounding)) EXPECT_LE(all.front().algorithm, one.algorithm) << count;
    if (all.front().predicted_s > least) ++not_the_least;
  }
  EXPECT_GT(not_the_least, 0) << "the rule was never needed";
}

TEST(Planner, PlansFitTheWindow) {
  for (const algos::Algorithm& algorithm : algos::catalog(Collective::all_reduce)) {
    PlanKey key = fp32(100'000'000);
    key.algorithm = static_cast<std::int32_t>(&algorithm - algos::catalog(Collective::all_reduce).data());
    PlannerInputs in = inputs(0, Shape::one_node(8));
    in.direct = false;
    Planner planner(in);
    if (!planner.refuses(key).empty()) continue;
    EXPECT_LE(planner.plan(key).binding.window_bytes, in.layout.slot_bytes) << algorithm.name;
  }
}

TEST(Planner, AForcedAlgorithmIsTheOneOrNone) {
  for (const algos::Algorithm& algorithm : algos::catalog(Collective::all_reduce)) {
    PlanKey key = fp32(1000);
    key.algorithm = static_cast<std::int32_t>(&algorithm - algos::catalog(Collective::all_reduce).data());
    Planner planner(inputs(1, two_nodes()));
    const std::string reason = planner.refuses(key);
    if (reason.empty()) {
      EXPECT_EQ(planner.plan(key).built->algorithm, &algorithm);
    } else {
      EXPECT_THROW(planner.plan(key), Unsupported) << algorithm.name;
    }
  }
}

TEST(Planner, SaysWhyNot) {
  PlannerInputs in = inputs(0, Shape::one_node(4));
  in.layout.slot_bytes = 64;
  in.direct = false;
  EXPECT_THAT(refusal(in, fp32(1'000'000)), HasSubstr("UMBEL_WINDOW_BYTES"));
  in.layout = {.semaphores = 1, .slot_bytes = 1U << 20U};
  EXPECT_THAT(refusal(in, fp32(1'000'000)), HasSubstr("semaphores"));
}

TEST(Planner, InOrderTakesOnlyTheCanonicalOrder) {
  const auto in_order = [](std::uint64_t count) {
    PlanKey key = fp32(count);
    key.in_order = true;
    return key;
  };
  for (const int ranks : {2, 3, 4, 5, 8}) {
    std::vector<int> cyclic;
    for (Rank rank = 0; rank < ranks; ++rank) cyclic.push_back(rank % 2);
    for (const Shape& shape : {Shape::one_node(ranks), Shape::from_nodes(cyclic)}) {
      const PlannerInputs in = inputs(0, shape);
      for (const std::uint64_t count : {1U, 1000U, 1'000'000U})
        EXPECT_TRUE(Planner(in).plan(in_order(count)).built->algorithm->canonical(shape, {.ordered = true}))
            << ranks << " ranks, " << count;
      for (const algos::Algorithm& algorithm : algos::catalog(Collective::all_reduce)) {
        if (!algorithm.refuses(shape, {}).empty()) continue;
        const std::string reason = refusal(in, forced(in_order(1000), algorithm.name));
        if (algorithm.canonical(shape, {.ordered = true}))
          EXPECT_EQ(reason, "") << algorithm.name;
        else
          EXPECT_THAT(reason, HasSubstr(std::string(algorithm.name) + " does not fold in the canonical order"));
      }
    }
  }
}

TEST(Planner, KnowsWhatRounds) {
  for (const DType dtype : all_dtypes()) {
    const bool integer = dtype <= DType::uint64 || dtype >= DType::int32_int32;  // pairs with integers too
    for (const RedOp op : all_redops()) {
      if (!serves(op, dtype)) continue;
      const bool rounds = folds_in_fp32(dtype) && op != RedOp::min && op != RedOp::max;
      EXPECT_EQ(arithmetic_of(dtype, op), integer  ? Arithmetic::exact
                                          : rounds ? Arithmetic::widened
                                                   : Arithmetic::ordered)
          << name_of(dtype) << ' ' << name_of(op);
    }
  }
}

TEST(Planner, MorePiecesThanALoopCountsAreRefused) {
  const algos::Algorithm* ring = algos::find(Collective::all_reduce, "ring");
  ASSERT_NE(ring, nullptr);
  PlannerInputs in = inputs(0, Shape::one_node(2));
  in.chunk_bytes = in.piece_bytes = 1;
  PlanKey key{.count = std::uint64_t{1} << 40U, .elem_bytes = 1};
  key.algorithm = static_cast<std::int32_t>(ring - algos::catalog(Collective::all_reduce).data());
  EXPECT_THAT(refusal(in, key), HasSubstr("more than a loop counts"));
}

TEST(Planner, ConfiguredCutsAreKept) {
  PlannerInputs in = inputs(0, two_nodes());
  in.chunk_bytes = 8192;
  const algos::Algorithm* ring = algos::find(Collective::all_reduce, "ring");
  ASSERT_NE(ring, nullptr);
  PlanKey key = fp32(1'000'000);
  key.algorithm = static_cast<std::int32_t>(ring - algos::catalog(Collective::all_reduce).data());
  Planner planner(in);
  EXPECT_EQ(planner.plan(key).binding.chunk, 8192U / 4);
}

TEST(Planner, PredictionsGrowWithTheSize) {
  Planner planner(inputs(0, two_nodes()));
  double last = 0;
  for (std::uint64_t count : {1U, 10'000U, 1'000'000U, 100'000'000U}) {
    const double predicted = planner.plan(fp32(count)).predicted_s;
    EXPECT_GT(predicted, last);
    last = predicted;
  }
}

}  // namespace
}  // namespace umbel::runtime
