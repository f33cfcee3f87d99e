// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// How elements in memory become vectors to compute with, and back: for each kind of element a struct with
//   V             what an operator computes with: vectors (for 16- and 8-bit floats: of fp32)
//   Acc           one V, or what holds several
//   load, store   at any address; bytes() says what an Acc takes in memory
//   step, finish  of an operator, on an Acc
// What is stored holds no NaN but the one of reduce.hpp.
// Compiled once for every target (see Highway's foreach_target.h).
#if defined(UMBEL_KERNELS_HOST_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef UMBEL_KERNELS_HOST_LANES_INL
#undef UMBEL_KERNELS_HOST_LANES_INL
#else
#define UMBEL_KERNELS_HOST_LANES_INL
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <hwy/highway.h>

#include "kernels/element.hpp"

HWY_BEFORE_NAMESPACE();
namespace umbel::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE hn::Vec<D> load_bytes(D d, const std::uint8_t* from) {
#if HWY_TARGET == HWY_SCALAR
  hn::TFromD<D> value;
  std::memcpy(&value, from, sizeof(value));
  return hn::Set(d, value);
#else
  const hn::Repartition<std::uint8_t, D> bytes;
  return hn::BitCast(d, hn::LoadU(bytes, from));
#endif
}

template <class D>
HWY_INLINE void store_bytes(D d, hn::Vec<D> v, std::uint8_t* to) {
#if HWY_TARGET == HWY_SCALAR
  static_cast<void>(d);
  const hn::TFromD<D> value = hn::GetLane(v);
  std::memcpy(to, &value, sizeof(value));
#else
  const hn::Repartition<std::uint8_t, D> bytes;
  hn::StoreU(hn::BitCast(bytes, v), bytes, to);
#endif
}

/// There is one NaN, so that neither the order in which an instruction takes its operands nor the CPU shows.
template <class V>
HWY_INLINE V with_one_nan(V v) {
  const hn::DFromV<V> d;
  using Bits = hwy::MakeUnsigned<hn::TFromV<V>>;
  constexpr Bits kNan = sizeof(Bits) == 4 ? static_cast<Bits>(0x7fc00000U) : static_cast<Bits>(0x7ff8ULL << 48U);
  return hn::IfThenElse(hn::IsNaN(v), hn::BitCast(d, hn::Set(hn::RebindToUnsigned<hn::DFromV<V>>(), kNan)), v);
}

/// An accumulator of one vector.
template <class D>
struct SingleLanes {
  using V = hn::Vec<D>;
  using Acc = V;
  template <class Op>
  static HWY_INLINE Acc step(const Op& op, Acc acc, Acc x) {
    return op.step(acc, x);
  }
  template <class Op>
  static HWY_INLINE Acc finish(const Op& op, Acc acc) {
    return op.finish(acc);
  }
};

/// Elements computed with as they are.
template <class T>
struct PlainLanes : SingleLanes<hn::ScalableTag<T>> {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static HWY_INLINE std::size_t bytes() { return hn::Lanes(D()) * sizeof(T); }
  static HWY_INLINE V load(const std::uint8_t* from) { return load_bytes(D(), from); }
  static HWY_INLINE void store(V v, std::uint8_t* to) { store_bytes(D(), v, to); }
};

/// bf16 to nearest even, in the upper halves. The only NaN that comes has an empty lower half and stays.
template <class V>
HWY_INLINE auto rounded_to_bf16(V v) {
  const hn::RebindToUnsigned<hn::DFromV<V>> d;
  const auto bits = hn::BitCast(d, v);
  const auto last = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1U));
  return hn::Add(hn::Add(bits, hn::Set(d, 0x7fffU)), last);
}

/// An fp32 vector for the words at even places and one for those at odd places: no lane has to move.
struct Bf16Lanes {
  using D = hn::ScalableTag<float>;
  using V = hn::Vec<D>;
  using Bits = hn::RebindToUnsigned<D>;
  struct Acc {
    V even;
    V odd;
  };

  static HWY_INLINE std::size_t bytes() { return hn::Lanes(D()) * sizeof(float); }

  static HWY_INLINE Acc load(const std::uint8_t* from) {
    const auto pairs = load_bytes(Bits(), from);
    const auto upper = hn::And(pairs, hn::Set(Bits(), 0xffff0000U));
    return {hn::BitCast(D(), hn::ShiftLeft<16>(pairs)), hn::BitCast(D(), upper)};
  }

  static HWY_INLINE void store(Acc acc, std::uint8_t* to) {
    const auto even = hn::ShiftRight<16>(rounded_to_bf16(acc.even));
    const auto odd = rounded_to_bf16(acc.odd);
#if HWY_TARGET == HWY_SCALAR
    const auto pairs = hn::Or(even, hn::And(odd, hn::Set(Bits(), 0xffff0000U)));
#else
    const hn::Repartition<std::uint16_t, D> words;
    const auto pairs = hn::BitCast(Bits(), hn::OddEven(hn::BitCast(words, odd), hn::BitCast(words, even)));
#endif
    store_bytes(Bits(), pairs, to);
  }

