// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// What a memory lane runs on where many threads share it: a thread block of a GPU, or, in tests, a few host threads.
// All threads of the block make the same calls. How they meet and reach flags is the Threads':
//
//   unsigned index(), width();
//   void     barrier();                                         // of the block; orders its memory accesses
//   bool     any(bool mine);                                    // a barrier; whether any thread said true
//   std::uint64_t load_acquire(std::uint64_t*);                 // seen by all GPUs and the host
//   void     store_release(std::uint64_t*, std::uint64_t);
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/program.hpp"
#include "base/types.hpp"
#include "kernels/element.hpp"
#include "kernels/interpreter.hpp"
#include "kernels/semaphore.hpp"

#if defined(__CUDACC__)
#define UMBEL_NO_UNROLL _Pragma("unroll 1")  // a pack is loop enough, and there is a kernel for each type and operator
#else
#define UMBEL_NO_UNROLL
#endif

namespace umbel::kernels {

namespace detail {

struct alignas(16) Pack {  // one load or store instruction
  std::uint32_t words[4];
};
inline constexpr int kInFlight = 4;  ///< words or packs that a thread loads before it goes on

/// Head and tail byte by byte, the middle in words. @pre both operands lie alike to the boundaries of words
template <class Word, class Threads>
UMBEL_HOST_DEVICE void copy_words(std::byte* dst, const std::byte* src, std::uint64_t bytes, Threads& threads) {
  const std::uint64_t past = reinterpret_cast<std::uintptr_t>(dst) % sizeof(Word);
  const std::uint64_t to_boundary = (sizeof(Word) - past) % sizeof(Word);
  const std::uint64_t head = to_boundary < bytes ? to_boundary : bytes;
  const std::uint64_t words = (bytes - head) / sizeof(Word);
  const std::uint64_t stride = threads.width();
  for (std::uint64_t i = threads.index(); i < head; i += stride) dst[i] = src[i];
  auto* to = reinterpret_cast<Word*>(dst + head);
  const auto* from = reinterpret_cast<const Word*>(src + head);
  std::uint64_t i = threads.index();
  for (; i + (kInFlight - 1) * stride < words; i += kInFlight * stride) {
    Word word[kInFlight];
    for (int n = 0; n < kInFlight; ++n) word[n] = from[i + static_cast<std::uint64_t>(n) * stride];
    for (int n = 0; n < kInFlight; ++n) to[i + static_cast<std::uint64_t>(n) * stride] = word[n];
  }
  for (; i < words; i += stride) to[i] = from[i];
  for (i = head + words * sizeof(Word) + threads.index(); i < bytes; i += stride) dst[i] = src[i];
}

/// Bits, of whatever type: in the widest words that dst and src allow.
template <class Threads>
UMBEL_HOST_DEVICE_CALL void copy_bytes(std::byte* dst, const std::byte* src, std::uint64_t bytes, Threads& threads) {
  const std::uintptr_t apart = reinterpret_cast<std::uintptr_t>(dst) ^ reinterpret_cast<std::uintptr_t>(src);
  if (apart % sizeof(Pack) == 0) return copy_words<Pack>(dst, src, bytes, threads);
  if (apart % sizeof(std::uint64_t) == 0) return copy_words<std::uint64_t>(dst, src, bytes, threads);
  if (apart % sizeof(std::uint32_t) == 0) return copy_words<std::uint32_t>(dst, src, bytes, threads);
  if (apart % sizeof(std::uint16_t) == 0) return copy_words<std::uint16_t>(dst, src, bytes, threads);
  copy_words<std::byte>(dst, src, bytes, threads);
}

}  // namespace detail

/// Where things are for one call, in memory that the block can reach.
struct BlockContext {
  std::byte* const* input = nullptr;        ///< by rank
  std::byte* const* output = nullptr;       ///< by rank
  std::byte* const* window = nullptr;       ///< by rank: start of the arena that Binding::region_offset counts from
  SemaphoreCell* const* own = nullptr;      ///< by Program::semaphores
  SemaphoreCell* const* targets = nullptr;  ///< by Program::signals
  std::uint32_t divisor = 0;                ///< avg: the number of ranks
};

template <DType kType, RedOp kOp, class Threads>
class BlockAgent {
 public:
  static constexpr LaneKind kKind = LaneKind::memory;
  using Operand = std::byte*;

