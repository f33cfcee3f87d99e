// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// What it takes to call an algorithm right on a shape: the checker's runs over sizes, in-place masks and sequences.
#pragma once

#include "algos/check/checker.hpp"

namespace umbel::algos::check {

/// How much is run for one (algorithm, shape, spec).
enum class Effort : std::uint8_t {
  quick,  ///< the runs that find most: a sequence of three with several chunks, tiny counts, the formula
  full,   ///< chunks and pieces ∈ {1, 2, depth, depth + 1}, even and uneven blocks, all in-place masks
};

/// What was shown, added up over any number of proofs.
struct Proof {
  std::optional<Finding> finding;  ///< the first defect; its text begins with algorithm, shape and spec
  std::uint64_t programs = 0;      ///< ranks' programs
  std::uint64_t runs = 0;
  std::uint64_t instructions = 0;
  std::uint64_t elements = 0;
  bool canonical = true;  ///< qualifies for the reproducible mode
  void add(const Proof& other);
};

/// The programs of all ranks.
std::vector<Program> build_all(const Algorithm& algorithm, const Shape& shape, const Spec& spec);

/// Runs the programs in all the ways of `effort`. `traffic`: the documented figures, or null.
Proof prove_programs(const Setting& setting, std::span<const Program> programs, int depth, Effort effort,
                     const Traffic* traffic);

/// Builds and proves, for shares of unequal lengths too if the algorithm serves them. @pre the algorithm does not
/// refuse.
Proof prove(const Algorithm& algorithm, const Shape& shape, const Spec& spec, Effort effort);

/// What an operation of a sequence runs.
struct Choice {
  const Algorithm& algorithm;
  Spec spec;
};

/// One operation of `first`, then of `second`, and both again: different programs share banks. A run changes between
/// algorithms from call to call, and between specs: staged and direct as the cost model has it, in reproducible mode
/// plain and ordered as the type has it.
Proof prove_sequence(const Choice& first, const Choice& second, const Shape& shape);

/// A placement with the name that reports use.
struct NamedShape {
  std::string name;
  Shape shape;
};

/// Placements of `ranks` ranks: one node; two nodes, even and uneven; cyclic; reversed; one rank a node; three and four
/// levels, with even and uneven racks; random ones. No two equal.
std::vector<NamedShape> shapes_of(int ranks);

/// "0,0,1,1": the node of each rank, as UMBEL_NODES takes it.
std::string text_of(const Shape& shape);

}  // namespace umbel::algos::check
