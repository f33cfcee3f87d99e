// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Every algorithm of the catalog is proved; prints what that took.
#include <algorithm>
#include <cstdio>
#include <set>

#include <gtest/gtest.h>

#include "algos/check/campaign.hpp"

namespace umbel::algos::check {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
const CampaignOptions kOptions{
    .thoroughness = Thoroughness::quick, .max_ranks = 4, .collective = {}, .algorithm = {}, .mutants = false};
#elif defined(UMBEL_TEST_FULL)
const CampaignOptions kOptions{
    .thoroughness = Thoroughness::full, .max_ranks = 64, .collective = {}, .algorithm = {}, .mutants = false};
#define UMBEL_PROOF_LINE "covered: "  // scripts/lib/test_report.py repeats it
#else
const CampaignOptions kOptions{
    .thoroughness = Thoroughness::standard, .max_ranks = 64, .collective = {}, .algorithm = {}, .mutants = false};
#endif

#ifndef UMBEL_PROOF_LINE
#define UMBEL_PROOF_LINE ""
#endif

/// Whether the algorithm serves any placement of so many ranks.
bool serves(const Algorithm& algorithm, int ranks) {
  return std::ranges::any_of(shapes_of(ranks),
                             [&](const NamedShape& named) { return algorithm.refuses(named.shape, Spec{}).empty(); });
}

class AlgorithmProof : public ::testing::TestWithParam<const Algorithm*> {};

TEST_P(AlgorithmProof, HoldsForEveryNumberOfRanks) {
  CampaignOptions options = kOptions;
  options.collective = GetParam()->collective;
  options.algorithm = GetParam()->name;
  Proof proof;
  std::set<int> ranks;
  for (const Task& task : tasks_of(algos::catalog(), options)) {
    const Proof one = perform(task).proof;
    EXPECT_FALSE(one.finding) << one.finding->text;
    proof.add(one);
    ranks.insert(task.shape.ranks());
  }
  for (int n = 1; n <= options.max_ranks; ++n) EXPECT_EQ(ranks.contains(n), serves(*GetParam(), n)) << n << " ranks";
  std::printf(UMBEL_PROOF_LINE "%s: proved %llu programs in %llu runs, %llu instructions, %llu element results%s\n",
              full_name(*GetParam()).c_str(), static_cast<unsigned long long>(proof.programs),
              static_cast<unsigned long long>(proof.runs), static_cast<unsigned long long>(proof.instructions),
              static_cast<unsigned long long>(proof.elements), proof.canonical ? ", always the canonical tree" : "");
}

std::vector<const Algorithm*> every() {
  std::vector<const Algorithm*> all;
  for (const Algorithm& algorithm : algos::catalog()) all.push_back(&algorithm);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Catalog, AlgorithmProof, ::testing::ValuesIn(every()), [](const auto& test) {
  return std::string(name_of(test.param->collective)) + "_" + std::string(test.param->name);
});

}  // namespace
}  // namespace umbel::algos::check
