// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <exception>
#include <span>
#include <vector>

#include "runtime/arguments.hpp"
#include "runtime/communicator.hpp"
#include "runtime/point_to_point.hpp"
#include "runtime/runner.hpp"

namespace umbel::runtime {

/// What a communicator has started and is not done: collectives, which run one after another, and exchanges, which all
/// run, beside them. In rounds; never waits. Not thread-safe, but for any().
class Started {
 public:
  using Round = Executor::Round;

  Started(Runner& runner, PointToPoint& point_to_point) : runner_(runner), point_to_point_(point_to_point) {}

  bool empty() const { return queue_.empty() && exchanges_.empty(); }
  bool exchanges_alone() const { return queue_.empty() && !exchanges_.empty(); }
  /// Whether there is something, as any thread sees it.
  bool any() const noexcept { return pending_.load(std::memory_order_relaxed) != 0; }

  /// A collective, begun when its turn comes.
  OperationRef add(const CallArgs& args, InPlace in_place);
  /// An exchange, begun at once; PointToPoint::start has what is required. An error is the operation's.
  OperationRef add(std::span<const Message> messages);
  /// One round over all of them; never `finished`. @throws what fails the communicator; then fail() is to follow
  Round advance();
  /// Ends all of them with `error`.
  void fail(const std::exception_ptr& error);

 private:
  Round advance_collective();
  Round advance_exchanges();
  bool begin_next();
  void finish_front(std::exception_ptr error);
  void count() { pending_.store(queue_.size() + exchanges_.size(), std::memory_order_relaxed); }

  Runner& runner_;
  PointToPoint& point_to_point_;
  std::deque<OperationRef> queue_;  ///< collectives; the first runs
  std::vector<OperationRef> exchanges_;
  std::atomic<std::size_t> pending_{0};
  bool meeting_ = false;  ///< what runs is not the first of the queue but a barrier before it
};

}  // namespace umbel::runtime
