// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Broadcast down a 4-nomial tree.
//
// Idea. As the binomial tree, but whoever has the data hands it to three more ranks in each round: half as many steps,
// and three messages one after another in each. Where messages overlap, as small ones on a network do and flags inside
// a node do, that is quicker.
//
// Names. See trees.hpp. The members are the ranks from the root on, node by node (ranks_from()); a member's parent is
// itself without its lowest digit, to base 4, that is not zero.
//
// Steps: digits of p−1 to base 4, at the most; bytes sent by the root, the busiest rank, up to 3n a digit. Any p, any
// shape, any size.
// Determinism: nothing is computed.
// Source: Patarasuk, Faraj & Yuan, "Pipelined broadcast on Ethernet switched clusters", 2006; the k-nomial trees of
// MPICH.
#include "algos/broadcast/broadcast.hpp"
#include "algos/broadcast/trees.hpp"
#include "algos/order.hpp"

namespace umbel::algos::broadcast {
namespace {

std::vector<Tree> trees(const Shape& shape, const Spec& spec) {
  Tree tree(spec.root, shape.ranks());
  hang_all(tree, ranks_from(shape, spec.root), quadnomial_parent);
  tree.turn_around();
  return {tree};
}

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  return build_trees(rank, shape, spec, trees(shape, spec));
}
Traffic traffic(const Shape& shape, const Spec& spec) { return traffic_of(trees(shape, spec)); }
double cost(const CostQuery& query) { return cost_of(query, trees(query.shape, query.spec)); }

}  // namespace

Algorithm knomial() {
  return everywhere({.name = "knomial",
                     .summary = "down a tree of radix 4, in chunks",
                     .steps = "⌈log₄ p⌉ at the most",
                     .sent = "3n⌈log₄ p⌉ at the most",
                     .source = "MPICH; Patarasuk, Faraj & Yuan 2006",
                     .collective = Collective::broadcast},
                    {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::broadcast
