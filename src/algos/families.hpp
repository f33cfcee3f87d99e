// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// What algorithms make their entries in the catalog with: which shapes they serve, in which order they fold.
#pragma once

#include "algos/algorithm.hpp"

namespace umbel::algos {

/// What an algorithm says of itself; see Algorithm.
struct Words {
  std::string_view name, summary, steps, sent, source;
  Collective collective = Collective::all_reduce;
  Unequal unequal = Unequal::never;
};
struct Functions {
  decltype(Algorithm::build) build;
  decltype(Algorithm::traffic) traffic;
  decltype(Algorithm::canonical) canonical;
  decltype(Algorithm::cost) cost;
};
/// An algorithm that serves every shape, one node, shapes of at least two nodes, a power of two of ranks, or an even
/// number of them (or one).
Algorithm everywhere(const Words& words, const Functions& functions);
Algorithm on_one_node(const Words& words, const Functions& functions);
Algorithm on_several_nodes(const Words& words, const Functions& functions);
Algorithm on_powers_of_two(const Words& words, const Functions& functions);
Algorithm on_even_ranks(const Words& words, const Functions& functions);

/// For collectives that do not reduce.
bool folds_nothing(const Shape& shape, const Spec& spec);
/// For algorithms that fold each element from rank 0 to the last: with three ranks that is still the canonical tree.
bool folds_in_rank_order(const Shape& shape, const Spec& spec);
/// The same for those that fold all ranks' operands at once, and so as a tree where that is asked for.
bool folds_at_once(const Shape& shape, const Spec& spec);

}  // namespace umbel::algos
