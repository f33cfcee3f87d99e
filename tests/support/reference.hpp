// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// What an all-reduce must give, computed by plain scalar code that shares nothing with the library. The inputs are
// small integers, so that every order of folding gives the same bits. The parts of a complex number are two of them,
// but for the imaginary part of a factor, which is zero; the index of a pair is that of the rank that has it.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/types.hpp"

namespace umbel::test {

inline std::uint64_t scrambled(std::uint64_t x) {
  x = (x ^ (x >> 33U)) * 0xff51afd7ed558ccdU;
  x = (x ^ (x >> 33U)) * 0xc4ceb9fe1a85ec53U;
  return x ^ (x >> 33U);
}

inline int input_value(int rank, std::size_t i, DType dtype, RedOp op, std::uint64_t salt) {
  const std::uint64_t bits = scrambled(static_cast<std::uint64_t>(rank) * 1000003U + i * 17U + salt * 7919U);
  const bool coarse = dtype == DType::fp8_e4m3 || dtype == DType::fp8_e5m2;  // counts to 8
  const bool beyond = rank >= 8;  // so these ranks add 0 there, and multiply by 1 what overflows soon
  switch (op) {
    case RedOp::sum:
    case RedOp::avg:
      if (coarse) return beyond ? 0 : static_cast<int>(bits % 2);
      return 1 + static_cast<int>(bits % 3);
    case RedOp::prod:
      return beyond && size_of(dtype) <= 2 ? 1 : 1 + static_cast<int>(bits % 2);
    case RedOp::min:
    case RedOp::max:
      return static_cast<int>(bits % (coarse ? 8 : 100));
    case RedOp::band:
    case RedOp::bor:
    case RedOp::bxor:
      return static_cast<int>(bits % 128);
    case RedOp::land:
    case RedOp::lor:
    case RedOp::lxor:
    case RedOp::minloc:
    case RedOp::maxloc:
      return static_cast<int>(bits % 3);
    case RedOp::user:
      break;
  }
  return 0;
}

/// The code of a float of 8 or 16 bits, rounded to nearest even. For zero and numbers of normal size.
template <class Code>
Code to_small(float value, unsigned mantissa) {
  constexpr unsigned kBits = 8 * sizeof(Code);
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 31U << (kBits - 1);
  if (value == 0) return static_cast<Code>(sign);
  const unsigned dropped = 23 - mantissa;
  const std::uint32_t bias = (1U << (kBits - mantissa - 2)) - 1;
  const std::uint32_t exponent = (bits >> 23U & 0xffU) + bias - 127;
  std::uint32_t code = exponent << mantissa | (bits & 0x7fffffU) >> dropped;
  const std::uint32_t rest = bits & ((1U << dropped) - 1);
  const std::uint32_t tie = 1U << (dropped - 1);
  if (rest > tie || (rest == tie && (code & 1U) != 0)) ++code;
  return static_cast<Code>(sign | code);
}

/// A whole number, or for avg of floats a quotient; of a complex number its second part; of a pair its index.
struct Number {
  double value = 0;
  std::int64_t whole = 0;
  double second = 0;
  int index = 0;
};

template <class T>
struct PairOf {
  T value;
  int index;
};

/// A pair with zeroes in its padding.
template <class T>
void store_pair(std::byte* at, T value, int index) {
  std::memset(at, 0, sizeof(PairOf<T>));
  std::memcpy(at + offsetof(PairOf<T>, value), &value, sizeof(value));
  std::memcpy(at + offsetof(PairOf<T>, index), &index, sizeof(index));
}

inline void store(DType dtype, std::byte* at, const Number& number) {
  auto put = [&](auto element) { std::memcpy(at, &element, sizeof(element)); };
  const auto& [value, whole, second, index] = number;
  switch (dtype) {
    case DType::int8:
      return put(static_cast<std::int8_t>(whole));
    case DType::uint8:
      return put(static_cast<std::uint8_t>(whole));
    case DType::int16:
      return put(static_cast<std::int16_t>(whole));
    case DType::uint16:
      return put(static_cast<std::uint16_t>(whole));
    case DType::int32:
      return put(static_cast<std::int32_t>(whole));
    case DType::uint32:
      return put(static_cast<std::uint32_t>(whole));
    case DType::int64:
      return put(whole);
    case DType::uint64:
      return put(static_cast<std::uint64_t>(whole));
    case DType::fp16:
      return put(to_small<std::uint16_t>(static_cast<float>(value), 10));
    case DType::bf16:
      return put(to_small<std::uint16_t>(static_cast<float>(value), 7));
    case DType::fp8_e4m3:
      return put(to_small<std::uint8_t>(static_cast<float>(value), 3));
    case DType::fp8_e5m2:
      return put(to_small<std::uint8_t>(static_cast<float>(value), 2));
    case DType::fp32:
      return put(static_cast<float>(value));
    case DType::fp64:
      return put(value);
    case DType::complex64:
      return put(std::array{static_cast<float>(value), static_cast<float>(second)});
    case DType::complex128:
      return put(std::array{value, second});
    case DType::fp32_int32:
      return store_pair(at, static_cast<float>(value), index);
    case DType::fp64_int32:
      return store_pair(at, value, index);
    case DType::int32_int32:
      return store_pair(at, static_cast<int>(whole), index);
    case DType::int64_int32:
      return store_pair(at, whole, index);
    case DType::int16_int32:
      return store_pair(at, static_cast<std::int16_t>(whole), index);
  }
}

inline Number input_number(int rank, std::size_t i, DType dtype, RedOp op, std::uint64_t salt) {
  const int value = input_value(rank, i, dtype, op, salt);
  const int second = op == RedOp::prod ? 0 : input_value(rank, i + 1234567, dtype, op, salt);
  return {.value = static_cast<double>(value), .whole = value, .second = static_cast<double>(second), .index = rank};
}

inline std::vector<std::byte> make_input(int rank, std::size_t count, DType dtype, RedOp op, std::uint64_t salt) {
  std::vector<std::byte> data(count * size_of(dtype));
  for (std::size_t i = 0; i < count; ++i) {
    store(dtype, data.data() + i * size_of(dtype), input_number(rank, i, dtype, op, salt));
  }
  return data;
}

inline std::int64_t combined(RedOp op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case RedOp::sum:
    case RedOp::avg:
      return a + b;
    case RedOp::prod:
      return a * b;
    case RedOp::min:
    case RedOp::minloc:
      return a < b ? a : b;
    case RedOp::max:
    case RedOp::maxloc:
      return a > b ? a : b;
    case RedOp::band:
      return a & b;
    case RedOp::bor:
      return a | b;
    case RedOp::bxor:
      return a ^ b;
    case RedOp::land:
      return a != 0 && b != 0 ? 1 : 0;
    case RedOp::lor:
      return a != 0 || b != 0 ? 1 : 0;
    case RedOp::lxor:
      return (a != 0) != (b != 0) ? 1 : 0;
    case RedOp::user:
      break;
  }
  return 0;
}

