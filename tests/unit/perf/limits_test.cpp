// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "bench/limits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace umbel::bench {
namespace {

TEST(Limits, TheSpeedBehindAllReducesIsFound) {
  const Speeds nodes{.node_sizes = {2, 2, 2, 2}, .gbs = 0.25};
  EXPECT_DOUBLE_EQ(speeds_of(limit_of_all_reduce(nodes), nodes.node_sizes).gbs, 0.25);
  EXPECT_DOUBLE_EQ(limit_of_all_reduce(nodes), 0.25 * (4.0 / 3) * (7.0 / 8));
  const Speeds one{.node_sizes = {4}, .gbs = 10};
  EXPECT_DOUBLE_EQ(speeds_of(limit_of_all_reduce(one), one.node_sizes).gbs, 10);
}

TEST(Limits, UnknownStaysUnknown) {
  for (const Speeds& speeds : {speeds_of(0, {4}), speeds_of(0, {2, 2}), speeds_of(0, {1})}) {
    for (const auto limit_of :
         {limit_of_all_reduce, limit_of_all_gather, limit_of_broadcast, limit_of_all_to_all, limit_of_gather}) {
      EXPECT_EQ(limit_of(speeds), 0);
    }
  }
}

/// Each limit from the least bytes that some link must carry, of calls of 1 byte over links of 1 byte/s.
TEST(Limits, OfLinksAreWhatTheBusiestOneAllows) {
  for (const std::vector<int>& sizes : std::vector<std::vector<int>>{{1, 1}, {2, 2}, {7, 1}, {3, 3, 3}, {1, 2, 5}}) {
    const Speeds speeds{.node_sizes = sizes, .gbs = 1};
    const double p = std::accumulate(sizes.begin(), sizes.end(), 0.0);
    double in_from_others = 0;  // of an all-gather, at the node that lacks the most
    double exchanged = 0;
    double gathered = 1;  // at the root's node, wherever the root is
    for (const double m : sizes) {
      in_from_others = std::max(in_from_others, (p - m) / p);
      exchanged = std::max(exchanged, m * (p - m) / p);
      gathered = std::min(gathered, (p - m) / p);
    }
    const double factor = (p - 1) / p;
    constexpr double kRounding = 1 + 1e-12;
    EXPECT_GE(limit_of_all_gather(speeds) * kRounding, factor / in_from_others);
    EXPECT_DOUBLE_EQ(limit_of_all_to_all(speeds), factor / exchanged);
    EXPECT_DOUBLE_EQ(limit_of_gather(speeds), factor / gathered);
    EXPECT_DOUBLE_EQ(limit_of_broadcast(speeds), 1);
    const bool even = std::ranges::count(sizes, sizes[0]) == static_cast<std::ptrdiff_t>(sizes.size());
    if (even) EXPECT_DOUBLE_EQ(limit_of_all_gather(speeds), factor / in_from_others);
  }
}

TEST(Limits, OfCopiesAreThoseOfAllRanksTogether) {
  const Speeds speeds{.node_sizes = {4}, .gbs = 10};
  EXPECT_DOUBLE_EQ(limit_of_all_gather(speeds), 10);
  EXPECT_DOUBLE_EQ(limit_of_all_to_all(speeds), 10);
  EXPECT_DOUBLE_EQ(limit_of_broadcast(speeds), 40.0 / 3);
  EXPECT_DOUBLE_EQ(limit_of_gather(speeds), 40);
}

}  // namespace
}  // namespace umbel::bench
