// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// One function per all-reduce algorithm, which catalog.cpp lists; and what they make their entries with.
#pragma once

#include "algos/algorithm.hpp"

namespace umbel::algos::all_reduce {

Algorithm central();
Algorithm ring();
Algorithm recursive_doubling();
Algorithm halving_doubling();
Algorithm double_tree();
Algorithm reduce_broadcast();
Algorithm one_shot();
Algorithm two_shot();
Algorithm hierarchical_ring();
Algorithm hierarchical_tree();
Algorithm hierarchical_hd();
Algorithm hierarchical_leader();

/// What an algorithm says of itself; see Algorithm.
struct Words {
  std::string_view name, summary, steps, sent, source;
};
struct Functions {
  decltype(Algorithm::build) build;
  decltype(Algorithm::traffic) traffic;
  decltype(Algorithm::canonical) canonical;
  decltype(Algorithm::cost) cost;
};
/// An algorithm that serves every shape, one node, or shapes of at least two nodes.
Algorithm everywhere(const Words& words, const Functions& functions);
Algorithm on_one_node(const Words& words, const Functions& functions);
Algorithm on_several_nodes(const Words& words, const Functions& functions);

/// For algorithms that fold each element from rank 0 to the last: with three ranks that is still the canonical tree.
bool folds_in_rank_order(const Shape& shape);

}  // namespace umbel::algos::all_reduce
