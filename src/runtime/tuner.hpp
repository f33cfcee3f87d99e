// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "runtime/task_runner.hpp"
#include "runtime/tasks.hpp"

namespace umbel::runtime {

struct TunerOptions {
  double seconds = 10;  ///< about how long, of rank 0's; three rounds at least
  /// Called on rank 0 now and then. @param done  from 0 to 1  @param left  seconds
  std::function<void(double done, double left)> progress;
};

struct Tuned {
  Figures figures{};                      ///< equal on all ranks
  std::vector<std::string_view> unclear;  ///< figures that noise has made nothing of; 0 above
  int rounds = 0;                         ///< in which every task was measured once
};

/// Collective. Measures all tasks that there are for this communicator, round after round: each figure is the median of
/// the rounds on a rank, and of these the median of the ranks that have one. The time of a repetition is that of a long
/// run less that of a short one, so that what a run costs but once does not count.
Tuned tune(TaskRunner& runner, const TunerOptions& options);

}  // namespace umbel::runtime
