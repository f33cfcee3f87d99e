// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/config.hpp"
#include "net/ucx/transport.hpp"
#include "runtime/control.hpp"

namespace umbel::runtime {

/// What a rank does while nothing can move: spin briefly where each rank has a core, else yield at once, then sleep.
///
///     waiter.reset();                 // something moved
///     std::chrono::nanoseconds waited = waiter.idle();   // nothing did
///
/// Sleeping. A sleeper sets its doorbell, looks once more (the next round of its caller) and then sleeps on it: a futex
/// word in its window, which peers clear and wake after they have signalled (ring). With a network it sleeps on UCX's
/// descriptor instead, and hears its node-mates at the end of a sleep: sleeps are bounded by kLongestSleep either way.
class Waiter {
 public:
  /// @param crowded  more ranks than cores on this host: never spin
  Waiter(Header& own, net::Transport* transport, WaitMode mode, bool crowded);

  void reset() noexcept {
    rounds_ = 0;
    if (armed_) disarm();
  }
  /// One round of waiting. Returns for how long nothing has moved; 0 while that is not worth a look at the clock.
  std::chrono::nanoseconds idle();

 private:
  using Clock = std::chrono::steady_clock;

  void disarm() noexcept;
  void sleep();

  Header& own_;
  net::Transport* transport_;
  WaitMode mode_;
  bool crowded_;
  bool armed_ = false;
  std::uint32_t rounds_ = 0;  ///< of this wait, up to kFirstLook
  std::chrono::nanoseconds spin_for_;
  Clock::time_point since_{};
};

/// Wakes the owner of `header` if it sleeps. After a signal to it.
inline void ring(Header& header) noexcept;
void wake(Header& header) noexcept;

inline void ring(Header& header) noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (header.doorbell.load(std::memory_order_relaxed) != 0) wake(header);
}

}  // namespace umbel::runtime
