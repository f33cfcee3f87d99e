// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Ring all-reduce.
//
// Idea. The ranks stand in a ring, node by node, so that each node's border is crossed once in and once out. The data
// is cut in p blocks. Reduce-scatter: each block travels once around and collects every rank's share, so that after p−1
// steps each rank holds one finished block. All-gather: the finished blocks travel around once more. All links carry
// 1/p of the data in every step; no schedule moves fewer bytes per rank.
//
// Names. `here` is a rank's position in the ring, `left` and `right` its neighbours. Step s of the reduce-scatter sends
// block here−s and folds block here−s−1 from the left into the output; step t of the all-gather sends block here+1−t
// and receives block here−t. Steps go over chunks innermost, so a chunk moves on as soon as it is folded. `channels`
// rings run side by side on blocks of their own; every second one runs the other way.
//
// Steps 2(p−1); bytes sent per rank 2n(p−1)/p. Any p, any shape, any size.
// Determinism: each block is folded once, in ring order, lower ranks' operand first, and then copied.
// Partial sums lie in the output: a block is sent straight from there, and an all-gather message is received straight
// into the output as soon as the same block's partial sum has left (`reusable`).
// Source: Patarasuk & Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009.
#include <algorithm>

#include "algos/all_reduce/all_reduce.hpp"
#include "algos/all_reduce/ring_lanes.hpp"
#include "algos/canonical.hpp"
#include "algos/cost.hpp"
#include "algos/order.hpp"

namespace umbel::algos::all_reduce {
namespace {

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  const int p = shape.ranks();
  if (p == 1) return alone(shape);
  Builder b(rank, shape, {.blocks = p * spec.channels, .chunks = true}, 2 * spec.channels);
  const int region = b.region(spec.channels * ring_slots(spec.depth));
  for (int channel = 0; channel < spec.channels; ++channel) {
    RingSetup setup{.members = ranks_in_order(shape), .lowest = {}};
    if (channel % 2 == 1) std::ranges::reverse(setup.members);
    setup.lowest = setup.members;
    setup.first_block = channel * p;
    setup.kind = 2 * channel;
    setup.region = region;
    setup.slot = channel * ring_slots(spec.depth);
    setup.depth = spec.depth;
    setup.channel = channel;
    write_ring(b, setup);
  }
  return b.finish();
}

Traffic traffic(const Shape& shape, const Spec&) {
  const int p = shape.ranks();
  return {.steps = 2 * (p - 1), .sent = 2.0 * (p - 1) / p};
}

bool canonical(const Shape& shape, const Spec&) {
  return folds_around_canonically(spans_of(ranks_in_order(shape)), shape);
}

double cost(const CostQuery& query) {
  const CostTerms terms(query);
  const int p = terms.ranks();
  if (p == 1) return terms.copy(terms.bytes());
  const int rings = query.spec.channels;
  const double block = terms.bytes() / p / rings;
  const double chunks = terms.chunks(block);
  // Its slots and its left neighbour's go through a rank's cache.
  const double spill = terms.spill(2 * query.spec.depth * block / chunks) - 1;
  const double local = (p - 1) * rings *
                       (terms.local_hop(block, chunks, true) + terms.local_hop(block, chunks, false) +
                        2 * spill * (terms.copy(block) + terms.read(block)));
  return terms.one_node() ? local : std::max(ring_cost(query, p, block, rings), local);
}

}  // namespace

Algorithm ring() {
  return everywhere({.name = "ring",
                     .summary = "reduce-scatter and all-gather around a ring, node by node",
                     .steps = "2(p−1)",
                     .sent = "2n(p−1)/p",
                     .source = "Patarasuk & Yuan 2009"},
                    {build, traffic, canonical, cost});
}

}  // namespace umbel::algos::all_reduce
