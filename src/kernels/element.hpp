// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// One element of a reduce, by the rules of host/reduce.hpp, in code that a GPU and a CPU compile alike: the tests hold
// it to the same reference as the SIMD version. Compile it without contraction to fused multiply-adds.
#pragma once

#include <cstddef>
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

/// As fp16, with other widths. 0x7f is the NaN of e4m3, which has no infinities: what is too large becomes that.
template <int kMantissa>
struct Fp8Element {
  using Stored = std::uint8_t;
  using Accum = float;

  static constexpr std::uint32_t kBias = (1U << (6 - kMantissa)) - 1;
  static constexpr std::uint32_t kShift = 23 - kMantissa;
  static constexpr bool kHasInfinity = kMantissa == 2;
  static constexpr std::uint32_t kOverflow = kHasInfinity ? 0x7cU : 0x7fU;
  static constexpr std::uint32_t kNan = kHasInfinity ? 0x7eU : 0x7fU;
  static constexpr std::uint32_t kRebias = (127U - kBias) << 23U;
  static constexpr std::uint32_t kSmallestNormal = (128U - kBias) << 23U;
  /// A power of two to add: what is left are multiples of the denormals' unit.
  static constexpr std::uint32_t kRounder = (127U + 23U + 1U - kBias - kMantissa) << 23U;

  static UMBEL_HOST_DEVICE float load(std::uint8_t stored) {
    const std::uint32_t code = stored & 0x7fU;
    const std::uint32_t sign = (stored & 0x80U) << 24U;
    std::uint32_t bits = (code << kShift) + kRebias;
    if (code >= kOverflow) bits = code == kOverflow && kHasInfinity ? 0x7f800000U : 0x7fc00000U;
    if (code < 1U << static_cast<unsigned>(kMantissa)) {
      bits = detail::same_bits<std::uint32_t>(detail::same_bits<float>((code << kShift) + kSmallestNormal) -
                                              detail::same_bits<float>(kSmallestNormal));
    }
    return detail::same_bits<float>(bits | sign);
  }

  static UMBEL_HOST_DEVICE std::uint8_t store(float value) {
    const std::uint32_t bits = detail::same_bits<std::uint32_t>(value);
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    if (magnitude > 255U << 23U) return static_cast<std::uint8_t>(kNan);
    const std::uint32_t odd = (magnitude >> kShift) & 1U;
    std::uint32_t out = (magnitude + (1U << (kShift - 1)) - 1 + odd - kRebias) >> kShift;
    if (magnitude < kSmallestNormal) {
      out = detail::same_bits<std::uint32_t>(detail::same_bits<float>(magnitude) + detail::same_bits<float>(kRounder)) -
            kRounder;
    }
    if (out >= kOverflow) out = kOverflow;
    if (!kHasInfinity && out == kNan) return static_cast<std::uint8_t>(kNan);
    return static_cast<std::uint8_t>(out | ((bits & 0x80000000U) >> 24U));
  }
};

template <class T>
struct Complex {
  T re;
  T im;
};

template <class T>
struct ValueIndex {
  T value;
  std::int32_t index;
};

/// As a C struct has them; what is stored has zeroes in the padding, so that results can be compared by their bytes.
template <class T>
struct PairElement {
  using Accum = ValueIndex<T>;
  static constexpr std::size_t kIndexAt = sizeof(T) < sizeof(std::int32_t) ? sizeof(std::int32_t) : sizeof(T);
  struct Stored {
    std::uint32_t words[kIndexAt / 2];
  };

