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
  std::printf("%-34s killed %6llu of %6llu (%.2f%%), %llu survive and are equivalent\n", name,
              static_cast<unsigned long long>(tally.killed), static_cast<unsigned long long>(tally.total),
              100.0 * static_cast<double>(tally.killed) / static_cast<double>(tally.total),
              static_cast<unsigned long long>(tally.equivalent));
}

TEST(Mutants, AreKilledUnlessEquivalent) {
  MutationTally all;
  for (const Algorithm& algorithm : algos::catalog()) {
    const MutationTally tally = tally_of(algorithm);
    print(full_name(algorithm).c_str(), tally);
    EXPECT_GT(tally.total, 0U) << full_name(algorithm);
    all.add(tally);
  }
  print("all", all);
  for (const Survivor& survivor : all.survivors)
    EXPECT_FALSE(survivor.justification.empty()) << "not noticed: " << survivor.text;
  EXPECT_EQ(all.killed + all.equivalent, all.total);
  // With two ranks more of the synchronization can be spared than elsewhere.
  const std::uint64_t wanted = kMaxRanks < 8 ? 95 : 99;
  EXPECT_GE(all.killed * 100, all.total * wanted);
}

}  // namespace
}  // namespace umbel::algos::check