  template <class Op>
  static HWY_INLINE Acc step(const Op& op, Acc acc, Acc x) {
    return {op.step(acc.even, x.even), op.step(acc.odd, x.odd)};
  }
  template <class Op>
  static HWY_INLINE Acc finish(const Op& op, Acc acc) {
    return {op.finish(acc.even), op.finish(acc.odd)};
  }
};

/// 16-bit words in memory, fp32 in vectors.
struct HalfLanes : SingleLanes<hn::ScalableTag<float>> {
  using D = hn::ScalableTag<float>;
  using Words = hn::Rebind<std::uint16_t, D>;
  using Bits = hn::RebindToUnsigned<D>;
  static HWY_INLINE std::size_t bytes() { return hn::Lanes(D()) * sizeof(std::uint16_t); }
  static HWY_INLINE hn::Vec<Bits> load_words(const std::uint8_t* from) {
    return hn::PromoteTo(Bits(), load_bytes(Words(), from));
  }
  /// @pre every lane is below 2^16
  static HWY_INLINE void store_words(hn::Vec<Bits> v, std::uint8_t* to) {
    const hn::RebindToSigned<D> sign;
    store_bytes(Words(), hn::DemoteTo(Words(), hn::BitCast(sign, v)), to);
  }
};

// Instructions that convert fp16 as IEEE 754 says (denormals, ties to even, whatever the flush modes are).
#if (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL) && !defined(HWY_DISABLE_F16C)

struct Fp16Lanes : HalfLanes {
  using Halves = hn::Rebind<hwy::float16_t, D>;
  static HWY_INLINE V load(const std::uint8_t* from) {
    return hn::PromoteTo(D(), hn::BitCast(Halves(), load_bytes(Words(), from)));
  }
  static HWY_INLINE void store(V v, std::uint8_t* to) {
    store_bytes(Words(), hn::BitCast(Words(), hn::DemoteTo(Halves(), v)), to);
  }
};

#else

/// In integer arithmetic, with one exact fp32 addition or subtraction where a half is denormal.
struct Fp16Lanes : HalfLanes {
  static HWY_INLINE V load(const std::uint8_t* from) {
    const Bits d;
    const auto word = load_words(from);
    const auto magnitude = hn::ShiftLeft<13>(hn::And(word, hn::Set(d, 0x7fffU)));  // exponent and mantissa in place
    const auto sign = hn::ShiftLeft<16>(hn::And(word, hn::Set(d, 0x8000U)));
    const auto exponent = hn::And(magnitude, hn::Set(d, 0x7c00U << 13U));
    const auto normal = hn::Add(magnitude, hn::Set(d, (127U - 15U) << 23U));
    const auto special = hn::Add(normal, hn::Set(d, (128U - 16U) << 23U));  // infinite or NaN
    const auto smallest = hn::Set(d, (127U - 14U) << 23U);                  // 2^−14
    const auto denormal = hn::Sub(hn::BitCast(D(), hn::Add(magnitude, smallest)), hn::BitCast(D(), smallest));
    auto bits = hn::IfThenElse(hn::Eq(exponent, hn::Set(d, 0x7c00U << 13U)), special, normal);
    bits = hn::IfThenElse(hn::Eq(exponent, hn::Zero(d)), hn::BitCast(d, denormal), bits);
    return hn::BitCast(D(), hn::Or(bits, sign));
  }

  static HWY_INLINE void store(V v, std::uint8_t* to) {
    const Bits d;
    const hn::Rebind<std::int32_t, D> di;  // magnitudes are below 2^31: signed comparisons, which every target has
    const auto bits = hn::BitCast(d, v);
    const auto magnitude = hn::And(bits, hn::Set(d, 0x7fffffffU));
    const auto sign = hn::ShiftRight<16>(hn::And(bits, hn::Set(d, 0x80000000U)));
    // Normal: round to nearest even at bit 13, change the bias. A carry into the exponent is right.
    const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(d, 1U));
    const auto rounding = hn::Add(hn::Set(d, 0xfffU - ((127U - 15U) << 23U)), odd);
    const auto normal = hn::ShiftRight<13>(hn::Add(magnitude, rounding));
    // Below 2^−14: the addition of 2^−1 leaves multiples of 2^−24, the denormal's unit, rounded to nearest even.
    const auto half = hn::Set(d, 126U << 23U);
    const auto shifted = hn::Add(hn::BitCast(D(), magnitude), hn::BitCast(D(), half));
    const auto denormal = hn::Sub(hn::BitCast(d, shifted), half);
    const auto signed_magnitude = hn::BitCast(di, magnitude);
    const auto small = hn::RebindMask(d, hn::Lt(signed_magnitude, hn::Set(di, (127 - 14) << 23)));
    const auto large = hn::RebindMask(d, hn::Gt(signed_magnitude, hn::Set(di, ((127 + 16) << 23) - 1)));
    const auto nan = hn::RebindMask(d, hn::Gt(signed_magnitude, hn::Set(di, 255 << 23)));
    auto out = hn::IfThenElse(small, denormal, normal);
    out = hn::IfThenElse(large, hn::Set(d, 0x7c00U), out);
    out = hn::IfThenElse(nan, hn::Set(d, 0x7e00U), out);
    store_words(hn::Or(out, sign), to);
  }
};

