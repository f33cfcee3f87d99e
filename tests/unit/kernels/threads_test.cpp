// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "unit/kernels/threads.hpp"

#include <initializer_list>

#include <gtest/gtest.h>

namespace umbel {
namespace {

test::Job::Options options_of(std::uint64_t count, std::uint64_t step_bytes) {
  test::Job::Options options;
  options.dtype = DType::uint32;
  options.count = count;
  options.cut = {4000, 400};
  options.limits.bytes = step_bytes;
  return options;
}

TEST(RanksAsThreads, AgreeWithTheSum) {
  for (int ranks : {1, 2, 3, 4}) {
    for (std::uint64_t count : std::initializer_list<std::uint64_t>{0, 1, 97, 5003}) {
      EXPECT_TRUE(test::run_threads<kernels::HostAgent>(ranks, options_of(count, 128 << 10), 5))
          << ranks << ' ' << count;
    }
  }
}

TEST(RanksAsThreads, AgreeInTinySteps) {
  EXPECT_TRUE(test::run_threads<kernels::HostAgent>(3, options_of(1003, 16), 3));
}

}  // namespace
}  // namespace umbel
