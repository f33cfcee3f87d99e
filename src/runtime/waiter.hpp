// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <chrono>
#include <cstdint>
#include <thread>

#include "base/config.hpp"
#include "runtime/context.hpp"

namespace umbel::runtime {

/// What may end a wait.
enum class Awaited : std::uint8_t {
  node_mates,     ///< what the network brings meanwhile is for others, and can wait for a sleep to end
  network,        ///< too
  moved_network,  ///< too; the caller has moved it in this round
};

/// What a rank does while nothing can move: spin briefly where each rank has a core, else yield at once, then sleep:
/// at once where others want the core.
///
///     waiter.reset();                 // something moved
///     std::chrono::nanoseconds waited = waiter.idle(awaited);   // nothing did
///
/// Sleeping: announce it on the context's bell, look once more (the next round of the caller), then sleep, at most
/// kLongestSleep. Node-mates ring after they have signalled; the network wakes too.
///
/// In between it serves the other communicators of the context: what waits here may depend on an answer by one of them.
class Waiter {
 public:
  /// @param crowded  more ranks than cores on this host: never spin
  Waiter(Context& context, Participant& self, WaitMode mode, bool crowded);
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  ~Waiter() {
    if (announced_) withdraw();
  }

  void reset() noexcept {
    rounds_ = 0;
    if (announced_) withdraw();
  }
  /// The caller has moved the network.
  void note_events() noexcept { context_.note_events(); }
  /// One round of waiting. Returns for how long nothing has moved; 0 while that is not worth a look at the clock.
  std::chrono::nanoseconds idle(Awaited awaited);

 private:
  using Clock = std::chrono::steady_clock;

  void withdraw() noexcept;
  void look_for_others(Clock::time_point now) noexcept;

  Context& context_;
  Participant& self_;
  WaitMode mode_;
  bool crowded_;
  bool announced_ = false;
  std::uint32_t announcement_ = 0;
  std::uint32_t rounds_ = 0;  ///< of this wait, up to kFirstLook
  int yields_ = 0;            ///< of this wait
  Clock::time_point since_{};

  // Whether others want the core.
  Clock::time_point shared_until_{};  ///< nothing: they do not
  Clock::time_point looked_at_{};
  std::chrono::nanoseconds ran_{};      ///< the thread, until then
  std::chrono::nanoseconds held_up_{};  ///< likewise
  std::thread::id thread_;
};

}  // namespace umbel::runtime
