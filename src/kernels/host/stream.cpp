// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "kernels/host/stream.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/host/stream.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <algorithm>
#include <cstring>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace umbel::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

void stream_here(std::uint8_t* dst, const std::uint8_t* src, std::size_t bytes) {
  constexpr std::size_t kUnroll = 4;
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t vector = hn::Lanes(d);
  // Streams begin where a vector's place begins.
  const std::size_t head = std::min(bytes, (vector - reinterpret_cast<std::uintptr_t>(dst) % vector) % vector);
  std::memcpy(dst, src, head);
  std::size_t at = head;
  for (; at + kUnroll * vector <= bytes; at += kUnroll * vector) {
    const auto a = hn::LoadU(d, src + at), b = hn::LoadU(d, src + at + vector);
    const auto c = hn::LoadU(d, src + at + 2 * vector), e = hn::LoadU(d, src + at + 3 * vector);
    hn::Stream(a, d, dst + at);
    hn::Stream(b, d, dst + at + vector);
    hn::Stream(c, d, dst + at + 2 * vector);
    hn::Stream(e, d, dst + at + 3 * vector);
  }
  std::memcpy(dst + at, src + at, bytes - at);
  hwy::FlushStream();  // before any signal that says that it is there
}

}  // namespace
}  // namespace umbel::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace umbel::kernels {

HWY_EXPORT(stream_here);

void copy_past_cache(void* dst, const void* src, std::size_t bytes) {
  if (dst == src || bytes == 0) return;
  HWY_DYNAMIC_DISPATCH(stream_here)(static_cast<std::uint8_t*>(dst), static_cast<const std::uint8_t*>(src), bytes);
}

}  // namespace umbel::kernels
#endif