  static UMBEL_HOST_DEVICE Accum load(const Stored& stored) {
    Accum pair;
    const char* bytes = reinterpret_cast<const char*>(stored.words);
    std::memcpy(&pair.value, bytes, sizeof(pair.value));
    std::memcpy(&pair.index, bytes + kIndexAt, sizeof(pair.index));
    return pair;
  }
  static UMBEL_HOST_DEVICE Stored store(const Accum& pair) {
    Stored stored{};
    char* bytes = reinterpret_cast<char*>(stored.words);
    std::memcpy(bytes, &pair.value, sizeof(pair.value));
    std::memcpy(bytes + kIndexAt, &pair.index, sizeof(pair.index));
    return stored;
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
  if constexpr (kType == DType::fp8_e4m3) return Fp8Element<3>();
  if constexpr (kType == DType::fp8_e5m2) return Fp8Element<2>();
  if constexpr (kType == DType::complex64) return PlainElement<Complex<float>>();
  if constexpr (kType == DType::complex128) return PlainElement<Complex<double>>();
  if constexpr (kType == DType::fp32_int32) return PairElement<float>();
  if constexpr (kType == DType::fp64_int32) return PairElement<double>();
  if constexpr (kType == DType::int32_int32) return PairElement<std::int32_t>();
  if constexpr (kType == DType::int64_int32) return PairElement<std::int64_t>();
  if constexpr (kType == DType::int16_int32) return PairElement<std::int16_t>();
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
UMBEL_HOST_DEVICE Complex<T> add(Complex<T> a, Complex<T> b) {
  return {a.re + b.re, a.im + b.im};
}

template <class T>
UMBEL_HOST_DEVICE T multiply(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  } else {
    return a * b;
  }
}

/// As it is written in books: nothing is done for infinite factors, whose product is NaN in one part or both.
template <class T>
UMBEL_HOST_DEVICE Complex<T> multiply(Complex<T> a, Complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

template <class T>
UMBEL_HOST_DEVICE T one_nan() {
  if constexpr (sizeof(T) == 4) {
    return same_bits<T>(0x7fc00000U);
  } else {
    return same_bits<T>(std::uint64_t{0x7ff8} << 48U);
  }
}

template <class T>
UMBEL_HOST_DEVICE T with_one_nan(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (value != value) return one_nan<T>();
  }
  return value;
}

template <class T>
UMBEL_HOST_DEVICE Complex<T> with_one_nan(Complex<T> value) {
  return {with_one_nan(value.re), with_one_nan(value.im)};
}

template <class T>
UMBEL_HOST_DEVICE ValueIndex<T> with_one_nan(ValueIndex<T> pair) {
  return {with_one_nan(pair.value), pair.index};
}

template <class T>
UMBEL_HOST_DEVICE T divided(T value, std::uint32_t divisor) {
  if constexpr (std::is_integral_v<T>) {
    using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    return static_cast<T>(static_cast<Wide>(value) / static_cast<Wide>(divisor));
  } else {
    return value / static_cast<T>(divisor);
  }
}

template <class T>
UMBEL_HOST_DEVICE Complex<T> divided(Complex<T> value, std::uint32_t divisor) {
  return {divided(value.re, divisor), divided(value.im, divisor)};
}

/// Whether `x` takes the place of `best`: NaN goes before numbers, a lower index before the same value's higher one.
template <RedOp kOp, class T>
UMBEL_HOST_DEVICE bool replaces(const ValueIndex<T>& x, const ValueIndex<T>& best) {
  const bool x_nan = x.value != x.value;
  const bool best_nan = best.value != best.value;
  if (x_nan != best_nan) return x_nan;
  if (kOp == RedOp::minloc ? x.value < best.value : best.value < x.value) return true;
  return (x_nan || x.value == best.value) && x.index < best.index;
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
  if constexpr (kOp == RedOp::band) return static_cast<T>(acc & x);
  if constexpr (kOp == RedOp::bor) return static_cast<T>(acc | x);
  if constexpr (kOp == RedOp::bxor) return static_cast<T>(acc ^ x);
  if constexpr (kOp == RedOp::land) return static_cast<T>(acc != 0 && x != 0);
  if constexpr (kOp == RedOp::lor) return static_cast<T>(acc != 0 || x != 0);
  if constexpr (kOp == RedOp::lxor) return static_cast<T>((acc != 0) != (x != 0));
  if constexpr (kOp == RedOp::minloc || kOp == RedOp::maxloc) return detail::replaces<kOp>(x, acc) ? x : acc;
}

/// After the last source of a fold; `divisor` 0: no division.
template <RedOp kOp, class T>
UMBEL_HOST_DEVICE T fold_finish(T acc, std::uint32_t divisor) {
  if constexpr (kOp == RedOp::land || kOp == RedOp::lor || kOp == RedOp::lxor) return static_cast<T>(acc != 0);
  if constexpr (kOp == RedOp::avg) {
    if (divisor != 0) acc = detail::divided(acc, divisor);
  }
  return detail::with_one_nan(acc);
}

}  // namespace umbel::kernels
