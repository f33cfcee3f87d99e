// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Reduce up trees: what all reduces but `reduce_scatter_gather` are. They differ in the trees.
//
// The data is cut in as many blocks as there are trees; each block goes up its tree, chunk by chunk. A member folds its
// own operand and its children's into a window slot, which its parent reads if it is a node-mate, or which is sent to
// it. The top of a tree folds into the output, if it is the root of the reduce, or into a slot that the root, then a
// node-mate, copies to its output.
//
// Leaves. A leaf shows its input to its parent in a slot, or, with `direct`, where it lies: it says that it has
// `entered`, and stays until the parent, done with all chunks, has said so. To other nodes it is sent from the input.
//
// Lanes. All trees in which a rank is a leaf share a set; so do all results that the root copies. Where a rank folds it
// has a set for that tree alone.
#pragma once

#include <vector>

#include "algos/algorithm.hpp"
#include "algos/lanes/tree.hpp"
#include "algos/reduce/folds.hpp"

namespace umbel::algos::reduce {

/// The whole program. @pre every tree holds all ranks, and its top is Spec::root or of the same node.
Program build_trees(Rank rank, const Shape& shape, const Spec& spec, const std::vector<Tree>& trees, Fold fold);

Traffic traffic_of(const Spec& spec, const std::vector<Tree>& trees);

bool canonical_of(const Shape& shape, const Spec& spec, const std::vector<Tree>& trees, Fold fold);

/// Seconds, by a schedule of what the lanes do (schedule.hpp).
double cost_of(const CostQuery& query, const std::vector<Tree>& trees);

}  // namespace umbel::algos::reduce
