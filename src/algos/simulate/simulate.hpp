// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// How long a call takes on a described cluster, by running the programs of all its ranks, event by event. Nothing here
// knows what an algorithm is for, and nothing is taken from the costs: the two can contradict each other.
//
// What is modelled, as the executor does it:
//   threads   A rank's lanes run on one thread by turns: a lane goes on until it must wait, or has moved 128 KiB, or
//             done 64 instructions. Before each round the thread sees to what the network has brought. A thread with
//             nothing to do costs nothing; threads share the node's cores.
//   flags     cost the signalling thread a moment and are seen a moment later. Between lanes of a rank they are free.
//   memory    Copies and folds take their time per byte, by where the bytes come from; more where the windows do not
//             fit the cache; all of a node share the memory bus.
//   messages  leave at once, one after the other from one rank to another; those of different pairs share rails and
//             uplinks max–min fairly. They arrive whether or not the receive is posted (unless they are longer than
//             Cluster::eager_bytes), cost both threads a moment, and complete in their lane's order.
// All ranks begin at 0. The same inputs give the same times.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "algos/algorithm.hpp"
#include "algos/simulate/cluster.hpp"

namespace umbel::algos::simulate {

struct Outcome {
  std::string refused;          ///< why there is no result; empty when there is
  double seconds = 0;           ///< when the last rank is done
  double busiest_thread_s = 0;  ///< how long the busiest rank's thread worked
  double busiest_link_s = 0;    ///< how long the most loaded rail or uplink would take at full speed
  bool shared = false;          ///< whether any message, copy or thread was ever slowed down by another
  std::uint64_t messages = 0;
  std::uint64_t instructions = 0;
};

/// What may be spent on a run; beyond it, it is refused.
struct Limits {
  std::uint64_t instructions = 50'000'000;
};

/// Runs one program per rank with one binding.
Outcome run(std::span<const Program> programs, const Binding& binding, const Shape& shape, const Cluster& cluster,
            const Limits& limits = {});

/// Builds the programs and runs them.
/// @param count as of bind()
Outcome run(const Algorithm& algorithm, const Shape& shape, const Spec& spec, std::uint64_t count,
            std::size_t elem_bytes, const Cut& cut, const Cluster& cluster, const Limits& limits = {});

}  // namespace umbel::algos::simulate
