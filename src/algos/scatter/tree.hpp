// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Scatter down a tree, chunk by chunk: what `binomial` and `hierarchical` have in common. They differ in the tree.
//
// The root packs a chunk of every share below a child in one window slot, in the order of RankTree::subtree, child
// after child. Children of the node read their part of the slot, the others are sent theirs as one message; single
// ranks of other nodes are sent their share from the input. A rank with children keeps what it gets for them in a slot
// of its own, from which it hands on in the same way.
#pragma once

#include "algos/algorithm.hpp"
#include "algos/lanes/rank_tree.hpp"

namespace umbel::algos::scatter {

Program build_tree(Rank rank, const Shape& shape, const Spec& spec, const RankTree& tree);
Traffic tree_traffic(const RankTree& tree);
double tree_cost(const CostQuery& query, const RankTree& tree);

}  // namespace umbel::algos::scatter
