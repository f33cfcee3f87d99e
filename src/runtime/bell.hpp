// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>

#include "net/process.hpp"

namespace umbel::runtime {

/// What wakes a sleeping rank: a futex word in memory that its node-mates map, and a pipe for one that sleeps on
/// descriptors, to hear the network too. Node-mates reach the pipe through /proc, so it costs them no descriptor.
///
/// A signal: store it, then ring. A sleeper: announce, look at everything once more, sleep. The fences on both sides
/// let no signal fall between.
struct alignas(64) Bell {
  std::atomic<std::uint32_t> sleepers{0};  ///< threads of the owner that have announced sleep
  std::atomic<std::uint32_t> polling{0};   ///< of these, on descriptors
  std::atomic<std::uint32_t> rings{0};     ///< futex word
  std::atomic<std::int32_t> pipe_fd{-1};   ///< the writing end, in the owner's process
  std::atomic<std::uint64_t> pipe_inode{0};
};

void wake(Bell& bell, const net::ProcessId& owner) noexcept;

inline void ring(Bell& bell, const net::ProcessId& owner) noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (bell.sleepers.load(std::memory_order_relaxed) != 0) wake(bell, owner);
}

/// The owner's side. Several threads may sleep on one bell: each ring is for all of them. (Of two that sleep on
/// descriptors one may empty the pipe before the other has looked: that one sleeps its time out.)
class Sleeper {
 public:
  explicit Sleeper(Bell& bell) : bell_(bell) {}
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  ~Sleeper();

  /// From now on threads may sleep on descriptors. @throws SystemError
  void open_pipe();

  /// A ring after this ends the sleep that follows. Returns what that sleep must be told. Each announcement is followed
  /// by one sleep, or withdrawn.
  std::uint32_t announce() noexcept;
  void withdraw() noexcept;
  void sleep_on_futex(std::uint32_t announced, std::chrono::nanoseconds longest) noexcept;
  /// Wakes up too when one of `descriptors` (at most kMostDescriptors) is readable. @pre open_pipe()
  void sleep_on(std::span<const int> descriptors, std::uint32_t announced, std::chrono::nanoseconds longest) noexcept;

  static constexpr std::size_t kMostDescriptors = 8;

 private:
  bool rung(std::uint32_t announced) const noexcept { return bell_.rings.load(std::memory_order_seq_cst) != announced; }

  Bell& bell_;
  int read_fd_ = -1;
};

}  // namespace umbel::runtime
