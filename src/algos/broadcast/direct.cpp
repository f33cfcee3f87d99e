// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Direct broadcast, inside one node.
//
// Idea. The root shows its data, everybody copies it: one hop. A shared cache serves all readers.
//
// Names. See trees.hpp: the tree is a star, and chunks make the root's copying overlap with the others'.
//
// Steps 1; bytes that leave the root n(p−1), read by its mates. Any p up to 256, one node, any size.
// Determinism: nothing is computed.
// Source: the shared-memory broadcast of Graham & Shipman, "MPI support for multi-core architectures", 2008.
#include "algos/broadcast/broadcast.hpp"
#include "algos/broadcast/trees.hpp"
#include "algos/order.hpp"

namespace umbel::algos::broadcast {
namespace {

std::vector<Tree> trees(const Shape& shape, const Spec& spec) {
  Tree star(spec.root, shape.ranks());
  for (Rank rank : ranks_from(shape, spec.root))
    if (rank != spec.root) star.hang(rank, spec.root);
  return {star};
}

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  return build_trees(rank, shape, spec, trees(shape, spec));
}
Traffic traffic(const Shape& shape, const Spec& spec) { return traffic_of(trees(shape, spec)); }
double cost(const CostQuery& query) { return cost_of(query, trees(query.shape, query.spec)); }

}  // namespace

Algorithm direct() {
  return on_one_node({.name = "direct",
                      .summary = "the root shows, everyone copies, inside one node",
                      .steps = "1",
                      .sent = "n(p−1)",
                      .source = "Graham & Shipman 2008",
                      .collective = Collective::broadcast},
                     {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::broadcast
