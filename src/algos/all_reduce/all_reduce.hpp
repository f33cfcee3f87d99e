// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// One function per all-reduce algorithm; catalog.cpp lists them.
#pragma once

#include "algos/algorithm.hpp"
#include "algos/canonical.hpp"
#include "algos/order.hpp"

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

/// For algorithms that serve every shape.
inline std::string serves_all(const Shape&, const Spec&) { return {}; }
/// For algorithms that fold each element from rank 0 to the last: with three ranks that is still the canonical tree.
inline bool folds_in_rank_order(const Shape& shape) { return fold(spans_of(ranks_ascending(shape))).canonical(shape); }

}  // namespace umbel::algos::all_reduce
