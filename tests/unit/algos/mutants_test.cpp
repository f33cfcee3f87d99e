// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The checker objects to broken algorithms: all mutants of the catalog at 2, 3, 5 and 8 ranks; prints killed/total.
#include <cstdio>

#include <gtest/gtest.h>

#include "algos/check/campaign.hpp"

namespace umbel::algos::check {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kMaxRanks = 2;
#else
constexpr int kMaxRanks = 8;
#endif

class AlgorithmMutants : public ::testing::TestWithParam<const Algorithm*> {};

TEST_P(AlgorithmMutants, AreKilledUnlessEquivalent) {
  const CampaignOptions options{.thoroughness = Thoroughness::standard,
                                .max_ranks = kMaxRanks,
                                .algorithm = std::string(GetParam()->name),
                                .proofs = false};
  MutationTally tally;
  for (const Task& task : tasks_of(all_reduce_catalog(), options)) tally.add(perform(task).mutants);
  for (const Survivor& survivor : tally.survivors)
    EXPECT_FALSE(survivor.justification.empty()) << "not noticed: " << survivor.text;
  EXPECT_GT(tally.total, 0U);
  // Of those that differ from the original, 99 of 100 are killed (here: all, or the loop above complains).
  EXPECT_GE(tally.killed * 100, (tally.total - tally.equivalent) * 99);
  std::printf("%s: killed %llu of %llu, %llu survive and are equivalent\n", GetParam()->name.data(),
              static_cast<unsigned long long>(tally.killed), static_cast<unsigned long long>(tally.total),
              static_cast<unsigned long long>(tally.equivalent));
}

std::vector<const Algorithm*> catalog() {
  std::vector<const Algorithm*> all;
  for (const Algorithm& algorithm : all_reduce_catalog()) all.push_back(&algorithm);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Catalog, AlgorithmMutants, ::testing::ValuesIn(catalog()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace umbel::algos::check
