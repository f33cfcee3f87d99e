// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "kernels/host/convert.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/host/convert.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <algorithm>
#include <cstring>

#include <hwy/highway.h>

#include "kernels/host/lanes-inl.hpp"
#include "kernels/host/reduce.hpp"

HWY_BEFORE_NAMESPACE();
namespace umbel::kernels::HWY_NAMESPACE {
namespace {

using Floats = hn::ScalableTag<float>;

/// Bf16Lanes takes words at even and odd places apart; here they stay in their order.
struct Bf16InOrder : HalfLanes {
  static HWY_INLINE V load(const std::uint8_t* from) { return hn::BitCast(D(), hn::ShiftLeft<16>(load_words(from))); }
  static HWY_INLINE void store(V v, std::uint8_t* to) { store_words(hn::ShiftRight<16>(rounded_to_bf16(v)), to); }
};

/// convert(from, to) for a vector at a time, at the end by way of buffers.
/// @param from_bytes, to_bytes  of a vector
template <class Convert>
HWY_INLINE void for_each_vector(std::uint8_t* dst, std::size_t to_bytes, const std::uint8_t* src,
                                std::size_t from_bytes, std::size_t count, Convert convert) {
  const std::size_t lanes = hn::Lanes(Floats());
  std::size_t vectors = count / lanes;
  for (; vectors != 0; --vectors, src += from_bytes, dst += to_bytes) convert(src, dst);
  const std::size_t rest = count % lanes;
  if (rest == 0) return;
  HWY_ALIGN std::uint8_t from[HWY_MAX_BYTES] = {};
  HWY_ALIGN std::uint8_t to[HWY_MAX_BYTES] = {};
  std::memcpy(from, src, from_bytes / lanes * rest);
  convert(from, to);
  std::memcpy(dst, to, to_bytes / lanes * rest);
}

template <class Lanes>
void widen_lanes(std::uint8_t* dst, const std::uint8_t* src, std::size_t count) {
  const std::size_t floats = hn::Lanes(Floats()) * sizeof(float);
  for_each_vector(dst, floats, src, Lanes::bytes(), count, [](const std::uint8_t* from, std::uint8_t* to) {
    store_bytes(Floats(), with_one_nan(Lanes::load(from)), to);
  });
}

template <class Lanes>
void narrow_lanes(std::uint8_t* dst, const std::uint8_t* src, std::size_t count, std::uint32_t divisor) {
  const std::size_t floats = hn::Lanes(Floats()) * sizeof(float);
  if (divisor == 0) {
    return for_each_vector(dst, Lanes::bytes(), src, floats, count, [](const std::uint8_t* from, std::uint8_t* to) {
      Lanes::store(with_one_nan(load_bytes(Floats(), from)), to);
    });
  }
  const auto by = static_cast<float>(divisor);
  for_each_vector(dst, Lanes::bytes(), src, floats, count, [by](const std::uint8_t* from, std::uint8_t* to) {
    Lanes::store(with_one_nan(hn::Div(load_bytes(Floats(), from), hn::Set(Floats(), by))), to);
  });
}

void widen_here(DType dtype, std::uint8_t* dst, const std::uint8_t* src, std::size_t count) {
  if (dtype == DType::fp16) return widen_lanes<Fp16Lanes>(dst, src, count);
  if (dtype == DType::bf16) return widen_lanes<Bf16InOrder>(dst, src, count);
  if (dtype == DType::fp8_e4m3) return widen_lanes<Fp8Lanes<3>>(dst, src, count);
  return widen_lanes<Fp8Lanes<2>>(dst, src, count);
}

void narrow_here(DType dtype, std::uint8_t* dst, const std::uint8_t* src, std::size_t count, std::uint32_t divisor) {
  if (dtype == DType::fp16) return narrow_lanes<Fp16Lanes>(dst, src, count, divisor);
  if (dtype == DType::bf16) return narrow_lanes<Bf16InOrder>(dst, src, count, divisor);
  if (dtype == DType::fp8_e4m3) return narrow_lanes<Fp8Lanes<3>>(dst, src, count, divisor);
  return narrow_lanes<Fp8Lanes<2>>(dst, src, count, divisor);
}

}  // namespace
}  // namespace umbel::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace umbel::kernels {

HWY_EXPORT(widen_here);
HWY_EXPORT(narrow_here);

void widen(DType dtype, float* dst, const void* src, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(widen_here)
  (dtype, reinterpret_cast<std::uint8_t*>(dst), static_cast<const std::uint8_t*>(src), count);
}

void narrow(DType dtype, void* dst, const float* src, std::size_t count, std::uint32_t divisor) {
  HWY_DYNAMIC_DISPATCH(narrow_here)
  (dtype, static_cast<std::uint8_t*>(dst), reinterpret_cast<const std::uint8_t*>(src), count, divisor);
}

void scale(DType dtype, void* dst, const void* src, std::size_t count, const void* scalar) {
  constexpr std::size_t kBlockBytes = 4096;
  alignas(64) std::uint8_t scalars[kBlockBytes];
  const std::size_t size = size_of(dtype);
  const std::size_t block = std::min(count, kBlockBytes / size);
  for (std::size_t i = 0; i < block; ++i) std::memcpy(scalars + i * size, scalar, size);
  for (std::size_t done = 0; done < count; done += block) {
    const std::size_t now = std::min(block, count - done);
    const void* factors[] = {static_cast<const std::uint8_t*>(src) + done * size, scalars};
    reduce(dtype, RedOp::prod, static_cast<std::uint8_t*>(dst) + done * size, factors, 2, now, 0);
  }
}

}  // namespace umbel::kernels
#endif
