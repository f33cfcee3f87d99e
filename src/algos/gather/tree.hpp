// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Gather up a tree, chunk by chunk: what `binomial` and `hierarchical` have in common. They differ in the tree.
//
// A rank with children packs a chunk of its own share and of every share below it in one window slot, in the order of
// RankTree::subtree: what comes from other nodes is received in its place there, what node-mates show is copied. The
// packed chunk is one message to the parent, or is shown to it. The root unpacks into its output; shares of single
// ranks of other nodes are received there.
#pragma once

#include "algos/algorithm.hpp"
#include "algos/lanes/rank_tree.hpp"

namespace umbel::algos::gather {

Program build_tree(Rank rank, const Shape& shape, const Spec& spec, const RankTree& tree);
Traffic tree_traffic(const RankTree& tree);
double tree_cost(const CostQuery& query, const RankTree& tree);

}  // namespace umbel::algos::gather
