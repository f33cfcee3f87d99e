// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Dissemination barrier.
//
// Idea. In round k each rank tells the one 2^k places behind it that it has come, and whoever it has heard of, and
// hears the one 2^k places before it. After ⌈log₂ p⌉ rounds everybody has heard of everybody.
//
// Names. See meeting.hpp: node-mates are told by a flag, others by an empty message. The places are ranks_in_order(),
// so that near places are mostly on one node.
//
// Steps ⌈log₂ p⌉; no bytes. Any p, any shape.
// Determinism: nothing is computed.
// Source: Hensgen, Finkel & Manber, "Two algorithms for barrier synchronization", 1988.
#include <algorithm>

#include "algos/barrier/barrier.hpp"
#include "algos/barrier/meeting.hpp"
#include "algos/cost.hpp"
#include "algos/order.hpp"

namespace umbel::algos::barrier {
namespace {

Program build(Rank rank, const Shape& shape, const Spec&) {
  const int p = shape.ranks();
  if (p == 1) return alone(shape, Collective::barrier);
  Builder b(rank, shape, {.collective = Collective::barrier}, Meeting::kKinds);
  Meeting meeting(b);
  disseminate(meeting, rank, ranks_in_order(shape));
  meeting.write();
  return b.finish();
}

Traffic traffic(const Shape& shape, const Spec&) { return {.steps = ceil_log2(shape.ranks()), .sent = 0}; }

/// Whether some rank tells one of another node.
bool leaves_nodes(const Shape& shape, const std::vector<Rank>& order, int distance) {
  const auto p = static_cast<int>(order.size());
  for (int at = 0; at < p; ++at)
    if (!shape.same_node(order[static_cast<std::size_t>(at)], order[static_cast<std::size_t>((at + distance) % p)]))
      return true;
  return false;
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  const std::vector<Rank> order = ranks_in_order(query.shape);
  double time = 0;
  for (int distance = 1; distance < t.ranks(); distance *= 2) {
    // At worst all of a node's ranks tell others at the same time.
    const int sharers = std::min(distance, query.shape.largest_node());
    time += leaves_nodes(query.shape, order, distance) ? t.message() + sharers * t.post() : t.flag();
  }
  return time;
}

}  // namespace

Algorithm dissemination() {
  return everywhere({.name = "dissemination",
                     .summary = "tell ranks at doubling distance",
                     .steps = "⌈log₂ p⌉",
                     .sent = "0",
                     .source = "Hensgen, Finkel & Manber 1988",
                     .collective = Collective::barrier},
                    {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::barrier
