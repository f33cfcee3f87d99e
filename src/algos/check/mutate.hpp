// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The checker's own test: break an algorithm in every small way and see that the checker objects.
#pragma once

#include "algos/check/prove.hpp"

namespace umbel::algos::check {

/// A way to break one instruction.
enum class Mutation : std::uint8_t {
  drop,          ///< the instruction is gone
  peer,          ///< message or signal to the neighbour of its peer
  shift,         ///< a slice names the next elements
  slot,          ///< a slot is reused: always the first, another turn, one credit more
  closing,       ///< a semaphore never blocks; the last waits and signals of a lane are gone
  source_order,  ///< two operands swapped
  final,         ///< the last fold is marked wrongly
};
std::string_view name_of(Mutation mutation) noexcept;

/// A mutant that nothing objected to.
struct Survivor {
  std::string text;           ///< algorithm, shape, rank, lane, instruction, mutation
  std::string justification;  ///< why it is no worse than the original; empty: not known, so the checker missed it
};

struct MutationTally {
  std::uint64_t killed = 0;
  std::uint64_t equivalent = 0;  ///< survivors with a justification
  std::uint64_t total = 0;
  std::vector<Survivor> survivors;
  void add(const MutationTally& other);
};

/// Every mutation of every instruction of every rank (of every `stride`-th mutant). @pre prove() finds nothing.
MutationTally mutate(const Algorithm& algorithm, const Shape& shape, const Spec& spec, unsigned stride = 1);

}  // namespace umbel::algos::check