  /// @param operands room for kMaxSources, shared by the block
  UMBEL_HOST_DEVICE BlockAgent(const BlockContext& context, std::uint32_t epoch, Operand* operands, Threads threads)
      : context_(context), epoch_(epoch), operands_(operands), threads_(threads) {}

  UMBEL_HOST_DEVICE bool arrived(std::int32_t sem, std::uint32_t count) {
    bool here = false;
    if (threads_.index() == 0) here = semaphore_reached(threads_.load_acquire(flag(context_.own[sem])), epoch_, count);
    return threads_.any(here);
  }

  UMBEL_HOST_DEVICE void signal(std::int32_t signal, std::uint32_t count) {
    threads_.barrier();
    if (threads_.index() == 0) {
      threads_.store_release(flag(context_.targets[signal]), semaphore_value(epoch_, count));
    }
  }

  UMBEL_HOST_DEVICE Operand resolve(const Slice& slice, std::uint64_t offset) const {
    std::byte* const* base = slice.buffer == Buffer::input    ? context_.input
                             : slice.buffer == Buffer::output ? context_.output
                                                              : context_.window;
    return base[slice.rank] + offset;
  }

  UMBEL_HOST_DEVICE Operand* operands() { return operands_; }

  UMBEL_HOST_DEVICE void copy(const Operand& dst, const Operand& src, std::uint64_t first, std::uint64_t count) {
    detail::copy_bytes(dst + first * kElemBytes, src + first * kElemBytes, count * kElemBytes, threads_);
    threads_.barrier();  // the operands may be replaced now
  }

  UMBEL_HOST_DEVICE void reduce(const Operand& dst, const Operand* sources, int source_count, std::uint64_t first,
                                std::uint64_t count, bool final) {
    fold(dst, sources, source_count, first, count, final ? context_.divisor : 0U);
    threads_.barrier();
  }

 private:
  using E = Element<kType>;
  using Stored = typename E::Stored;
  using Accum = typename E::Accum;

  static constexpr std::uint64_t kElemBytes = sizeof(Stored);
  using Pack = detail::Pack;
  static constexpr std::uint64_t kPackBytes = sizeof(Pack);
  static constexpr int kPerPack = static_cast<int>(kPackBytes / kElemBytes);

  static UMBEL_HOST_DEVICE std::uint64_t* flag(SemaphoreCell* cell) {
    return reinterpret_cast<std::uint64_t*>(&cell->value);
  }

  /// Elements [first, first + count): head and tail one by one, the middle in packs where all operands lie alike to
  /// their boundaries.
  UMBEL_HOST_DEVICE void fold(std::byte* dst, const Operand* sources, int source_count, std::uint64_t first,
                              std::uint64_t count, std::uint32_t divisor) {
    const std::uint64_t at = first * kElemBytes;
    std::uint64_t head = count;
    std::uint64_t packs = 0;
    if (alike(dst, sources, source_count)) {
      const std::uint64_t past = reinterpret_cast<std::uintptr_t>(dst + at) % kPackBytes;
      const std::uint64_t to_boundary = (kPackBytes - past) % kPackBytes / kElemBytes;
      head = to_boundary < count ? to_boundary : count;
      packs = (count - head) / kPerPack;
    }
    const std::uint64_t body = at + head * kElemBytes;
    const std::uint64_t tail = head + packs * kPerPack;
    fold_packs(dst, sources, source_count, body, packs, divisor);
    for (std::uint64_t i = threads_.index(); i < count - (tail - head); i += threads_.width()) {
      const std::uint64_t element = i < head ? i : i + (tail - head);
      one(dst, sources, source_count, at + element * kElemBytes, divisor);
    }
  }

  UMBEL_HOST_DEVICE static bool alike(const std::byte* dst, const Operand* sources, int source_count) {
    const std::uintptr_t past = reinterpret_cast<std::uintptr_t>(dst) % kPackBytes;
    bool all = past % kElemBytes == 0;
    for (int k = 0; k < source_count; ++k) {
      all = all && reinterpret_cast<std::uintptr_t>(sources[k]) % kPackBytes == past;
    }
    return all;
  }

