// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Ring reduce-scatter.
//
// Idea. The ranks stand in a ring, node by node and group by group, so that each border is crossed once in and once
// out. Share q starts at the rank behind its owner, travels once around, collects every rank's operand, and is finished
// by its owner. All links carry one share at a time, and no schedule moves fewer bytes per rank.
//
// Names. `here` is a rank's position in the ring, `left` and `right` its neighbours; blocks are numbered along the
// ring (Program::order), so that the share of position q is block q. Step s sends share here−1−s: the own operand in
// step 0, then what was folded from the own operand and the partial sum that came from the left in the step before. The
// output holds the own share alone, so partial sums lie in window slots (lanes/fold_ring.hpp); shares are cut in
// `depth` parts. `channels` rings run side by side on parts of their own; every second one runs the other way.
//
// Steps p−1; bytes sent per rank n(p−1), for shares of n. Any p, any shape, any size.
// Determinism: each element is folded once a rank, in ring order, lower ranks' operand first.
// Source: Patarasuk & Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009.
#include <algorithm>

#include "algos/canonical.hpp"
#include "algos/cost.hpp"
#include "algos/lanes/fold_ring.hpp"
#include "algos/order.hpp"
#include "algos/reduce_scatter/reduce_scatter.hpp"

namespace umbel::algos::reduce_scatter {
namespace {

constexpr int kKinds = 2;  // of a channel

/// The ranks around the ring of a channel.
std::vector<Rank> ring_of(const Shape& shape, int channel) {
  std::vector<Rank> ring = ranks_in_order(shape);
  if (channel % 2 == 1) std::ranges::reverse(ring);
  return ring;
}

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  if (shape.ranks() == 1) return alone(shape, Collective::reduce_scatter);
  Builder b(rank, shape,
            {.collective = Collective::reduce_scatter,
             .blocks = spec.channels * spec.depth,
             .chunks = true,
             .order = ranks_in_order(shape)},
            kKinds * spec.channels);
  const int slots = fold_ring_slots(spec.depth);
  const int region = b.region(spec.channels * slots);
  for (int channel = 0; channel < spec.channels; ++channel) {
    FoldRing ring(b, {.members = ring_of(shape, channel),
                      .backwards = channel % 2 == 1,
                      .parts = spec.depth,
                      .first_part = channel * spec.depth,
                      .share = spec.channels * spec.depth,
                      .kind = kKinds * channel,
                      .region = region,
                      .slot = channel * slots,
                      .channel = channel});
    b.each_chunk([&](Counter k) {
      ring.write(k, [&](const Range& range, const FoldRing::Fold& fold) { fold(b.output(range)); });
    });
  }
  return b.finish();
}

Traffic traffic(const Shape& shape, const Spec&) {
  const int p = shape.ranks();
  return {.steps = p - 1, .sent = static_cast<double>(p - 1)};
}

bool canonical(const Shape& shape, const Spec& spec) {
  for (int channel = 0; channel < spec.channels; ++channel)
    if (!folds_around_canonically(spans_of(ring_of(shape, channel)), shape)) return false;
  return true;
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  const int p = t.ranks();
  if (p == 1) return t.copy(t.bytes());
  const int rings = query.spec.channels;
  const double part = t.bytes() / rings / query.spec.depth;
  if (rings == 1 && t.alike())
    return pipelined(query, part, static_cast<std::size_t>(p * query.spec.depth),
                     [&](Schedule& schedule, const std::vector<double>& chunks) {
                       LaneOf memory;
                       for (const double chunk : chunks)
                         fold_around(schedule, memory,
                                     {.members = p, .parts = query.spec.depth, .one_node = t.one_node()}, chunk);
                     });
  return (p - 1) * rings * t.hop(t.bytes() / rings, query.spec.depth * t.chunks(part));
}

}  // namespace

Algorithm ring() {
  return everywhere({.name = "ring",
                     .summary = "every share travels once around a ring, node by node, and is folded on its way",
                     .steps = "p−1",
                     .sent = "n(p−1)",
                     .source = "Patarasuk & Yuan 2009",
                     .collective = Collective::reduce_scatter,
                     .unequal = Unequal::always},
                    {build, traffic, canonical, cost});
}

}  // namespace umbel::algos::reduce_scatter
