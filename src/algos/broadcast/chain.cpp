// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Broadcast along a chain.
//
// Idea. The ranks stand in a chain that begins with the root; each hands on what it gets, chunk by chunk. Every rank
// and every link carries the data once, so for long messages nothing moves fewer bytes through the busiest place; the
// price are p−1 steps until the last rank has the first chunk.
//
// Names. See trees.hpp. The chain goes node by node (ranks_from()): each group's border is crossed once in and once
// out.
//
// Steps p−1; bytes sent per rank n. Any p, any shape, any size.
// Determinism: nothing is computed.
// Source: Patarasuk, Faraj & Yuan, "Pipelined broadcast on Ethernet switched clusters", 2006.
#include "algos/broadcast/broadcast.hpp"
#include "algos/broadcast/trees.hpp"
#include "algos/order.hpp"

namespace umbel::algos::broadcast {
namespace {

std::vector<Tree> trees(const Shape& shape, const Spec& spec) {
  Tree tree(spec.root, shape.ranks());
  hang_all(tree, ranks_from(shape, spec.root), chain_parent);
  return {tree};
}

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  return build_trees(rank, shape, spec, trees(shape, spec));
}
Traffic traffic(const Shape& shape, const Spec& spec) { return traffic_of(trees(shape, spec)); }
double cost(const CostQuery& query) { return cost_of(query, trees(query.shape, query.spec)); }

}  // namespace

Algorithm chain() {
  return everywhere({.name = "chain",
                     .summary = "along a chain, node by node, in chunks",
                     .steps = "p−1",
                     .sent = "n",
                     .source = "Patarasuk, Faraj & Yuan 2006",
                     .collective = Collective::broadcast},
                    {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::broadcast
