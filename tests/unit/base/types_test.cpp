// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "base/types.hpp"

#include <cctype>
#include <complex>
#include <string>

#include <gtest/gtest.h>

namespace umbel {
namespace {

template <class T>
struct Pair {
  T value;
  int index;
};

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
  EXPECT_EQ(parse_dtype("f8e4m3"), DType::fp8_e4m3);
  EXPECT_EQ(parse_dtype("f8e5m2"), DType::fp8_e5m2);
  EXPECT_EQ(parse_dtype("double_int"), DType::fp64_int32);
  EXPECT_FALSE(parse_redop("user"));
}

TEST(Types, OperatorsServeTheTypesOfTheirFamily) {
  int pairs = 0;
  for (DType dtype : all_dtypes()) {
    for (RedOp op : all_redops()) pairs += serves(op, dtype) ? 1 : 0;
    EXPECT_TRUE(serves(RedOp::user, dtype));
    EXPECT_EQ(serves(RedOp::sum, dtype), !serves(RedOp::minloc, dtype)) << name_of(dtype);
  }
  EXPECT_EQ(pairs, 8 * 11 + 6 * 5 + 2 * 3 + 5 * 2);  // integers, floats, complex numbers, pairs
  EXPECT_FALSE(serves(RedOp::band, DType::fp32));
  EXPECT_FALSE(serves(RedOp::min, DType::complex64));
  EXPECT_TRUE(serves(RedOp::avg, DType::complex64));
  EXPECT_TRUE(serves(RedOp::lxor, DType::uint8));
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
  EXPECT_EQ(size_of(DType::fp8_e4m3), 1U);
  EXPECT_EQ(size_of(DType::fp8_e5m2), 1U);
  EXPECT_EQ(size_of(DType::complex64), sizeof(std::complex<float>));
  EXPECT_EQ(size_of(DType::complex128), sizeof(std::complex<double>));
  EXPECT_EQ(size_of(DType::fp32_int32), sizeof(Pair<float>));
  EXPECT_EQ(size_of(DType::fp64_int32), sizeof(Pair<double>));
  EXPECT_EQ(size_of(DType::int32_int32), sizeof(Pair<int>));
  EXPECT_EQ(size_of(DType::int64_int32), sizeof(Pair<std::int64_t>));
  EXPECT_EQ(size_of(DType::int16_int32), sizeof(Pair<short>));
}

}  // namespace
}  // namespace umbel
