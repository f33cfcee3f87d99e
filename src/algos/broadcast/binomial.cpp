// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Broadcast down a binomial tree.
//
// Idea. Whoever has the data hands it to one more rank in each round, so that twice as many have it after each.
//
// Names. See trees.hpp. The members of the tree are the ranks from the root on, node by node (ranks_from()): a member's
// parent is itself without its lowest set bit, and the largest subtrees, on other nodes mostly, are served first.
//
// Steps ⌊log₂ p⌋: the member farthest from the root has that many bits set. Bytes sent by the root, the busiest rank,
// n⌈log₂ p⌉. Any p, any shape, any size.
// Determinism: nothing is computed.
// Source: Thakur, Rabenseifner & Gropp, "Optimization of collective communication operations in MPICH", 2005.
#include "algos/broadcast/broadcast.hpp"
#include "algos/broadcast/trees.hpp"
#include "algos/order.hpp"

namespace umbel::algos::broadcast {
namespace {

std::vector<Tree> trees(const Shape& shape, const Spec& spec) {
  Tree tree(spec.root, shape.ranks());
  hang_all(tree, ranks_from(shape, spec.root), binomial_parent);
  tree.turn_around();
  return {tree};
}

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  return build_trees(rank, shape, spec, trees(shape, spec));
}
Traffic traffic(const Shape& shape, const Spec&) {
  return {.steps = floor_log2(shape.ranks()), .sent = static_cast<double>(ceil_log2(shape.ranks()))};
}
double cost(const CostQuery& query) { return cost_of(query, trees(query.shape, query.spec)); }

}  // namespace

Algorithm binomial() {
  return everywhere({.name = "binomial",
                     .summary = "down a binomial tree, in chunks",
                     .steps = "⌊log₂ p⌋",
                     .sent = "n⌈log₂ p⌉",
                     .source = "Thakur, Rabenseifner & Gropp 2005",
                     .collective = Collective::broadcast},
                    {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::broadcast
