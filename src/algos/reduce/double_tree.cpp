// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Reduce up two binary trees at once.
//
// Idea. In a binary tree the leaves, half of the ranks, fold nothing. Two trees are laid over the ranks such that the
// inner ranks of one are leaves of the other; each takes half of the data. So every rank folds about as much as any
// other, in logarithmic depth.
//
// Names. See trees.hpp. The root stands in front of both trees, which are laid over the others (double_tree_place()),
// node by node (ranks_from()): it folds each half with what the top of a tree sends.
//
// Steps 1 + ⌊log₂(p−1)⌋; bytes sent by every rank but the root n. Any p, any shape, any size.
// Determinism: each rank folds its own operand and its children's in turn, lower ranks first.
// Source: Sanders, Speck & Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", 2009.
#include "algos/order.hpp"
#include "algos/reduce/reduce.hpp"
#include "algos/reduce/trees.hpp"

namespace umbel::algos::reduce {
namespace {

constexpr Fold kFold = Fold::in_turn;

std::vector<Tree> trees(const Shape& shape, const Spec& spec) {
  return double_trees(spec.root, ranks_from(shape, spec.root));
}

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  return build_trees(rank, shape, spec, trees(shape, spec), kFold);
}
Traffic traffic(const Shape& shape, const Spec& spec) { return traffic_of(spec, trees(shape, spec)); }
bool canonical(const Shape& shape, const Spec& spec) { return canonical_of(shape, spec, trees(shape, spec), kFold); }
double cost(const CostQuery& query) { return cost_of(query, trees(query.shape, query.spec)); }

}  // namespace

Algorithm double_tree() {
  return everywhere({.name = "double_tree",
                     .summary = "two complementary binary trees, half of the data each, in chunks",
                     .steps = "1 + ⌊log₂(p−1)⌋",
                     .sent = "n",
                     .source = "Sanders, Speck & Träff 2009",
                     .collective = Collective::reduce},
                    {build, traffic, canonical, cost});
}

}  // namespace umbel::algos::reduce
