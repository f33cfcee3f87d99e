// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <chrono>
#include <exception>

#include "runtime/health.hpp"
#include "runtime/point_to_point.hpp"
#include "runtime/runner.hpp"
#include "runtime/started.hpp"
#include "runtime/waiter.hpp"

namespace umbel::runtime {

/// Brings the operations of a communicator to their end: round after round, and where a round moves nothing it waits
/// and looks after the other ranks. Not thread-safe: under the communicator's lock.
class Progress {
 public:
  Progress(Runner& runner, PointToPoint& point_to_point, Started& started, Health& health, Waiter& waiter)
      : runner_(runner), point_to_point_(point_to_point), started_(started), health_(health), waiter_(waiter) {}

  /// One call from its beginning to its end. @pre nothing else was started. @throws what it failed with
  void run(const CallArgs& args, InPlace in_place);
  /// All that was started, until `operation` is done. @throws what it failed with
  void complete(const Operation& operation);

  /// Whose signals could end the wait that a thread is in: of started operations there may be several under way.
  RankSet awaited() const noexcept { return started_.empty() ? runner_.awaited() : kAnyRank; }

  // For who is not waiting: a start, a test, the progress thread. What goes wrong ends all operations, with that error.

  /// One round.
  void step();
  /// As long as something moves, within bounds. @return what went wrong
  std::exception_ptr advance();

 private:
  using Clock = std::chrono::steady_clock;
  using Round = Executor::Round;

  void run_round_by_round();
  void advance_some();
  void settle(Round round, Awaited awaited, bool for_an_exchange = false);
  void look(std::chrono::nanoseconds waited, bool for_an_exchange);

  Runner& runner_;
  PointToPoint& point_to_point_;
  Started& started_;
  Health& health_;
  Waiter& waiter_;
  Clock::time_point idle_since_{};  ///< of advance(); nothing while something moves
};

/// @throws what the operation failed with
inline void throw_error(const Operation& operation) {
  if (operation.error) std::rethrow_exception(operation.error);
}

}  // namespace umbel::runtime
