// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Gather by node leaders in bundles: for small and medium shares on several nodes, and for shares of different lengths.
//
// Idea. All that a node has for the root leaves it as one stream: its ranks write their shares one after another into
// slots of a leader, which sends each full slot as one message. Where shares together are shorter than a chunk that is
// one message a node; however they differ, no message but a node's last is shorter than a chunk.
//
// Names: lanes/bundles.hpp; the leader is a node's lowest rank, and the root takes its shares out of the chunks. What
// needs no leader, the root's node and nodes of one rank, goes as in `linear` (lanes/pairs.hpp).
//
// Shares of different lengths. Of a gatherv the root knows all lengths, another rank its own. The leader must know its
// mates' and they their place among them: node-mates tell each other before the program starts (Binding::bundles).
// Leaders and root then know the same of a bundle.
//
// Steps 2 (1 where nodes have one rank); bytes that leave the busiest rank, a leader, n for each rank of its node, of n
// a share. Any p on two nodes or more, uneven nodes and racks included, any root, any sizes. Determinism: data is moved
// only. Source: Graham et al., "Cheetah: a framework for scalable hierarchical collective operations", 2011.
#include <algorithm>

#include "algos/cost.hpp"
#include "algos/gather/gather.hpp"
#include "algos/lanes/pairs.hpp"
#include "algos/lanes/root_bundles.hpp"

namespace umbel::algos::gather {
namespace {

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  return build_root_bundles(Collective::gather, rank, shape, spec);
}

Traffic traffic(const Shape& shape, const Spec& spec) {
  const int largest = largest_bundle(shape, spec.root);
  return {.steps = largest > 0 ? 2 : 1, .sent = static_cast<double>(std::max(1, largest))};
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  const RootBundles all(query);
  if (all.largest == 0) return pairs_with_root_cost(query, Collective::gather);
  const double n = t.bytes(), chunks = t.chunks(n);
  const double part = all.largest * n / t.chunks(all.largest * n);
  const double reads = query.spec.direct ? t.flags(all.mates) + all.mates * t.read_direct(n)
                                         : chunks * t.flags(all.mates) + all.mates * t.read(n);
  // Of the first chunk, its way into the leader's slot; of the last, that out of the root's.
  const double given = 2 * t.flags(all.largest - 1) + t.read(std::min(n, part)) + t.post();
  const double taken = all.bundled * t.copy(n) * t.spill(2 * query.spec.depth * part);
  return given + t.message() + (all.messages + all.alone * chunks) * t.post() +
         std::max(t.wire(n, all.bundled + all.alone), t.copy(n) + taken + reads) + t.copy(part);
}

}  // namespace

Algorithm hierarchical_bundles() {
  return on_several_nodes({.name = "hierarchical_bundles",
                           .summary = "each node's shares leave it one after another as one stream of chunks",
                           .steps = "2",
                           .sent = "n for each rank of the largest node below the root",
                           .source = "Graham et al. 2011",
                           .collective = Collective::gather,
                           .unequal = Unequal::always},
                          {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::gather
