// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Runs one rank's program on host memory: its lanes in turn on the calling thread, UCX's progress in between. It never
// waits: the caller goes on with other things, or waits, between rounds.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "runtime/agents.hpp"
#include "runtime/planner.hpp"

namespace umbel::runtime {

class Executor {
 public:
  Executor(Members& members, Health& health, Waiter& waiter);
  ~Executor();

  /// What one round over the lanes did.
  enum class Round : std::uint8_t {
    idle,      ///< nothing
    events,    ///< nothing of this call: the network brought heartbeats, questions, another communicator's
    moved,     ///< something
    finished,  ///< the call is through, what was sent has left
  };

  /// Begins a run of `plan`, which must outlive it. One at a time.
  void start(const Plan& plan, const Call& call);
  /// @throws; the communicator is then failed
  Round round();
  /// Does the run need the network? Then round() moves it.
  bool networked() const { return live_ == 0 || running_->net_lanes > 0; }
  /// Whose signals the run waits for, in all its lanes. @pre the last round was idle
  RankSet awaited() const;
  /// Moves the network; true if there was something to do.
  bool progress();

 private:
  Loaded& load(const Built& built);
  void load_cells(Loaded& loaded) const;
  void load_streams(Loaded& loaded);
  template <class Body>
  auto guarded(Body&& body);
  Round run_lanes();

  Members& members_;
  Health& health_;
  Waiter& waiter_;
  std::unordered_map<const Built*, std::unique_ptr<Loaded>> loaded_;
  Loaded* last_ = nullptr;
  const Built* last_built_ = nullptr;
  std::array<std::vector<std::byte*>, kBanks> windows_;  ///< by rank: start of the slots
  std::unique_ptr<MemoryAgent> memory_;
  std::vector<std::unique_ptr<NetAgent>> net_;
  Loaded* running_ = nullptr;
  kernels::ProgramView view_{};
  std::size_t live_ = 0;  ///< lanes that are not done
};

}  // namespace umbel::runtime
