// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Hierarchical halving-doubling: the fewest bytes in logarithmic steps between nodes.
//
// Idea. As hierarchical_ring, but the owners of a shard exchange by recursive halving and doubling
// (halving_doubling.cpp).
//
// Names. N nodes, P the largest power of two up to N. Shard s owns blocks s·P … s·P + P−1. The unit that moves through
// the node's lanes is a shard of a piece: while pieces are exchanged between nodes, later ones are folded and earlier
// ones handed out. More levels: near nodes exchange first and the most, so with racks placed one after another, of a
// power of two of nodes, a rack's border carries the least there is.
//
// Steps 2 log₂ N + 2, and 2 more when N is no power of two; bytes that leave an owner: 2(P−1)/P of its shard over the
// network (and 1 more in a pair), and what its node-mates read, as hierarchical_ring. Any p on two nodes or more,
// uneven ones included, any size; best when N is a power of two. Determinism: a node folds once in rank order, each
// round once, lower ranks first; then copied. Source: Rabenseifner 2004 for the exchange.
#include <algorithm>
#include <bit>

#include "algos/all_reduce/all_reduce.hpp"
#include "algos/all_reduce/halving.hpp"
#include "algos/all_reduce/hierarchy.hpp"
#include "algos/cost.hpp"
#include "algos/order.hpp"

namespace umbel::algos::all_reduce {
namespace {

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  const int shards = Hierarchy::shards(shape);
  const int blocks = halving_blocks(shape.nodes());
  Builder b(rank, shape, {.blocks = shards * blocks, .pieces = true}, Hierarchy::kKinds);
  const int arrivals = b.region(spec.depth, halving_arrival_blocks(shape.nodes()));
  Hierarchy hierarchy(b, spec, blocks);
  const Flag partial = hierarchy.make_flag(), done = hierarchy.make_flag();
  b.each_piece([&](Counter i) {
    auto unit = [&](int shard) { return Range{.block = fixed(shard * blocks), .blocks = blocks, .piece = counted(i)}; };
    hierarchy.contribute(unit, partial.raise);
    hierarchy.distribute(unit, done.wait);
  });
  if (hierarchy.owns()) {
    HalvingSetup setup{.members = {},
                       .here = shape.node_of(rank),
                       .first_block = hierarchy.shard() * blocks,
                       .own = hierarchy.own(),
                       .arrivals = arrivals,
                       .depth = spec.depth,
                       .partial = partial.wait,
                       .done = done.raise};
    for (int node = 0; node < shape.nodes(); ++node)
      setup.members.push_back(shape.node_ranks(node)[static_cast<std::size_t>(hierarchy.shard())]);
    Halving halving(b, setup);
    b.each_piece([&](Counter i) { halving.exchange(i); });
  }
  hierarchy.finish();
  return b.finish();
}

Traffic traffic(const Shape& shape, const Spec&) {
  const int nodes = shape.nodes();
  const int blocks = halving_blocks(nodes);
  Traffic traffic;
  for (int to = 0; to < nodes; ++to) {
    const PairedRole owner = PairedRole::of(to, nodes);
    if (!owner.active()) continue;
    // The farthest operand of this owner's block, and the farthest receiver of it.
    int farthest = 0;
    for (int from = 0; from < nodes; ++from) {
      const PairedRole role = PairedRole::of(from, nodes);
      const int number = role.active() ? role.number : PairedRole::of(role.pair, nodes).number;
      const int hops = std::popcount(static_cast<unsigned>(number ^ owner.number)) + (role.active() ? 0 : 1);
      farthest = std::max(farthest, hops + (shape.node_ranks(from).size() > 1 ? 1 : 0));
    }
    traffic.steps = std::max(traffic.steps, 2 * farthest);
  }
  for (int node = 0; node < nodes; ++node) {
    const PairedRole role = PairedRole::of(node, nodes);
    const double exchanged = role.active() ? 2.0 * (blocks - 1) / blocks + (role.pair >= 0 ? 1 : 0) : 1.0;
    const int ranks = static_cast<int>(shape.node_ranks(node).size());
    traffic.sent = std::max(traffic.sent, owner_sent(exchanged, Hierarchy::shards(shape), ranks));
  }
  return traffic;
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  const int nodes = t.nodes();
  const int shards = Hierarchy::shards(query.shape);
  const int blocks = halving_blocks(nodes);
  const double piece = t.bytes() / t.pieces();
  const double shard = piece / shards;
  const double moved = shard * (blocks - 1) / blocks;
  double exchange =
      2 * floor_log2(nodes) * (t.message() + shards * t.post()) + 2 * t.wire(moved, shards) + t.fold(moved);
  if (blocks != nodes) exchange += 2 * (t.message() + t.wire(shard, shards)) + t.fold(shard);
  const double inner = inner_cost(query, piece, 1);
  return CostTerms::pipeline(1, std::max(exchange, inner), t.pieces()) + std::min(exchange, inner);
}

}  // namespace

Algorithm hierarchical_hd() {
  return {.name = "hierarchical_hd",
          .summary = "reduce-scatter in the node, halving-doubling of nodes per shard, all-gather in the node",
          .steps = "2⌊log₂ N⌋ + 2, + 2 if N is no power of two",
          .sent = "n(2(P−1)/P + 2(R−1))/R, P = 2^⌊log₂ N⌋; + n/R if N is no power of two",
          .source = "Rabenseifner 2004",
          .refuses = needs_two_nodes,
          .build = build,
          .traffic = traffic,
          .cost = cost};
}

}  // namespace umbel::algos::all_reduce