/// Divided as the type does it.
inline double quotient(DType dtype, double value, int ranks) {
  if (dtype == DType::fp64 || dtype == DType::complex128) return value / ranks;
  return static_cast<double>(static_cast<float>(value) / static_cast<float>(ranks));
}

inline std::vector<std::byte> expected_result(int ranks, std::size_t count, DType dtype, RedOp op, std::uint64_t salt) {
  std::vector<std::byte> data(count * size_of(dtype));
  for (std::size_t i = 0; i < count; ++i) {
    Number result = input_number(0, i, dtype, op, salt);
    if (op == RedOp::land || op == RedOp::lor || op == RedOp::lxor) result.whole = result.whole != 0 ? 1 : 0;
    for (int rank = 1; rank < ranks; ++rank) {
      const Number next = input_number(rank, i, dtype, op, salt);
      const std::int64_t whole = combined(op, result.whole, next.whole);
      if (whole != result.whole) result.index = rank;  // of equals the lowest rank's stays
      result.whole = whole;
      result.second += next.second;
    }
    result.value = static_cast<double>(result.whole);
    if (op == RedOp::avg) {
      // 8-bit sums stay below their limits: at most 3 a rank
      result.whole /= ranks;
      result.value = quotient(dtype, result.value, ranks);
      result.second = quotient(dtype, result.second, ranks);
    }
    store(dtype, data.data() + i * size_of(dtype), result);
  }
  return data;
}

}  // namespace umbel::test
