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
  enum Asleep : std::uint32_t { on_futex = 1, on_descriptors = 2 };

  std::atomic<std::uint32_t> asleep{0};   ///< futex word: how the owner sleeps, if it does; whoever wakes it clears it
  std::atomic<std::int32_t> pipe_fd{-1};  ///< the writing end, in the owner's process
  std::atomic<std::uint64_t> pipe_inode{0};
};

void wake(Bell& bell, const net::ProcessId& owner) noexcept;

inline void ring(Bell& bell, const net::ProcessId& owner) noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (bell.asleep.load(std::memory_order_relaxed) != 0) wake(bell, owner);
}

/// The owner's side. Several threads may sleep on one bell: each is woken.
class Sleeper {
 public:
  explicit Sleeper(Bell& bell) : bell_(bell) {}
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  ~Sleeper();

  /// From now on the owner may sleep on descriptors. @throws SystemError
  void open_pipe();
  bool has_pipe() const noexcept { return bell_.pipe_fd.load(std::memory_order_relaxed) >= 0; }

  /// After this a ring ends the sleep that follows.
  void announce(Bell::Asleep how) noexcept;
  void sleep_on_futex(std::chrono::nanoseconds longest) noexcept;
  /// Wakes up too when one of `descriptors` is readable. @pre has_pipe()
  void sleep_on(std::span<const int> descriptors, std::chrono::nanoseconds longest) noexcept;

 private:
  Bell& bell_;
  int read_fd_ = -1;
};

}  // namespace umbel::runtime
