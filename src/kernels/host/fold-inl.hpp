// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The loop of a reduce: one pass over all sources, any alignment. Two sources, the common case, have a loop of their
// own. What does not fill a vector passes through a buffer of one. Compiled once for every target.
#if defined(UMBEL_KERNELS_HOST_FOLD_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef UMBEL_KERNELS_HOST_FOLD_INL
#undef UMBEL_KERNELS_HOST_FOLD_INL
#else
#define UMBEL_KERNELS_HOST_FOLD_INL
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <hwy/highway.h>

#include "kernels/host/fold.hpp"
#include "kernels/host/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace umbel::kernels::HWY_NAMESPACE {

HWY_INLINE const std::uint8_t* source_at(const FoldArgs& args, int k, std::size_t at) {
  return static_cast<const std::uint8_t*>(args.sources[k]) + at;
}

/// Folds the four vectors at `at`. All loads come before all stores: the destination may be a source.
template <class Lanes, class Op, int kSources>
HWY_INLINE void fold_four(const Op& op, const FoldArgs& args, std::size_t at, std::size_t width) {
  const std::uint8_t* first = source_at(args, 0, at);
  auto acc0 = Lanes::load(first);
  auto acc1 = Lanes::load(first + width);
  auto acc2 = Lanes::load(first + 2 * width);
  auto acc3 = Lanes::load(first + 3 * width);
  const int sources = kSources != 0 ? kSources : args.source_count;
  for (int k = 1; k < sources; ++k) {
    const std::uint8_t* next = source_at(args, k, at);
    acc0 = Lanes::step(op, acc0, Lanes::load(next));
    acc1 = Lanes::step(op, acc1, Lanes::load(next + width));
    acc2 = Lanes::step(op, acc2, Lanes::load(next + 2 * width));
    acc3 = Lanes::step(op, acc3, Lanes::load(next + 3 * width));
  }
  std::uint8_t* out = args.dst + at;
  Lanes::store(Lanes::finish(op, acc0), out);
  Lanes::store(Lanes::finish(op, acc1), out + width);
  Lanes::store(Lanes::finish(op, acc2), out + 2 * width);
  Lanes::store(Lanes::finish(op, acc3), out + 3 * width);
}

/// Folds [at, end) vector by vector, and what is left through a buffer. Out of line: the ends of a long fold, all of a
/// short one.
template <class Lanes, class Op>
HWY_NOINLINE void fold_rest(const Op& op, const FoldArgs& args, std::size_t at, std::size_t end) {
  const std::size_t width = Lanes::bytes();
  HWY_ALIGN std::uint8_t buffer[HWY_MAX_BYTES] = {};
  while (at < end) {
    const std::size_t bytes = std::min(width, end - at);
    const bool whole = bytes == width;
    auto load = source_at(args, 0, at);
    if (!whole) load = static_cast<const std::uint8_t*>(std::memcpy(buffer, load, bytes));
    auto acc = Lanes::load(load);
    for (int k = 1; k < args.source_count; ++k) {
      load = source_at(args, k, at);
      if (!whole) load = static_cast<const std::uint8_t*>(std::memcpy(buffer, load, bytes));
      acc = Lanes::step(op, acc, Lanes::load(load));
    }
    Lanes::store(Lanes::finish(op, acc), whole ? args.dst + at : buffer);
    if (!whole) std::memcpy(args.dst + at, buffer, bytes);
    at += bytes;
  }
}

/// Bytes up to the first cache line of the destination, when aligning pays and elements do not straddle.
HWY_INLINE std::size_t head_of(const FoldArgs& args) {
  constexpr std::size_t kLine = 64;
  constexpr std::size_t kWorthwhile = 2048;
  const std::size_t past = reinterpret_cast<std::uintptr_t>(args.dst) % kLine;
  return args.bytes < kWorthwhile || past % args.elem_bytes != 0 ? 0 : (kLine - past) % kLine;
}

/// @return where it stopped: fewer than four vectors are left
template <class Lanes, class Op, int kSources>
HWY_INLINE std::size_t fold_fours(const Op& op, const FoldArgs& args, std::size_t at) {
  const std::size_t width = Lanes::bytes();
  for (; args.bytes - at >= 4 * width; at += 4 * width) fold_four<Lanes, Op, kSources>(op, args, at, width);
  return at;
}

template <class Lanes, class Op>
HWY_NOINLINE void fold(const Op& op, const FoldArgs& args) {
  FoldArgs local = args;  // bytes that are stored could alias the caller's: these stay in registers
  const std::size_t head = head_of(args);
  if (head != 0) fold_rest<Lanes>(op, args, 0, head);
  std::size_t at = head;
  if (args.source_count == 2) {
    const void* two[] = {args.sources[0], args.sources[1]};
    local.sources = two;
    at = fold_fours<Lanes, Op, 2>(op, local, at);
  } else {
    at = fold_fours<Lanes, Op, 0>(op, local, at);
  }
  if (at < args.bytes) fold_rest<Lanes>(op, args, at, args.bytes);
}

}  // namespace umbel::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard
