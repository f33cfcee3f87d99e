// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Broadcast down two binary trees at once.
//
// Idea. In a binary tree the leaves, half of the ranks, hand nothing on. Two trees are laid over the ranks such that
// the inner ranks of one are leaves of the other; each takes half of the data. So every rank sends about as much as it
// gets, in logarithmic depth.
//
// Names. See trees.hpp. The root stands in front of both trees, which are laid over the others (double_tree_place()),
// node by node (ranks_from()): it hands each half to the top of a tree.
//
// Steps 1 + ⌊log₂(p−1)⌋; bytes sent by the busiest rank n: the root, or an inner rank. Any p, any shape, any size.
// Determinism: nothing is computed.
// Source: Sanders, Speck & Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", 2009.
#include "algos/broadcast/broadcast.hpp"
#include "algos/broadcast/trees.hpp"
#include "algos/order.hpp"

namespace umbel::algos::broadcast {
namespace {

std::vector<Tree> trees(const Shape& shape, const Spec& spec) {
  return double_trees(spec.root, ranks_from(shape, spec.root));
}

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  return build_trees(rank, shape, spec, trees(shape, spec));
}
Traffic traffic(const Shape& shape, const Spec& spec) { return traffic_of(trees(shape, spec)); }
double cost(const CostQuery& query) { return cost_of(query, trees(query.shape, query.spec)); }

}  // namespace

Algorithm double_tree() {
  return everywhere({.name = "double_tree",
                     .summary = "two complementary binary trees, half of the data each, in chunks",
                     .steps = "1 + ⌊log₂(p−1)⌋",
                     .sent = "n",
                     .source = "Sanders, Speck & Träff 2009",
                     .collective = Collective::broadcast},
                    {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::broadcast
