// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "bench/sizes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/statistics.hpp"

namespace umbel::bench {
namespace {

using ::testing::ElementsAre;

TEST(Sizes, Parse) {
  EXPECT_EQ(parse_size("0"), 0U);
  EXPECT_EQ(parse_size("4096"), 4096U);
  EXPECT_EQ(parse_size("64k"), 65536U);
  EXPECT_EQ(parse_size("64K"), 65536U);
  EXPECT_EQ(parse_size("3m"), 3U << 20U);
  EXPECT_EQ(parse_size("2G"), std::uint64_t{2} << 30U);
  EXPECT_EQ(parse_size("1.5K"), 1536U);
  for (const char* bad : {"", "K", "8X", "8KB", "-1", "+1", "0x10", "1e3", "1 K", "1.2.3", "99999999999999999999",
                          "9999999999G", "inf", "."}) {
    EXPECT_EQ(parse_size(bad), std::nullopt) << bad;
  }
}

TEST(Sizes, SweepByFactorAndByStep) {
  EXPECT_THAT(sweep(8, 64, 1, 2), ElementsAre(8, 16, 32, 64));
  EXPECT_THAT(sweep(8, 63, 1, 2), ElementsAre(8, 16, 32));
  EXPECT_THAT(sweep(10, 40, 15, 1), ElementsAre(10, 25, 40));
  EXPECT_THAT(sweep(5, 5, 1, 1), ElementsAre(5));
  EXPECT_THAT(sweep(0, 4, 1, 2), ElementsAre(0, 1, 2, 4));
  EXPECT_THAT(sweep(std::uint64_t{1} << 60U, ~std::uint64_t{0}, 1, 100),
              ElementsAre(std::uint64_t{1} << 60U));  // the next overflows
}

TEST(Statistics, MeanAndPercentiles) {
  std::vector<double> values;
  for (int i = 100; i >= 1; --i) values.push_back(i);
  const Summary summary = summarize(values);
  EXPECT_DOUBLE_EQ(summary.mean, 50.5);
  EXPECT_DOUBLE_EQ(summary.p50, 50);
  EXPECT_DOUBLE_EQ(summary.p99, 99);
  const double one[] = {7};
  EXPECT_DOUBLE_EQ(summarize(one).p99, 7);
  const double two[] = {1, 3};
  EXPECT_DOUBLE_EQ(summarize(two).p50, 1);
  EXPECT_DOUBLE_EQ(summarize(two).p99, 3);
}

}  // namespace
}  // namespace umbel::bench
