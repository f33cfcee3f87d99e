// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The symbolic checker: runs the programs of all ranks side by side on symbols instead of numbers.
//
//   values   each element of each buffer holds an expression over "rank r's input element e", so that a wrong operand,
//   a
//            contribution that is missing or counted twice, a wrong order or a wrong rounding point shows in the result
//   clocks   every lane, and every lane's transfers, carry a vector clock; two accesses to an element, one of them a
//            write, must be ordered by lane order, semaphores, messages or completions, whatever the timing
//   progress a send completes only when its receive is posted, so a program that needs a buffer in the network stalls
//   here
//
// A program is a deterministic network (a semaphore has one signalling and one waiting side, messages match in order),
// so one schedule stands for all: what is found, or not found, here holds for every timing.
//
// Before and after each operation the caller writes all user buffers, inputs too; a program that lets a rank return
// while a peer or a transfer still reads its buffers is found. Operations follow one another under the bank rule:
// operation n uses bank n mod 2 (window and semaphores) and starts on a rank when all its local peers have finished
// operation n − 2.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "algos/algorithm.hpp"
#include "base/program.hpp"
#include "base/shape.hpp"

namespace umbel::algos::check {

/// What is wrong.
enum class Fault : std::uint8_t {
  malformed,  ///< not a program: loops, indices into tables, lane kinds, ranks that disagree
  bounds,     ///< outside a buffer, a slot, a region
  ownership,  ///< writes an input or a peer's user buffer, reaches memory of another node, a semaphore with two sides
  race,       ///< two accesses that nothing orders
  deadlock,   ///< ranks wait for one another for ever, or for a signal or message that never comes
  unmatched,  ///< a message that nobody receives, or of another length than its receive
  semaphore,  ///< signals left over at the end
  value,      ///< reads what nobody wrote, or combines different elements
  order,      ///< operands that are not lower rank first
  result,     ///< an output that is not what the collective says: of a reduction every rank's input once, the same on
              ///< all ranks; or a rank that can finish before another one has begun where that must not be
  formula,    ///< steps or bytes differ from the documented ones
  canonical,  ///< results are the canonical tree where the catalog says that they are not, or the reverse
};
std::string_view name_of(Fault fault) noexcept;

/// A defect: algorithm-independent text that names the rank, the lane, the instruction and what conflicts with what.
struct Finding {
  Fault fault = Fault::malformed;
  std::string text;
};

/// One call of a collective: the programs of all ranks and what is bound to them.
struct Operation {
  std::span<const Program> programs;  ///< one per rank
  std::uint64_t count = 0;            ///< of a ranked collective, of one share
  std::uint64_t piece = 0;            ///< elements per piece; 0: the whole call
  std::uint64_t chunk = 0;            ///< elements per chunk; 0: the whole run
  std::uint32_t granule = 1;
  std::uint64_t in_place = 0;  ///< bit r mod 64: rank r calls in-place
  /// Of a v-form: elements of the shares, by rank; of an all-to-all by giver, then taker. Empty: all have `count`. In a
  /// v-form nobody need wait for everybody.
  std::span<const std::uint64_t> shares{};
};

/// How the ranks are placed, and what the checker may assume and must demand.
struct Setting {
  const Shape& shape;
  bool direct = false;      ///< local peers may read each other's user buffers
  bool lower_first = true;  ///< demand operands in the order of the lowest rank they contain
  bool explain = true;      ///< write the text of a finding (costly: mutants do without)
  Rank ahead = -1;          ///< a rank that runs whenever it can, so that values show what happens when it is early
  Rank behind = -1;         ///< a rank that runs only when no other can
};

/// What a run without a finding showed.
struct Report {
  std::optional<Finding> finding;
  int steps = 0;                   ///< longest chain of transfers between ranks that an output depends on
  std::uint64_t sent = 0;          ///< elements that leave the busiest rank, over all operations
  bool canonical = false;          ///< every output is the balanced binary tree over rank numbers
  std::uint64_t instructions = 0;  ///< executed
  std::uint64_t elements = 0;      ///< output elements whose expression was compared
  std::uint64_t behaviour = 0;  ///< hash of every access, message, signal and wait: equal for programs that do the same
};

/// Runs the operations one after another on every rank, each rank as fast as it may. Stops at the first finding.
Report run(const Setting& setting, std::span<const Operation> operations);

/// Looks at the programs of one operation without running them: tables, loops, ownership, sides of semaphores.
std::optional<Finding> inspect(const Setting& setting, std::span<const Program> programs);

}  // namespace umbel::algos::check
