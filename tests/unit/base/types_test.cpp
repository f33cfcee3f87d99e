// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "base/types.hpp"

#include <cctype>
#include <string>

#include <gtest/gtest.h>

namespace umbel {
namespace {

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

TEST(Types, EveryDtypeNameRoundTripsInAnyCase) {
  ASSERT_EQ(all_dtypes().size(), static_cast<std::size_t>(kDTypeCount));
  for (DType dtype : all_dtypes()) {
    EXPECT_EQ(parse_dtype(name_of(dtype)), dtype);
    EXPECT_EQ(parse_dtype(upper(name_of(dtype))), dtype);
  }
}

TEST(Types, EveryRedOpNameRoundTripsInAnyCase) {
  ASSERT_EQ(all_redops().size(), static_cast<std::size_t>(kRedOpCount));
  for (RedOp op : all_redops()) {
    EXPECT_EQ(parse_redop(name_of(op)), op);
    EXPECT_EQ(parse_redop(upper(name_of(op))), op);
  }
}

TEST(Types, NcclTestsNamesAreUnderstood) {
  EXPECT_EQ(parse_dtype("half"), DType::fp16);
  EXPECT_EQ(parse_dtype("bfloat16"), DType::bf16);
  EXPECT_EQ(parse_dtype("float"), DType::fp32);
  EXPECT_EQ(parse_dtype("double"), DType::fp64);
  EXPECT_EQ(parse_dtype("char"), DType::int8);
  EXPECT_EQ(parse_dtype("uint8"), DType::uint8);
}

TEST(Types, UnknownNamesAreNoType) {
  for (const char* name : {"", "fp", "fp3", "fp321", "fp8", "float ", "int128"})
    EXPECT_FALSE(parse_dtype(name)) << name;
  for (const char* name : {"", "su", "sums", "average", "min,max"}) EXPECT_FALSE(parse_redop(name)) << name;
}

TEST(Types, SizesAreThoseOfTheCTypes) {
  EXPECT_EQ(size_of(DType::int8), sizeof(std::int8_t));
  EXPECT_EQ(size_of(DType::uint16), sizeof(std::uint16_t));
  EXPECT_EQ(size_of(DType::fp16), 2U);
  EXPECT_EQ(size_of(DType::bf16), 2U);
  EXPECT_EQ(size_of(DType::fp32), sizeof(float));
  EXPECT_EQ(size_of(DType::fp64), sizeof(double));
  EXPECT_EQ(size_of(DType::int64), sizeof(std::int64_t));
}

}  // namespace
}  // namespace umbel
