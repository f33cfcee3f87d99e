// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Scatter by node leaders in bundles: the mirror image of the gather in bundles.
//
// Idea. All that the root has for a node goes there as one stream: the root writes the shares of the node's ranks one
// after another into slots, and sends each full slot as one message to a leader, out of whose slots its mates take
// their own. However the lengths of shares differ, no message but a node's last is shorter than a chunk.
//
// Names: lanes/bundles.hpp; the leader is a node's lowest rank. What needs no leader, the root's node and nodes of one
// rank, goes as in `linear` (lanes/pairs.hpp).
//
// Shares of different lengths. Of a scatterv the root knows all lengths, another rank its own. The leader must know its
// mates' and they their place among them: node-mates tell each other before the program starts (Binding::bundles).
//
// Steps 2 (1 where nodes have one rank); bytes that leave the root n(p−1), of n a share. Any p on two nodes or more,
// uneven nodes and racks included, any root, any sizes. Determinism: data is moved only.
// Source: Graham et al., "Cheetah: a framework for scalable hierarchical collective operations", 2011.
#include <algorithm>

#include "algos/cost.hpp"
#include "algos/lanes/pairs.hpp"
#include "algos/lanes/root_bundles.hpp"
#include "algos/scatter/scatter.hpp"

namespace umbel::algos::scatter {
namespace {

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  return build_root_bundles(Collective::scatter, rank, shape, spec);
}

Traffic traffic(const Shape& shape, const Spec& spec) {
  return {.steps = largest_bundle(shape, spec.root) > 0 ? 2 : 1, .sent = static_cast<double>(shape.ranks() - 1)};
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  const RootBundles all(query);
  if (all.largest == 0) return pairs_with_root_cost(query, Collective::scatter);
  const double n = t.bytes(), chunks = t.chunks(n);
  const double part = all.largest * n / t.chunks(all.largest * n);
  const double slots = all.mates * query.spec.depth * n / chunks;
  const double shows = query.spec.direct ? 2 * t.flags(all.mates) + t.read_direct(all.mates > 0 ? n : 0)
                                         : chunks * t.flags(all.mates) + all.mates * t.copy(n) * t.spill(slots);
  const double given = all.bundled * t.copy(n) * t.spill(2 * query.spec.depth * part);
  // Of the last chunk, its way out of the leader's slot.
  const double taken = 2 * t.flags(all.largest - 1) + t.read(std::min(n, part)) + t.post();
  return t.copy(part) + t.message() + (all.messages + all.alone * chunks) * t.post() +
         std::max(t.wire(n, all.bundled + all.alone), t.copy(n) + given + shows) + taken;
}

}  // namespace

Algorithm hierarchical_bundles() {
  return on_several_nodes({.name = "hierarchical_bundles",
                           .summary = "each node's shares reach it one after another as one stream of chunks",
                           .steps = "2",
                           .sent = "n(p−1)",
                           .source = "Graham et al. 2011",
                           .collective = Collective::scatter,
                           .unequal = Unequal::staged},
                          {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::scatter
