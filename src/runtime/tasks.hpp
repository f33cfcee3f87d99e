// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Tasks: programs that do one thing over and over on all ranks at once, from whose times umbel_tune tells the figures
// of the cost model. Pure functions.
//
//   flags         pairs of node-mates pass a flag to and fro
//   copies        each rank copies from its input into its window
//   folds         each rank folds a slot of its window and its input into its output
//   write_window  each rank fills a slot of its window, its neighbour is told, it copies as much from its input, and
//                 allows the next
//   read_window   the same, but it copies what the neighbour has just written
//   write_user    as write_window, of the output
//   read_user     as read_window, of the output
//   messages      the first ranks of pairs of nodes pass a small message to and fro; their node-mates wait for a flag
//   posts         as stream, of small messages: as long as a rank works on one that it sends and one that it gets
//   stream        the first ranks of the nodes, in a ring, send to the next what they get from nobody: all links at
//   once
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/program.hpp"
#include "base/shape.hpp"
#include "runtime/tuning_file.hpp"

namespace umbel::runtime {

/// One rank's part of a task.
struct TaskProgram {
  Program program;
  bool timed = false;  ///< whether how long it takes this rank tells something
};

/// The names of tasks, in the order of kTasks.
enum class TaskName : std::uint8_t {
  flags,
  copies,
  folds,
  write_window,
  read_window,
  write_user,
  read_user,
  messages,
  posts,
  stream,
};
inline constexpr std::size_t kTaskCount = 10;

struct Task {
  TaskName name = TaskName::flags;
  bool (*serves)(const Shape&, bool direct) = nullptr;  ///< whether there is anything to measure
  TaskProgram (*build)(Rank, const Shape&, int repetitions) = nullptr;
  std::uint64_t bytes = 0;  ///< of the call that its programs are bound to, one of fp32
  int least = 1;            ///< repetitions at the start of a run that tell nothing
};

inline constexpr std::uint64_t kTaskBytes = 512U << 10U;  ///< what a copy or fold of a task handles
inline constexpr std::uint64_t kTaskInput = 8;            ///< so many of these are in the input, used in turns

extern const std::array<Task, kTaskCount> kTasks;

/// Seconds of one repetition of each task, by its name; 0 where there is none.
using TaskTimes = std::array<double, kTaskCount>;

/// What they say of the figures; 0 or less where they say nothing. @param ranks_per_core  costs inside a node are those
/// of a core that a rank has to itself
Figures figures_of(const TaskTimes& times, double ranks_per_core);

}  // namespace umbel::runtime