#endif

/// As Fp16Lanes in integer arithmetic; the constants are those of Fp8Element.
template <int kMantissa>
struct Fp8Lanes : SingleLanes<hn::ScalableTag<float>> {
  using D = hn::ScalableTag<float>;
  using V = hn::Vec<D>;
  using Codes = hn::Rebind<std::uint8_t, D>;
  using Bits = hn::RebindToUnsigned<D>;
  using E = Fp8Element<kMantissa>;

  static HWY_INLINE std::size_t bytes() { return hn::Lanes(D()); }

  static HWY_INLINE V load(const std::uint8_t* from) {
    const Bits d;
    const auto stored = hn::PromoteTo(d, load_bytes(Codes(), from));
    const auto code = hn::And(stored, hn::Set(d, 0x7fU));
    const auto sign = hn::ShiftLeft<24>(hn::And(stored, hn::Set(d, 0x80U)));
    const auto magnitude = hn::ShiftLeft<E::kShift>(code);
    const auto smallest = hn::Set(d, E::kSmallestNormal);
    const auto denormal = hn::Sub(hn::BitCast(D(), hn::Add(magnitude, smallest)), hn::BitCast(D(), smallest));
    auto bits = hn::Add(magnitude, hn::Set(d, E::kRebias));
    bits = hn::IfThenElse(below(code, 1U << static_cast<unsigned>(kMantissa)), hn::BitCast(d, denormal), bits);
    if constexpr (E::kHasInfinity) {
      bits = hn::IfThenElse(hn::Eq(code, hn::Set(d, E::kOverflow)), hn::Set(d, 0x7f800000U), bits);
    }
    constexpr std::uint32_t kFirstNan = E::kHasInfinity ? E::kOverflow + 1 : E::kNan;
    bits = hn::IfThenElse(below(code, kFirstNan), bits, hn::Set(d, 0x7fc00000U));
    return hn::BitCast(D(), hn::Or(bits, sign));
  }

  static HWY_INLINE void store(V v, std::uint8_t* to) {
    const Bits d;
    const auto bits = hn::BitCast(d, v);
    const auto magnitude = hn::And(bits, hn::Set(d, 0x7fffffffU));
    const auto sign = hn::ShiftRight<24>(hn::And(bits, hn::Set(d, 0x80000000U)));
    const auto odd = hn::And(hn::ShiftRight<E::kShift>(magnitude), hn::Set(d, 1U));
    const auto rounding = hn::Add(hn::Set(d, (1U << (E::kShift - 1)) - 1 - E::kRebias), odd);
    const auto normal = hn::ShiftRight<E::kShift>(hn::Add(magnitude, rounding));
    const auto rounder = hn::Set(d, E::kRounder);
    const auto shifted = hn::Add(hn::BitCast(D(), magnitude), hn::BitCast(D(), rounder));
    const auto denormal = hn::Sub(hn::BitCast(d, shifted), rounder);
    auto out = hn::IfThenElse(below(magnitude, E::kSmallestNormal), denormal, normal);
    out = hn::IfThenElse(below(out, E::kOverflow), out, hn::Set(d, E::kOverflow));
    if constexpr (E::kHasInfinity) {
      out = hn::Or(out, sign);
      out = hn::IfThenElse(below(magnitude, (255U << 23U) + 1), out, hn::Set(d, E::kNan));
    } else {
      out = hn::IfThenElse(below(out, E::kNan), hn::Or(out, sign), out);  // a NaN's exponent overflows too
    }
    const hn::RebindToSigned<D> as_signed;
    store_bytes(Codes(), hn::DemoteTo(Codes(), hn::BitCast(as_signed, out)), to);
  }

 private:
  /// @pre both are below 2^31: signed comparisons, which every target has
  static HWY_INLINE auto below(hn::Vec<Bits> v, std::uint32_t limit) {
    const hn::RebindToSigned<D> di;
    return hn::RebindMask(Bits(), hn::Lt(hn::BitCast(di, v), hn::Set(di, static_cast<std::int32_t>(limit))));
  }
};

}  // namespace umbel::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard
