// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "bench/memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace umbel::bench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::uint64_t kGiga = std::uint64_t{1} << 30U;

TEST(Memory, WhatFitsIsNoProblem) {
  EXPECT_EQ(memory_problem({.buffer_bytes = 2 * kGiga, .buffers = 2, .ranks = 4, .available = 16 * kGiga}), "");
  EXPECT_EQ(memory_problem({.buffer_bytes = 0, .buffers = 2, .ranks = 1, .available = 0}), "");
}

TEST(Memory, WhatDoesNotIsToldWithBothSizes) {
  EXPECT_THAT(memory_problem({.buffer_bytes = 20 * kGiga, .buffers = 2, .ranks = 4, .available = 16 * kGiga}),
              AllOf(HasSubstr("160.0G are needed"), HasSubstr("16.0G are available"), HasSubstr("-e to 2048M")));
  EXPECT_NE(memory_problem({.buffer_bytes = 2 * kGiga + 1, .buffers = 2, .ranks = 4, .available = 16 * kGiga}), "");
}

TEST(Memory, SizesThatOverflowAreTooLarge) {
  EXPECT_NE(memory_problem({.buffer_bytes = std::numeric_limits<std::uint64_t>::max(),
                            .buffers = 2,
                            .ranks = 8,
                            .available = 16 * kGiga}),
            "");
}

TEST(Memory, NobodyKnowsNobodyRefuses) {
  EXPECT_EQ(memory_problem({.buffer_bytes = 20 * kGiga, .buffers = 2, .ranks = 4}), "");
}

TEST(Memory, MeminfoIsRead) {
  EXPECT_EQ(available_of("MemTotal:  24000 kB\nMemAvailable:   12 kB\nSwapFree: 9 kB\n"), 12U << 10U);
  EXPECT_EQ(available_of("MemTotal:  24000 kB\n"), std::nullopt);
  EXPECT_EQ(available_of("MemAvailable:"), std::nullopt);
  EXPECT_GT(available_memory(), 1U << 20U);
}

}  // namespace
}  // namespace umbel::bench
