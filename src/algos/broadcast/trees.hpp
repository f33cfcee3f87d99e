// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Broadcast down trees: what all broadcasts but `scatter_all_gather` are. They differ in the trees.
//
// The data is cut in as many blocks as there are trees; each block goes down its tree, chunk by chunk. The root copies
// a chunk from its input to its output and hands it on from there; everybody else gets it into its output and hands it
// on.
//
// Handing on. Node-mates all read the same window slot, which the sender fills from its output; with `direct` they read
// the sender's output itself, and the sender stays until all of them have left. To other nodes a chunk is sent from the
// output, and there received straight into the output.
//
// Lanes. The root has one set for all trees. So have the others for the trees in which they are leaves; where a rank
// hands on, it has a set for that tree alone, so that no tree waits for another.
#pragma once

#include <vector>

#include "algos/algorithm.hpp"
#include "algos/lanes/tree.hpp"

namespace umbel::algos::broadcast {

/// The whole program. @pre every tree holds all ranks, and the root is Spec::root.
Program build_trees(Rank rank, const Shape& shape, const Spec& spec, const std::vector<Tree>& trees);

Traffic traffic_of(const std::vector<Tree>& trees);

/// Seconds, by a schedule of what the lanes do (schedule.hpp).
double cost_of(const CostQuery& query, const std::vector<Tree>& trees);

}  // namespace umbel::algos::broadcast
