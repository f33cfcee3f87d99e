// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "bench/memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace umbel::bench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::uint64_t kGiga = std::uint64_t{1} << 30U;

constexpr double kGigas = 1024.0 * 1024.0 * 1024.0;

TEST(Memory, WhatFitsIsNoProblem) {
  EXPECT_EQ(memory_problem({.bytes = 16 * kGigas, .ranks = 4, .max_bytes = 2 * kGiga, .available = 16 * kGiga}), "");
  EXPECT_EQ(memory_problem({.bytes = 0, .ranks = 1, .max_bytes = 0, .available = 0}), "");
}

TEST(Memory, WhatDoesNotIsToldWithBothSizes) {
  EXPECT_THAT(memory_problem({.bytes = 160 * kGigas, .ranks = 4, .max_bytes = 20 * kGiga, .available = 16 * kGiga}),
              AllOf(HasSubstr("160.0G are needed (the buffers of 4 ranks here, for calls of 20.0G)"),
                    HasSubstr("16.0G are available"), HasSubstr("-e to 2048M")));
  EXPECT_NE(memory_problem({.bytes = 16 * kGigas + 4, .ranks = 4, .max_bytes = 2 * kGiga, .available = 16 * kGiga}),
            "");
}

TEST(Memory, NobodyKnowsNobodyRefuses) {
  EXPECT_EQ(memory_problem({.bytes = 160 * kGigas, .ranks = 4, .max_bytes = 20 * kGiga}), "");
}

TEST(Memory, MeminfoIsRead) {
  EXPECT_EQ(available_of("MemTotal:  24000 kB\nMemAvailable:   12 kB\nSwapFree: 9 kB\n"), 12U << 10U);
  EXPECT_EQ(available_of("MemTotal:  24000 kB\n"), std::nullopt);
  EXPECT_EQ(available_of("MemAvailable:"), std::nullopt);
  EXPECT_GT(available_memory(), 1U << 20U);
}

}  // namespace
}  // namespace umbel::bench
