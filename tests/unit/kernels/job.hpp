// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Programs written by hand, and a job of several ranks in one process to run them: windows and semaphores are plain
// memory at one address for all, as ThreadSanitizer needs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/program.hpp"
#include "kernels/host/host_agent.hpp"
#include "kernels/interpreter.hpp"

namespace umbel::test {

/// An all-reduce by hand: in two memory lanes, every rank stages its input into window slots of its own, chunk by
/// chunk, and folds the slots of all ranks into its output. Loops over pieces, over `blocks` blocks and over chunks;
/// slots turn by the signals consumed; a loop of no trips holds a wait that could never pass; a closing wait takes two
/// signals.
Program gather_program(Rank rank, int ranks, int blocks, int depth);

/// Rank 0's program that reads the others' inputs: one lane folds all inputs into the output, another copies the last
/// rank's input to the output.
Program direct_program(int ranks);

/// The memory of `ranks` ranks for one call, and everything needed to run their programs.
class Job {
 public:
  struct Options {
    DType dtype = DType::int32;
    RedOp op = RedOp::sum;
    std::uint64_t count = 0;
    Cut cut{};
    kernels::StepLimits limits{};
    bool peers_unmapped = false;  ///< peers' user buffers go through the reader
  };

  Job(std::vector<Program> programs, const Options& options);

  int ranks() const { return static_cast<int>(programs_.size()); }
  const Program& program(Rank rank) const { return programs_[static_cast<std::size_t>(rank)]; }
  const Binding& binding() const { return binding_; }
  std::uint8_t* input(Rank rank) { return places_[static_cast<std::size_t>(rank)]->input.data(); }
  std::uint8_t* output(Rank rank) { return places_[static_cast<std::size_t>(rank)]->output.data(); }

  /// Forgets the counts of the last run.
  void begin_run();
  kernels::ProgramView view(Rank rank);
  kernels::HostContext context(Rank rank, std::uint32_t epoch);

 private:
  /// One rank's memory.
  struct Place {
    std::vector<std::uint8_t> input;
    std::vector<std::uint8_t> output;
    std::vector<std::uint8_t> window;
    std::vector<kernels::SemaphoreCell> cells;
    std::vector<std::uint32_t> consumed;
    std::vector<std::uint32_t> signalled;
    std::vector<std::byte*> inputs;
    std::vector<std::byte*> outputs;
    std::vector<std::byte*> windows;
    std::vector<kernels::SemaphoreCell*> own;
    std::vector<kernels::SemaphoreCell*> targets;
  };

  void connect(Rank rank);

  Options options_;
  std::vector<Program> programs_;
  Binding binding_;
  std::vector<std::unique_ptr<Place>> places_;
};

/// Runs all lanes of a rank round-robin until they are done, `idle()` whenever none of them moved.
template <class Agent, class Idle>
void run_rank(const Program& program, const kernels::ProgramView& view, Agent& agent, Idle idle) {
  std::vector<kernels::LaneState> lanes;
  for (const Lane& lane : program.lanes) lanes.push_back(kernels::start_of(lane));
  for (std::size_t open = lanes.size(); open != 0;) {
    bool moved = false;
    open = 0;
    for (kernels::LaneState& lane : lanes) {
      const kernels::Step did = kernels::step(view, lane, agent);
      if (did != kernels::Step::done) ++open;
      moved = moved || did == kernels::Step::advanced;
    }
    if (open != 0 && !moved) idle();
  }
}

}  // namespace umbel::test
