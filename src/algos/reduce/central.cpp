// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Central reduce, inside one node: for small messages.
//
// Idea. Everybody shows its data, the root folds all in one go. One hop, the least there is; but the root alone folds,
// and reads all n(p−1) bytes.
//
// Names. See trees.hpp: the tree is a star with the root at its top.
//
// Steps 1; bytes that leave every other rank n, read by the root. Any p up to 256, one node, any size.
// Determinism: one fold in rank order, rounded once; or, `ordered`, as the canonical tree.
// Source: Graham & Shipman, "MPI support for multi-core architectures", 2008.
#include "algos/order.hpp"
#include "algos/reduce/reduce.hpp"
#include "algos/reduce/trees.hpp"

namespace umbel::algos::reduce {
namespace {

std::vector<Tree> trees(const Shape& shape, const Spec& spec) {
  Tree star(spec.root, shape.ranks());
  for (Rank rank = 0; rank < shape.ranks(); ++rank)
    if (rank != spec.root) star.hang(rank, spec.root);
  return {star};
}

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  return build_trees(rank, shape, spec, trees(shape, spec), Fold::at_once);
}
Traffic traffic(const Shape& shape, const Spec& spec) { return traffic_of(spec, trees(shape, spec)); }
double cost(const CostQuery& query) { return cost_of(query, trees(query.shape, query.spec)); }

}  // namespace

Algorithm central() {
  return on_one_node({.name = "central",
                      .summary = "everyone shows, the root folds, inside one node",
                      .steps = "1",
                      .sent = "n",
                      .source = "Graham & Shipman 2008",
                      .collective = Collective::reduce},
                     {build, traffic, folds_at_once, cost});
}

}  // namespace umbel::algos::reduce
