// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Reduce along a chain.
//
// Idea. The ranks stand in a chain that ends at the root; each folds what it gets with its own and hands it on, chunk
// by chunk. Every rank and every link carries the data once, the least possible, and all ranks fold at the same time;
// the price are p−1 steps until the root has the first chunk.
//
// Names. See trees.hpp. The chain goes node by node (ranks_from()): each group's border is crossed once in and once
// out.
//
// Steps p−1; bytes sent by every rank but the root n. Any p, any shape, any size.
// Determinism: each rank folds two operands, lower ranks first.
// Source: Patarasuk, Faraj & Yuan, "Pipelined broadcast on Ethernet switched clusters", 2006, the other way round.
#include "algos/order.hpp"
#include "algos/reduce/reduce.hpp"
#include "algos/reduce/trees.hpp"

namespace umbel::algos::reduce {
namespace {

constexpr Fold kFold = Fold::in_turn;

std::vector<Tree> trees(const Shape& shape, const Spec& spec) {
  Tree tree(spec.root, shape.ranks());
  hang_all(tree, ranks_from(shape, spec.root), chain_parent);
  return {tree};
}

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  return build_trees(rank, shape, spec, trees(shape, spec), kFold);
}
Traffic traffic(const Shape& shape, const Spec& spec) { return traffic_of(spec, trees(shape, spec)); }
bool canonical(const Shape& shape, const Spec& spec) { return canonical_of(shape, spec, trees(shape, spec), kFold); }
double cost(const CostQuery& query) { return cost_of(query, trees(query.shape, query.spec)); }

}  // namespace

Algorithm chain() {
  return everywhere({.name = "chain",
                     .summary = "along a chain, node by node, in chunks",
                     .steps = "p−1",
                     .sent = "n",
                     .source = "Patarasuk, Faraj & Yuan 2006",
                     .collective = Collective::reduce},
                    {build, traffic, canonical, cost});
}

}  // namespace umbel::algos::reduce
