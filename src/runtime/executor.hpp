// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Runs one rank's program on host memory: its lanes in turn on the calling thread, UCX's progress in between.
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

  /// Runs `plan` to its end, the flush of what was sent included. @throws; the communicator is then failed
  void run(const Plan& plan, const Call& call);

 private:
  Loaded& load(const Built& built);
  void load_cells(Loaded& loaded) const;
  void load_streams(Loaded& loaded);
  void run_lanes(Loaded& loaded, const kernels::ProgramView& view);
  bool progress();
  void flush();

  Members& members_;
  Health& health_;
  Waiter& waiter_;
  std::unordered_map<const Built*, std::unique_ptr<Loaded>> loaded_;
  Loaded* last_ = nullptr;
  const Built* last_built_ = nullptr;
  std::array<std::vector<std::byte*>, kBanks> windows_;  ///< by rank: start of the slots
  std::unique_ptr<MemoryAgent> memory_;
  std::vector<std::unique_ptr<NetAgent>> net_;
};

}  // namespace umbel::runtime
