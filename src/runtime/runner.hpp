// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/arguments.hpp"
#include "runtime/communicator.hpp"
#include "runtime/executor.hpp"
#include "runtime/forced.hpp"
#include "runtime/founding.hpp"
#include "runtime/health.hpp"
#include "runtime/one_step.hpp"
#include "runtime/planner.hpp"
#include "runtime/staging.hpp"
#include "runtime/waiter.hpp"

namespace umbel::runtime {

/// Runs a communicator's collectives, one after another, in steps: from the choice of an algorithm to the last byte.
/// Never waits. Not thread-safe.
class Runner {
 public:
  Runner(Founded& founded, Health& health, Waiter& waiter);

  /// "" or "auto", a name, or choices per collective (forced.hpp). @throws InvalidArgument
  void set_algorithm(std::string_view name);
  /// Why `algorithm` cannot serve such a call; "" when it can.
  std::string refuses(std::string_view algorithm, const CallArgs& args);

  /// Whether the next call must be a barrier: too many in a row have told their senders nothing.
  bool must_meet() const { return one_way_ == kMostOneWay; }
  /// Begins a call. @throws Unsupported: then nothing has begun. The communicator's failure.
  void begin(const CallArgs& args, InPlace in_place);
  bool active() const { return phase_ != Phase::none; }
  /// One round of the call that was begun; `finished` ends it. @throws what fails the communicator
  Executor::Round advance();

  /// Does the call wait for the network, which advance() then moves?
  bool networked() const { return phase_ == Phase::program && executor_.networked(); }

  /// Whose signals could let the call go on.
  RankSet awaited() const {
    if (phase_ == Phase::lines) return {};  // the last to come rings, whoever it is
    return phase_ == Phase::program ? executor_.awaited() : kAnyRank;
  }

  std::uint64_t seq() const { return seq_; }
  const CallInfo& last_call() const { return last_; }

 private:
  /// Calls in a row that say nothing to their senders (a broadcast's root hears of nobody); then a barrier, so that a
  /// fast rank does not flood the others.
  static constexpr int kMostOneWay = 64;
  enum class Phase : std::uint8_t { none, bank, lines, counts, program };

  void plan_for(const PlanKey& key);
  bool bank_is_free();
  const CallArgs& args() const { return staging_.running(); }
  void start();
  void publish();
  UserBuffers told_buffers() const;
  bool counts_are_told();
  std::uint64_t told_count(const BundleItem& item) const;
  void start_program();
  Executor::Round finish();
  bool in_order(const CallArgs& args) const;
  PlanKey key_of(const CallArgs& args, std::int32_t algorithm) const;
  double one_step_prediction(std::int32_t algorithm);

  Founded& founded_;
  Health& health_;
  Planner planner_;
  Executor executor_;
  bool reproducible_;  ///< and there is more than one order of folds
  OneStepCalls one_step_;
  Staging staging_;
  ForcedAlgorithms forced_;
  std::array<std::int32_t, kCollectiveCount> one_step_algorithm_{};

  Phase phase_ = Phase::none;  ///< of the present call
  Call call_{};
  bool in_one_step_ = false;
  Plan plan_{};  ///< of the last call that a program did: a copy, as the planner may drop its own while a call runs
  PlanKey plan_key_{};  ///< what plan_ is for, where `planned_`
  bool planned_ = false;
  std::vector<std::uint64_t> bundle_starts_;  ///< that the plan's binding points to

  std::uint64_t seq_ = 0;
  std::uint32_t history_ = 0;       ///< of all calls so far
  std::uint64_t synchronized_ = 0;  ///< the last call that no rank finished before all had begun it
  int one_way_ = 0;                 ///< calls since
  using OneStepKey = std::pair<Collective, std::size_t>;  ///< and the bytes of a buffer, or share
  std::map<OneStepKey, double> predicted_;                ///< of calls in one step
  std::pair<OneStepKey, double> last_predicted_{{Collective::all_reduce, SIZE_MAX}, 0.0};
  CallInfo last_{};
};

}  // namespace umbel::runtime
