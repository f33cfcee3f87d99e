// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "net/ucx/message.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace umbel::net {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

CallSummary summary_of(std::uint64_t count, DType dtype, RedOp op) {
  CallSummary summary;
  summary.count = count;
  summary.dtype = dtype;
  summary.op = op;
  return summary;
}

TEST(Message, MismatchNamesRankAndWhatDiffers) {
  Mismatch m;
  m.key = {7, 41, 0, 0};
  m.expected = summary_of(1024, DType::fp32, RedOp::sum);
  m.found = summary_of(1025, DType::fp32, RedOp::max);
  const std::string text = to_text(m);
  EXPECT_THAT(text, HasSubstr("operation 41: "));
  EXPECT_THAT(text, HasSubstr("rank 7 called"));
  EXPECT_THAT(text, HasSubstr("count 1024 here, 1025 there; op sum here, max there"));
  EXPECT_THAT(text, Not(HasSubstr("dtype")));
}

TEST(Message, AnotherPlanIsAnotherCall) {
  Mismatch m;
  m.expected = m.found = summary_of(1024, DType::fp32, RedOp::sum);
  m.expected.plan = 0x0a1b;
  EXPECT_FALSE(m.only_length());
  EXPECT_THAT(to_text(m), HasSubstr("plan 0a1b"));
}

TEST(Message, LengthAloneIsSaidToBeLength) {
  Mismatch m;
  m.key.source = 2;
  m.expected_bytes = 10;
  m.found_bytes = 12;
  EXPECT_TRUE(m.only_length());
  EXPECT_THAT(to_text(m), HasSubstr("rank 2 sent 12 bytes where 10 were expected"));
}

}  // namespace
}  // namespace umbel::net
