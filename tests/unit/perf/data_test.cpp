// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "bench/data.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "bench/buffer.hpp"

namespace umbel::bench {
namespace {

constexpr std::uint64_t kSeed = 11;

/// Rounds to nearest even with the significand and least exponent of a type; what a machine would do after each step.
double rounded(const TypeInfo& type, double value) {
  if (value == 0) return value;
  int exponent = 0;
  std::frexp(value, &exponent);
  const int least = type.dtype == UMBEL_FP16 ? -13 : -1000;
  const int shift = type.significand_bits - std::max(exponent, least);
  return std::ldexp(std::nearbyint(std::ldexp(value, shift)), -shift);
}

double range_of(const TypeInfo& type) {
  if (type.dtype == UMBEL_FP16) return 65504.0;
  return type.dtype == UMBEL_FP64 ? 1e308 : 3e38;
}

/// The reduction in `order`, rounded to the type after every step.
double reduced(const TypeInfo& type, const OpInfo& op, int ranks, std::size_t index, bool backward) {
  double result = 0;
  for (int i = 0; i < ranks; ++i) {
    const double x = input_element(type, op, ranks, backward ? ranks - 1 - i : i, kSeed, index).value;
    if (i == 0) {
      result = x;
    } else if (op.op == UMBEL_PROD) {
      result = rounded(type, result * x);
    } else if (op.op == UMBEL_MIN) {
      result = std::min(result, x);
    } else if (op.op == UMBEL_MAX) {
      result = std::max(result, x);
    } else {
      result = rounded(type, result + x);
    }
    EXPECT_LE(std::abs(result), range_of(type));
  }
  return op.op == UMBEL_AVG ? rounded(type, result / ranks) : result;
}

TEST(Data, FloatResultsDoNotDependOnTheOrder) {
  constexpr std::size_t kIndices = 300;
  for (const TypeInfo& type : all_types()) {
    if (type.kind != Kind::floating) continue;
    for (const OpInfo& op : all_ops()) {
      for (const int ranks : {1, 2, 3, 7, 8, 15, 16, 63, 64, 200, 300}) {
        for (std::size_t i = 0; i < kIndices; ++i) {
          const double expected = expected_element(type, op, ranks, kSeed, i).value;
          ASSERT_EQ(rounded(type, expected), expected) << type.name << op.name << ranks;
          ASSERT_EQ(reduced(type, op, ranks, i, false), expected) << type.name << op.name << ranks;
          ASSERT_EQ(reduced(type, op, ranks, i, true), expected) << type.name << op.name << ranks;
        }
      }
    }
  }
}

TEST(Data, IsNotTrivial) {
  constexpr std::size_t kIndices = 200;
  for (const TypeInfo& type : all_types()) {
    for (const OpInfo& op : all_ops()) {
      std::size_t changes = 0;
      std::size_t nonzero = 0;
      for (std::size_t i = 0; i < kIndices; ++i) {
        const Scalar expected = expected_element(type, op, 8, kSeed, i);
        const Scalar mine = input_element(type, op, 8, 3, kSeed, i);
        changes += expected.value != mine.value || expected.bits != mine.bits ? 1U : 0U;
        nonzero += mine.value != 0 || mine.bits != 0 ? 1U : 0U;
      }
      EXPECT_GT(changes, kIndices / 3) << type.name << " " << op.name;
      EXPECT_GT(nonzero, kIndices / 2) << type.name << " " << op.name;
    }
  }
}

TEST(Data, IntegersWrapAndDivideTowardZero) {
  const TypeInfo int8 = *find_type("int8");
  const TypeInfo uint16 = *find_type("uint16");
  for (std::size_t i = 0; i < 500; ++i) {
    int sum = 0;
    unsigned product = 1;
    for (int r = 0; r < 5; ++r) {
      sum += static_cast<std::int8_t>(input_element(int8, *find_op("avg"), 5, r, kSeed, i).bits);
      product *= static_cast<std::uint16_t>(input_element(uint16, *find_op("prod"), 5, r, kSeed, i).bits);
    }
    EXPECT_EQ(static_cast<std::int8_t>(expected_element(int8, *find_op("avg"), 5, kSeed, i).bits),
              static_cast<std::int8_t>(sum) / 5);
    EXPECT_EQ(static_cast<std::uint16_t>(expected_element(uint16, *find_op("prod"), 5, kSeed, i).bits),
              static_cast<std::uint16_t>(product));
  }
}

TEST(Data, EncodesAsTheMachineHasIt) {
  const auto bits_of = [](const char* name, double value) {
    std::uint64_t bits = 0;
    encode(*find_type(name), {0, value}, &bits);
    return bits;
  };
  EXPECT_EQ(bits_of("half", 1.0), 0x3C00U);
  EXPECT_EQ(bits_of("half", -2.5), 0xC100U);
  EXPECT_EQ(bits_of("half", 32768.0), 0x7800U);
  EXPECT_EQ(bits_of("half", 0.0), 0U);
  EXPECT_EQ(bits_of("bf16", 1.0), 0x3F80U);
  EXPECT_EQ(bits_of("bf16", -255.0), 0xC37FU);
  EXPECT_EQ(bits_of("float", 1.5), std::bit_cast<std::uint32_t>(1.5F));
  EXPECT_EQ(bits_of("double", 1.5), std::bit_cast<std::uint64_t>(1.5));
}

TEST(Data, EveryIterationDiffersAndEveryFlawIsCounted) {
  constexpr std::size_t kCount = 200'000;  // more than a period
  const TypeInfo type = *find_type("int32");
  const OpInfo op = *find_op("sum");
  const Pattern pattern(type, op, 4, 1, kSeed);
  std::vector<std::int32_t> first(kCount);
  std::vector<std::int32_t> second(kCount);
  pattern.fill(first.data(), kCount, 0);
  pattern.fill(second.data(), kCount, 1);
  EXPECT_EQ(pattern.wrong_inputs(first.data(), kCount, 0), 0U);
  EXPECT_GT(pattern.wrong_inputs(first.data(), kCount, 1), kCount - 10);
  first[0] ^= 1;
  first[kCount - 1] ^= 1;
  first[Pattern::kPeriod] ^= 1;
  EXPECT_EQ(pattern.wrong_inputs(first.data(), kCount, 0), 3U);

  std::vector<std::int32_t> result(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    const std::size_t at = (7919 + i) % Pattern::kPeriod;
    result[i] = static_cast<std::int32_t>(expected_element(type, op, 4, kSeed, at).bits);
  }
  EXPECT_EQ(pattern.wrong_results(result.data(), kCount, 1), 0U);
  std::swap(result[17], result[18]);
  EXPECT_EQ(pattern.wrong_results(result.data(), kCount, 1), 2U);
}

TEST(Buffer, CanariesNoticeEachByteBesideTheData) {
  Buffer buffer(1000);
  auto* bytes = static_cast<unsigned char*>(buffer.data());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes) % 4096, 0U);
  buffer.guard(100);
  std::memset(bytes, 0, 100);
  EXPECT_EQ(buffer.broken_canaries(), 0U);
  bytes[100] = 0;
  EXPECT_EQ(buffer.broken_canaries(), 1U);
  *(bytes - 1) = 0;
  EXPECT_EQ(buffer.broken_canaries(), 2U);
  buffer.guard(1000);
  EXPECT_EQ(buffer.broken_canaries(), 0U);
}

}  // namespace
}  // namespace umbel::bench
