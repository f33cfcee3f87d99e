// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// One ring of members, each of which reduces and hands on chunk by chunk: what `ring` does with all ranks and
// `hierarchical_ring` with the owners of a shard. ring.cpp tells the idea and the names.
#pragma once

#include <vector>

#include "algos/builder.hpp"
#include "algos/cost.hpp"

namespace umbel::algos::all_reduce {

struct RingSetup {
  std::vector<Rank> members;   ///< around the ring
  std::vector<Rank> lowest;    ///< the lowest rank that each stands for
  int first_block = 0;         ///< the ring reduces as many blocks as it has members, from here
  Buffer own = Buffer::input;  ///< where the own operand lies
  int kind = 0;                ///< two kinds of semaphores
  int region = 0;
  int slot = 0;  ///< first of ring_slots()
  int depth = 1;
  int channel = 0;
  Wait first{};    ///< optional: signalled when a chunk of block `here` of the own operand is there
  Wait partial{};  ///< the same for the blocks after it: here−1, here−2, …
  Raise done{};    ///< optional: to raise when a chunk of the result is in the output: here+1, here, here−1, …
};

constexpr int ring_slots(int depth) { return 2 * depth; }

/// Writes the lanes of one member. @pre at least two members
void write_ring(Builder& builder, const RingSetup& setup);

/// Seconds that a ring of `members` over a network takes for blocks of `block` bytes; `sharers` rings share a node's
/// link.
double ring_cost(const CostQuery& query, int members, double block, int sharers);

}  // namespace umbel::algos::all_reduce