  UMBEL_HOST_DEVICE void fold_packs(std::byte* dst, const Operand* sources, int source_count, std::uint64_t body,
                                    std::uint64_t packs, std::uint32_t divisor) {
    const std::uint64_t stride = threads_.width();
    std::uint64_t i = threads_.index();
    for (; i + (detail::kInFlight - 1) * stride < packs; i += detail::kInFlight * stride) {
      some_packs<detail::kInFlight>(dst, sources, source_count, body + i * kPackBytes, stride * kPackBytes, divisor);
    }
    for (; i < packs; i += stride) {
      some_packs<1>(dst, sources, source_count, body + i * kPackBytes, 0, divisor);
    }
  }

  template <int kPacks>
  UMBEL_HOST_DEVICE void some_packs(std::byte* dst, const Operand* sources, int source_count, std::uint64_t at,
                                    std::uint64_t stride, std::uint32_t divisor) {
    Pack pack[kPacks];
    load_packs(pack, sources[0] + at, stride);
    Accum acc[kPacks][kPerPack];
    for (int n = 0; n < kPacks; ++n) {
      for (int j = 0; j < kPerPack; ++j) acc[n][j] = E::load(get(pack[n], j));
    }
    UMBEL_NO_UNROLL
    for (int k = 1; k < source_count; ++k) {
      load_packs(pack, sources[k] + at, stride);
      for (int n = 0; n < kPacks; ++n) {
        for (int j = 0; j < kPerPack; ++j) acc[n][j] = fold_step<kOp>(acc[n][j], E::load(get(pack[n], j)));
      }
    }
    for (int n = 0; n < kPacks; ++n) {
      for (int j = 0; j < kPerPack; ++j) set(pack[n], j, E::store(fold_finish<kOp>(acc[n][j], divisor)));
    }
    for (int n = 0; n < kPacks; ++n) {
      *reinterpret_cast<Pack*>(dst + at + static_cast<std::uint64_t>(n) * stride) = pack[n];
    }
  }

  template <int kPacks>
  static UMBEL_HOST_DEVICE void load_packs(Pack (&pack)[kPacks], const std::byte* from, std::uint64_t stride) {
    for (int n = 0; n < kPacks; ++n) {
      pack[n] = *reinterpret_cast<const Pack*>(from + static_cast<std::uint64_t>(n) * stride);
    }
  }

  static UMBEL_HOST_DEVICE Stored get(const Pack& pack, int j) {
    Stored value;
    std::memcpy(&value, reinterpret_cast<const char*>(pack.words) + static_cast<std::size_t>(j) * kElemBytes,
                kElemBytes);
    return value;
  }

  static UMBEL_HOST_DEVICE void set(Pack& pack, int j, Stored value) {
    std::memcpy(reinterpret_cast<char*>(pack.words) + static_cast<std::size_t>(j) * kElemBytes, &value, kElemBytes);
  }

  static UMBEL_HOST_DEVICE void one(std::byte* dst, const Operand* sources, int source_count, std::uint64_t at,
                                    std::uint32_t divisor) {
    Accum acc = E::load(element_at(sources[0] + at));
    UMBEL_NO_UNROLL
    for (int k = 1; k < source_count; ++k) acc = fold_step<kOp>(acc, E::load(element_at(sources[k] + at)));
    const Stored stored = E::store(fold_finish<kOp>(acc, divisor));
    if (reinterpret_cast<std::uintptr_t>(dst + at) % kElemBytes == 0) {
      *reinterpret_cast<Stored*>(dst + at) = stored;
    } else {
      std::memcpy(dst + at, &stored, kElemBytes);
    }
  }

  static UMBEL_HOST_DEVICE Stored element_at(const std::byte* from) {
    if (reinterpret_cast<std::uintptr_t>(from) % kElemBytes == 0) return *reinterpret_cast<const Stored*>(from);
    Stored value;
    std::memcpy(&value, from, kElemBytes);
    return value;
  }

  BlockContext context_;
  std::uint32_t epoch_;
  Operand* operands_;
  Threads threads_;
};

}  // namespace umbel::kernels
