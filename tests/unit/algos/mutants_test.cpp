// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The checker objects to broken algorithms: all mutants of the catalog at 2, 3 and 5 ranks, in the long test at 8
// too; prints killed/total.
#include <cstdio>

#include <gtest/gtest.h>

#include "algos/check/campaign.hpp"

namespace umbel::algos::check {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kMaxRanks = 2;
#elif defined(UMBEL_TEST_FULL)
constexpr int kMaxRanks = 8;
#define UMBEL_MUTANTS_LINE "covered: "  // scripts/lib/test_report.py repeats it
#else
constexpr int kMaxRanks = 5;
#endif

#ifndef UMBEL_MUTANTS_LINE
#define UMBEL_MUTANTS_LINE ""
#endif

std::vector<const Algorithm*> every() {
  std::vector<const Algorithm*> all;
  for (const Algorithm& algorithm : algos::catalog()) all.push_back(&algorithm);
  return all;
}

MutationTally tally_of(const Algorithm& algorithm) {
  const CampaignOptions options{.thoroughness = Thoroughness::standard,
                                .max_ranks = kMaxRanks,
                                .collective = algorithm.collective,
                                .algorithm = std::string(algorithm.name),
                                .proofs = false};
  MutationTally tally;
  for (const Task& task : tasks_of(algos::catalog(), options)) tally.add(perform(task).mutants);
  return tally;
}

void print(const char* name, const MutationTally& tally) {
  std::printf(UMBEL_MUTANTS_LINE "%-34s killed %6llu of %6llu (%.2f%%), %llu survive and are equivalent\n", name,
              static_cast<unsigned long long>(tally.killed), static_cast<unsigned long long>(tally.total),
              100.0 * static_cast<double>(tally.killed) / static_cast<double>(tally.total),
              static_cast<unsigned long long>(tally.equivalent));
}

class Mutants : public ::testing::TestWithParam<const Algorithm*> {};

TEST_P(Mutants, AreKilledUnlessEquivalent) {
  const MutationTally tally = tally_of(*GetParam());
  print(full_name(*GetParam()).c_str(), tally);
  EXPECT_GT(tally.total, 0U);
  for (const Survivor& survivor : tally.survivors)
    EXPECT_FALSE(survivor.justification.empty()) << "not noticed: " << survivor.text;
  EXPECT_EQ(tally.killed + tally.equivalent, tally.total);
  constexpr std::uint64_t kWanted = 90;  // in 100: what is excused stays the exception
  EXPECT_GE(tally.killed * 100, tally.total * kWanted);
}

INSTANTIATE_TEST_SUITE_P(Catalog, Mutants, ::testing::ValuesIn(every()), [](const auto& test) {
  return std::string(name_of(test.param->collective)) + "_" + std::string(test.param->name);
});

}  // namespace
}  // namespace umbel::algos::check
