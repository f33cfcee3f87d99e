// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <atomic>
#include <cstdint>

#include "base/program.hpp"

namespace umbel::kernels {

/// One semaphore in the memory of the rank that waits on it; one lane stores to it, one lane loads it.
///
///   value = epoch << 32 | signals made in that epoch
///
/// The epoch is the number of the operation on its bank. A cell is never reset: what an earlier operation left behind
/// is smaller than anything that a later one waits for. All zeroes is a valid cell, before epoch 1.
struct alignas(64) SemaphoreCell {
  std::atomic<std::uint64_t> value{0};
};
static_assert(sizeof(SemaphoreCell) == 64);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(sizeof(std::atomic<std::uint64_t>) == sizeof(std::uint64_t));

UMBEL_HOST_DEVICE constexpr std::uint64_t semaphore_value(std::uint32_t epoch, std::uint32_t count) {
  return (static_cast<std::uint64_t>(epoch) << 32U) + count;
}

/// Whether a cell that holds `value` has seen `count` signals of `epoch`. Right also when the epoch wraps.
UMBEL_HOST_DEVICE constexpr bool semaphore_reached(std::uint64_t value, std::uint32_t epoch, std::uint32_t count) {
  return static_cast<std::int64_t>(value - semaphore_value(epoch, count)) >= 0;
}

/// Everything that the calling thread did before is visible to whoever sees the count through `arrived`.
inline void signal(SemaphoreCell& cell, std::uint32_t epoch, std::uint32_t count) {
  cell.value.store(semaphore_value(epoch, count), std::memory_order_release);
}

inline bool arrived(const SemaphoreCell& cell, std::uint32_t epoch, std::uint32_t count) {
  return semaphore_reached(cell.value.load(std::memory_order_acquire), epoch, count);
}

}  // namespace umbel::kernels
