// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "bench/data.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/types.hpp"
#include "bench/buffer.hpp"

namespace umbel::bench {
namespace {

constexpr std::uint64_t kSeed = 11;

/// Rounds to nearest even with the significand and least exponent of a type; what a machine would do after each step.
double rounded(const TypeInfo& type, double value) {
  if (value == 0) return value;
  int exponent = 0;
  std::frexp(value, &exponent);
  int least = -1000;
  if (type.dtype == UMBEL_FP16 || type.dtype == UMBEL_FP8_E5M2) least = -13;
  if (type.dtype == UMBEL_FP8_E4M3) least = -5;
  const int shift = type.significand_bits - std::max(exponent, least);
  return std::ldexp(std::nearbyint(std::ldexp(value, shift)), -shift);
}

double range_of(const TypeInfo& type) {
  if (type.dtype == UMBEL_FP16) return 65504.0;
  if (type.dtype == UMBEL_FP8_E4M3) return 448.0;
  if (type.dtype == UMBEL_FP8_E5M2) return 57344.0;
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
      if (!combine(type, op)) continue;
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

/// Complex numbers, parts as in std::complex, rounded after every operation, signs of zeroes included.
template <class T>
void expect_any_order(const TypeInfo& type, const OpInfo& op, int ranks, std::size_t index) {
  const auto bits_of = [](T re, T im) {
    const T parts[] = {re, im};
    std::array<unsigned char, sizeof(parts)> bits{};
    std::memcpy(bits.data(), parts, sizeof(parts));
    return bits;
  };
  const Scalar expected = expected_element(type, op, ranks, kSeed, index);
  for (const bool backward : {false, true}) {
    volatile T re = 0;
    volatile T im = 0;
    for (int i = 0; i < ranks; ++i) {
      const Scalar x = input_element(type, op, ranks, backward ? ranks - 1 - i : i, kSeed, index);
      const T a = re;
      const T b = im;
      const T c = static_cast<T>(x.value);
      const T d = static_cast<T>(x.imaginary);
      ASSERT_EQ(c, x.value);
      ASSERT_EQ(d, x.imaginary);
      volatile T products[] = {a * c, b * d, a * d, b * c};
      re = i == 0 ? c : op.op == UMBEL_PROD ? products[0] - products[1] : a + c;
      im = i == 0 ? d : op.op == UMBEL_PROD ? products[2] + products[3] : b + d;
    }
    if (op.op == UMBEL_AVG) {
      re = re / static_cast<T>(ranks);
      im = im / static_cast<T>(ranks);
    }
    ASSERT_TRUE(std::isfinite(re) && std::isfinite(im)) << type.name << op.name << ranks;
    ASSERT_EQ(bits_of(re, im), bits_of(static_cast<T>(expected.value), static_cast<T>(expected.imaginary)))
        << type.name << op.name << ranks << ' ' << index;
  }
}

TEST(Data, ComplexResultsDoNotDependOnTheOrder) {
  for (const char* name : {"sum", "prod", "avg"}) {
    for (const int ranks : {1, 2, 3, 7, 8, 64, 200, 300}) {
      for (std::size_t i = 0; i < 300; ++i) {
        expect_any_order<float>(*find_type("complex64"), *find_op(name), ranks, i);
        expect_any_order<double>(*find_type("complex128"), *find_op(name), ranks, i);
      }
    }
  }
}

TEST(Data, IsNotTrivial) {
  constexpr std::size_t kIndices = 200;
  for (const TypeInfo& type : all_types()) {
    for (const OpInfo& op : all_ops()) {
      if (!combine(type, op)) continue;
      std::size_t changes = 0;
      std::size_t nonzero = 0;
      std::size_t results = 0;  // that differ from the one before
      for (std::size_t i = 0; i < kIndices; ++i) {
        const Scalar expected = expected_element(type, op, 8, kSeed, i);
        const Scalar mine = input_element(type, op, 8, 3, kSeed, i);
        changes += expected != mine ? 1U : 0U;
        nonzero += mine != Scalar{} ? 1U : 0U;
        results += expected != expected_element(type, op, 8, kSeed, i + 1) ? 1U : 0U;
      }
      const bool sparse = op.op == UMBEL_BOR || op.op == UMBEL_LOR;
      EXPECT_GT(changes, kIndices / 3) << type.name << " " << op.name;
      EXPECT_GT(nonzero, sparse ? kIndices / 16 : kIndices / 2) << type.name << " " << op.name;
      EXPECT_GT(results, kIndices / 4) << type.name << " " << op.name;
    }
  }
}

/// The library's own word on what serves what.
TEST(Types, AreThoseOfTheLibrary) {
  ASSERT_EQ(all_types().size(), all_dtypes().size());
  ASSERT_EQ(all_ops().size(), all_redops().size());
  for (const TypeInfo& type : all_types()) {
    const DType dtype = all_dtypes()[static_cast<std::size_t>(type.dtype)];
    EXPECT_EQ(name_of(dtype), type.name);
    EXPECT_EQ(parse_dtype(type.alias), dtype);
    EXPECT_EQ(size_of(dtype), type.size);
    for (const OpInfo& op : all_ops()) {
      const RedOp redop = all_redops()[static_cast<std::size_t>(op.op)];
      EXPECT_EQ(name_of(redop), op.name);
      EXPECT_EQ(serves(redop, dtype), combine(type, op)) << type.name << ' ' << op.name;
    }
  }
}

TEST(Data, PairsOftenHaveEqualValues) {
  const TypeInfo type = *find_type("2int");
  const OpInfo op = *find_op("minloc");
  std::size_t ties = 0;
  for (std::size_t i = 0; i < 200; ++i) {
    const Scalar expected = expected_element(type, op, 8, kSeed, i);
    int equal = 0;
    for (int rank = 0; rank < 8; ++rank) {
      const Scalar x = input_element(type, op, 8, rank, kSeed, i);
      EXPECT_GE(static_cast<std::int64_t>(x.bits), static_cast<std::int64_t>(expected.bits));
      if (x.bits != expected.bits) continue;
      ++equal;
      EXPECT_GE(x.index, expected.index);
    }
    ties += equal > 1 ? 1U : 0U;
  }
  EXPECT_GT(ties, 40U);
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
    encode(*find_type(name), {.value = value}, &bits);
    return bits;
  };
  EXPECT_EQ(bits_of("half", 1.0), 0x3C00U);
  EXPECT_EQ(bits_of("half", -2.5), 0xC100U);
  EXPECT_EQ(bits_of("half", 32768.0), 0x7800U);
  EXPECT_EQ(bits_of("half", 0.0), 0U);
  EXPECT_EQ(bits_of("bf16", 1.0), 0x3F80U);
  EXPECT_EQ(bits_of("bf16", -255.0), 0xC37FU);
  EXPECT_EQ(bits_of("f8e4m3", 1.0), 0x38U);
  EXPECT_EQ(bits_of("f8e4m3", -0.015625), 0x88U);
  EXPECT_EQ(bits_of("f8e5m2", 1.5), 0x3EU);
  EXPECT_EQ(bits_of("f8e5m2", -32768.0), 0xF8U);
  struct {
    double value;
    int index;
  } pair{};
  encode(*find_type("double_int"), {.value = -2.5, .index = 7}, &pair);
  EXPECT_EQ(pair.value, -2.5);
  EXPECT_EQ(pair.index, 7);
  struct {
    short value;
    int index;
  } small{};
  encode(*find_type("short_int"), {.bits = ~std::uint64_t{0}, .index = -7}, &small);
  EXPECT_EQ(small.value, -1);
  EXPECT_EQ(small.index, -7);
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

TEST(Data, MovedDataIsKnownOnEveryRank) {
  constexpr std::size_t kCount = 150'000;  // more than two periods
  constexpr std::uint64_t kIteration = 9;
  for (const TypeInfo& type : all_types()) {
    const Pattern mine(type, 1, kSeed);
    const Pattern other(type, 2, kSeed);
    std::vector<std::byte> input(kCount * type.size);
    other.fill(input.data(), kCount, kIteration);
    EXPECT_EQ(mine.wrong_copies(2, input.data(), kCount, kIteration), 0U) << type.name;
    EXPECT_GT(mine.wrong_copies(1, input.data(), kCount, kIteration), kCount / 2) << type.name;
    EXPECT_GT(mine.wrong_copies(2, input.data(), kCount, kIteration + 1), kCount / 2) << type.name;
    for (const std::size_t from : {std::size_t{0}, std::size_t{1}, std::size_t{12345}, Pattern::kPeriod}) {
      std::byte* part = &input[from * type.size];
      EXPECT_EQ(mine.wrong_copies(2, part, 1000, kIteration, from), 0U) << type.name << from;
      EXPECT_GT(mine.wrong_copies(2, part, 1000, kIteration, from + 1), 500U) << type.name << from;
      EXPECT_EQ(other.wrong_inputs(part, kCount - from, kIteration, from), 0U) << type.name << from;
      part[999 * type.size] ^= std::byte{1};
      EXPECT_EQ(mine.wrong_copies(2, part, 1000, kIteration, from), 1U) << type.name << from;
      EXPECT_EQ(mine.wrong_copies(2, part, 999, kIteration, from), 0U) << type.name << from;
      part[999 * type.size] ^= std::byte{1};
    }
  }
}

TEST(Data, PartsOfAReductionAreKnown) {
  const TypeInfo type = *find_type("int32");
  const OpInfo op = *find_op("sum");
  const Pattern pattern(type, op, 3, 0, kSeed);
  std::vector<std::int32_t> result(100);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::size_t at = (2 * 7919 + 500 + i) % Pattern::kPeriod;
    result[i] = static_cast<std::int32_t>(expected_element(type, op, 3, kSeed, at).bits);
  }
  EXPECT_EQ(pattern.wrong_results(result.data(), result.size(), 2, 500), 0U);
  EXPECT_GT(pattern.wrong_results(result.data(), result.size(), 2, 0), 90U);
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
