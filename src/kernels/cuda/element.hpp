// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// One element of a reduce, by the rules of host/reduce.hpp, in code that a GPU and a CPU compile alike: the tests hold
// it to the same reference as the SIMD version.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/program.hpp"
#include "base/types.hpp"

namespace umbel::kernels {

namespace detail {

/// std::bit_cast is not for device code.
template <class To, class From>
UMBEL_HOST_DEVICE To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

}  // namespace detail

/// `Stored` lies in memory, `Accum` is folded in.
template <class T>
struct PlainElement {
  using Stored = T;
  using Accum = T;
  static UMBEL_HOST_DEVICE Accum load(Stored stored) { return stored; }
  static UMBEL_HOST_DEVICE Stored store(Accum value) { return value; }
};

/// In integer arithmetic, with one exact fp32 operation where a half is denormal.
struct Fp16Element {
  using Stored = std::uint16_t;
  using Accum = float;

  static UMBEL_HOST_DEVICE float load(std::uint16_t stored) {
    constexpr std::uint32_t kInfinite = 0x7c00U << 13U;
    constexpr std::uint32_t kSmallestNormal = (127U - 14U) << 23U;
    const std::uint32_t magnitude = (stored & 0x7fffU) << 13U;
    const std::uint32_t sign = (stored & 0x8000U) << 16U;
    std::uint32_t bits = magnitude + ((127U - 15U) << 23U);
    if (magnitude >= kInfinite) bits += (128U - 16U) << 23U;
    if (magnitude < 1U << 23U) {
      bits = detail::same_bits<std::uint32_t>(detail::same_bits<float>(magnitude + kSmallestNormal) -
                                              detail::same_bits<float>(kSmallestNormal));
    }
    return detail::same_bits<float>(bits | sign);
  }

  static UMBEL_HOST_DEVICE std::uint16_t store(float value) {
    constexpr std::uint32_t kHalf = 126U << 23U;  // adding 2^−1 leaves multiples of 2^−24, a denormal's unit
    const std::uint32_t bits = detail::same_bits<std::uint32_t>(value);
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    std::uint32_t out = (magnitude + 0xfffU - ((127U - 15U) << 23U) + ((magnitude >> 13U) & 1U)) >> 13U;
    if (magnitude < (127U - 14U) << 23U) {
      out = detail::same_bits<std::uint32_t>(detail::same_bits<float>(magnitude) + detail::same_bits<float>(kHalf)) -
            kHalf;
    }
    if (magnitude >= (127U + 16U) << 23U) out = 0x7c00U;
    if (magnitude > 255U << 23U) out = 0x7e00U;
    return static_cast<std::uint16_t>(out | ((bits & 0x80000000U) >> 16U));
  }
};

struct Bf16Element {
  using Stored = std::uint16_t;
  using Accum = float;

  static UMBEL_HOST_DEVICE float load(std::uint16_t stored) {
    return detail::same_bits<float>(static_cast<std::uint32_t>(stored) << 16U);
  }
  /// The only NaN that is stored (`finish`) has an empty lower half: rounding leaves it alone.
  static UMBEL_HOST_DEVICE std::uint16_t store(float value) {
    const std::uint32_t bits = detail::same_bits<std::uint32_t>(value);
    return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U);
  }
};

namespace detail {

template <DType kType>
constexpr auto element_of() {
  if constexpr (kType == DType::int8) return PlainElement<std::int8_t>();
  if constexpr (kType == DType::int16) return PlainElement<std::int16_t>();
  if constexpr (kType == DType::int32) return PlainElement<std::int32_t>();
  if constexpr (kType == DType::int64) return PlainElement<std::int64_t>();
  if constexpr (kType == DType::uint8) return PlainElement<std::uint8_t>();
  if constexpr (kType == DType::uint16) return PlainElement<std::uint16_t>();
  if constexpr (kType == DType::uint32) return PlainElement<std::uint32_t>();
  if constexpr (kType == DType::uint64) return PlainElement<std::uint64_t>();
  if constexpr (kType == DType::fp16) return Fp16Element();
  if constexpr (kType == DType::bf16) return Bf16Element();
  if constexpr (kType == DType::fp32) return PlainElement<float>();
  if constexpr (kType == DType::fp64) return PlainElement<double>();
}

template <class T>
UMBEL_HOST_DEVICE T add(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  } else {
    return a + b;
  }
}

template <class T>
UMBEL_HOST_DEVICE T multiply(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  } else {
    return a * b;
  }
}

template <class T>
UMBEL_HOST_DEVICE T one_nan() {
  if constexpr (sizeof(T) == 4) {
    return same_bits<T>(0x7fc00000U);
  } else {
    return same_bits<T>(std::uint64_t{0x7ff8} << 48U);
  }
}

}  // namespace detail

template <DType kType>
using Element = decltype(detail::element_of<kType>());

/// One more source. A NaN on either side stays a NaN.
template <RedOp kOp, class T>
UMBEL_HOST_DEVICE T fold_step(T acc, T x) {
  if constexpr (kOp == RedOp::sum || kOp == RedOp::avg) return detail::add(acc, x);
  if constexpr (kOp == RedOp::prod) return detail::multiply(acc, x);
  if constexpr (kOp == RedOp::min) return x < acc || x != x ? x : acc;
  if constexpr (kOp == RedOp::max) return acc < x || x != x ? x : acc;
}

/// After the last source of a fold; `divisor` 0: no division.
template <RedOp kOp, class T>
UMBEL_HOST_DEVICE T fold_finish(T acc, std::uint32_t divisor) {
  if constexpr (kOp == RedOp::avg) {
    using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    if constexpr (std::is_integral_v<T>) {
      if (divisor != 0) acc = static_cast<T>(static_cast<Wide>(acc) / static_cast<Wide>(divisor));
    } else {
      if (divisor != 0) acc = acc / static_cast<T>(divisor);
    }
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (acc != acc) return detail::one_nan<T>();
  }
  return acc;
}

}  // namespace umbel::kernels
