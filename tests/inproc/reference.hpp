// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// What an all-reduce must give, computed by plain scalar code that shares nothing with the library. The inputs are
// small integers, so that every order of folding gives the same bits.
#pragma once

#include <bit>
#include <cmath>
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

inline int input_value(int rank, std::size_t i, RedOp op, std::uint64_t salt) {
  const std::uint64_t bits = scrambled(static_cast<std::uint64_t>(rank) * 1000003U + i * 17U + salt * 7919U);
  switch (op) {
    case RedOp::sum:
    case RedOp::avg:
      return 1 + static_cast<int>(bits % 3);
    case RedOp::prod:
      return 1 + static_cast<int>(bits % 2);
    case RedOp::min:
    case RedOp::max:
      return static_cast<int>(bits % 100);
  }
  return 0;
}

/// Rounds to nearest even. For numbers of normal size.
inline std::uint16_t to_half(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if (value == 0) return static_cast<std::uint16_t>(bits >> 16U);
  const std::uint32_t exponent = (bits >> 23U & 0xffU) - 127 + 15;
  std::uint32_t half = (bits >> 31U << 15U) | exponent << 10U | (bits >> 13U & 0x3ffU);
  const std::uint32_t rest = bits & 0x1fffU;
  if (rest > 0x1000U || (rest == 0x1000U && (half & 1U) != 0)) ++half;
  return static_cast<std::uint16_t>(half);
}

inline std::uint16_t to_bfloat(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  std::uint32_t high = bits >> 16U;
  const std::uint32_t rest = bits & 0xffffU;
  if (rest > 0x8000U || (rest == 0x8000U && (high & 1U) != 0)) ++high;
  return static_cast<std::uint16_t>(high);
}

/// Writes `value` (a whole number, or a quotient for avg of floats) as one element.
inline void store(DType dtype, std::byte* at, double value, std::int64_t whole) {
  auto put = [&](auto element) { std::memcpy(at, &element, sizeof(element)); };
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
      return put(to_half(static_cast<float>(value)));
    case DType::bf16:
      return put(to_bfloat(static_cast<float>(value)));
    case DType::fp32:
      return put(static_cast<float>(value));
    case DType::fp64:
      return put(value);
  }
}

inline std::vector<std::byte> make_input(int rank, std::size_t count, DType dtype, RedOp op, std::uint64_t salt) {
  std::vector<std::byte> data(count * size_of(dtype));
  for (std::size_t i = 0; i < count; ++i) {
    const int value = input_value(rank, i, op, salt);
    store(dtype, data.data() + i * size_of(dtype), value, value);
  }
  return data;
}

inline bool is_float(DType dtype) {
  return dtype == DType::fp16 || dtype == DType::bf16 || dtype == DType::fp32 || dtype == DType::fp64;
}

inline std::vector<std::byte> expected_result(int ranks, std::size_t count, DType dtype, RedOp op, std::uint64_t salt) {
  std::vector<std::byte> data(count * size_of(dtype));
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t whole = input_value(0, i, op, salt);
    for (int rank = 1; rank < ranks; ++rank) {
      const int next = input_value(rank, i, op, salt);
      if (op == RedOp::sum || op == RedOp::avg) whole += next;
      if (op == RedOp::prod) whole *= next;
      if (op == RedOp::min) whole = whole < next ? whole : next;
      if (op == RedOp::max) whole = whole > next ? whole : next;
    }
    auto value = static_cast<double>(whole);
    if (op == RedOp::avg) {
      // 8-bit sums stay below their limits: at most 3 a rank
      whole /= ranks;
      value = dtype == DType::fp64 ? value / ranks
                                   : static_cast<double>(static_cast<float>(value) / static_cast<float>(ranks));
    }
    store(dtype, data.data() + i * size_of(dtype), value, whole);
  }
  return data;
}

}  // namespace umbel::test
