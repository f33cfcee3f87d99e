// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "kernels/host/copy.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/host/copy.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <algorithm>
#include <cstring>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace umbel::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// @tparam past  by stores that go past the caches
template <bool past>
void copy_by_vectors(std::uint8_t* dst, const std::uint8_t* src, std::size_t bytes) {
  constexpr std::size_t kUnroll = 4;
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t vector = hn::Lanes(d);
  // Stores begin where a vector's place begins.
  const std::size_t head = std::min(bytes, (vector - reinterpret_cast<std::uintptr_t>(dst) % vector) % vector);
  std::memcpy(dst, src, head);
  std::size_t at = head;
  for (; at + kUnroll * vector <= bytes; at += kUnroll * vector) {
    const auto a = hn::LoadU(d, src + at), b = hn::LoadU(d, src + at + vector);
    const auto c = hn::LoadU(d, src + at + 2 * vector), e = hn::LoadU(d, src + at + 3 * vector);
    const auto store = [&](auto value, std::size_t place) HWY_ATTR {
      if constexpr (past)
        hn::Stream(value, d, dst + at + place * vector);
      else
        hn::Store(value, d, dst + at + place * vector);
    };
    store(a, 0);
    store(b, 1);
    store(c, 2);
    store(e, 3);
  }
  std::memcpy(dst + at, src + at, bytes - at);
  if constexpr (past) hwy::FlushStream();  // before any signal that says that it is there
}

void stream_here(std::uint8_t* dst, const std::uint8_t* src, std::size_t bytes) {
  copy_by_vectors<true>(dst, src, bytes);
}
void copy_here(std::uint8_t* dst, const std::uint8_t* src, std::size_t bytes) {
  copy_by_vectors<false>(dst, src, bytes);
}

}  // namespace
}  // namespace umbel::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace umbel::kernels {

HWY_EXPORT(stream_here);
HWY_EXPORT(copy_here);

/// From this size on memcpy of glibc may copy by `rep movsb`, which on AMD's processors is twenty times slower where
/// the destination lies a little further into its page than the source: a window's slot and large memory of malloc.
constexpr std::size_t kMemcpyChanges = 2048;

void copy(void* dst, const void* src, std::size_t bytes) {
  if (dst == src || bytes == 0) return;
  if (bytes < kMemcpyChanges) {
    std::memcpy(dst, src, bytes);
    return;
  }
  HWY_DYNAMIC_DISPATCH(copy_here)(static_cast<std::uint8_t*>(dst), static_cast<const std::uint8_t*>(src), bytes);
}

void copy_past_cache(void* dst, const void* src, std::size_t bytes) {
  if (dst == src || bytes == 0) return;
  HWY_DYNAMIC_DISPATCH(stream_here)(static_cast<std::uint8_t*>(dst), static_cast<const std::uint8_t*>(src), bytes);
}

}  // namespace umbel::kernels
#endif
