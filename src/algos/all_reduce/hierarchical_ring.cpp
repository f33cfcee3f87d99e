// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Hierarchical ring all-reduce: the workhorse for large messages on several nodes.
//
// Idea. Inside each node a reduce-scatter leaves each owner with its shard of the node's sum; the owners of a shard, one a
// node, reduce it over all nodes in a ring; inside each node an all-gather brings the shards to everybody. Only the ring
// uses the network, and it moves 2n(N−1)/N per node in each direction, the least possible, on all ranks' rails at once.
//
// Names. N nodes, `shards` = ranks of the smallest node (hierarchy.hpp); shard s owns blocks s·N … s·N + N−1, one per
// node. `here` is the node's position in the ring. The intra-node lanes take blocks in the order in which the ring needs
// them, here, here−1, …, and hand them out in the order in which it finishes them, here+1, here, here−1, …; chunks are
// innermost, so all three phases run at the same time. Messages are sent straight from the output and all-gather
// messages are received straight into it (ring_lanes.cpp).
// More levels: the ring follows the tree of groups, so each group's border is crossed once in and once out.
//
// Steps 2(N−1) + 2; bytes that leave an owner: 2(N−1)/N of its shard over the network, and what its node-mates read:
// (2(N−1)/N + (shards−1) + (ranks of its node−1)) · n/shards. Any p on two nodes or more, uneven ones included, any size.
// Determinism: a node folds once in rank order, the ring once per node, lower ranks' operand first; then copied.
// Source: Patarasuk & Yuan 2009 for the ring; the hierarchy as in Horovod's and NCCL's hierarchical all-reduce.
#include <algorithm>

#include "algos/all_reduce/all_reduce.hpp"
#include "algos/all_reduce/hierarchy.hpp"
#include "algos/all_reduce/ring_lanes.hpp"
#include "algos/cost.hpp"
#include "algos/order.hpp"

namespace umbel::algos::all_reduce {
namespace {

int position_of(const std::vector<std::vector<Rank>>& nodes, Rank rank) {
  const auto found = std::ranges::find_if(nodes, [&](const auto& node) { return std::ranges::find(node, rank) != node.end(); });
  return static_cast<int>(found - nodes.begin());
}

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  const auto nodes = nodes_in_order(shape);
  const int count = shape.nodes();
  const int here = position_of(nodes, rank);
  const int shards = Hierarchy::shards(shape);
  Builder b(rank, shape, {.blocks = shards * count, .chunks = true}, Hierarchy::kKinds);
  const int region = b.region(ring_slots(spec.depth));
  Hierarchy hierarchy(b, spec, 1);
  const Flag first = hierarchy.make_flag(), partial = hierarchy.make_flag(), done = hierarchy.make_flag();
  auto unit = [&](int shift, Counter step, Counter k) {
    return [=](int shard) {
      return Range{.block = cyclic(step, -1, here + shift, count, shard * count), .chunk = counted(k)};
    };
  };
  b.repeat(1, [&](Counter t) { b.each_chunk([&](Counter k) { hierarchy.contribute(unit(0, t, k), first.raise); }); });
  b.repeat(count - 1,
           [&](Counter t) { b.each_chunk([&](Counter k) { hierarchy.contribute(unit(-1, t, k), partial.raise); }); });
  if (hierarchy.owns()) {
    RingSetup setup{.members = Hierarchy::owners(nodes, hierarchy.shard()),
                    .lowest = Hierarchy::owners(nodes, 0),
                    .first_block = hierarchy.shard() * count,
                    .own = hierarchy.own(),
                    .region = region,
                    .depth = spec.depth,
                    .first = first.wait,
                    .partial = partial.wait,
                    .done = done.raise};
    write_ring(b, setup);
  }
  b.repeat(count,
           [&](Counter t) { b.each_chunk([&](Counter k) { hierarchy.distribute(unit(1, t, k), done.wait); }); });
  hierarchy.finish();
  return b.finish();
}

Traffic traffic(const Shape& shape, const Spec&) {
  const auto inner = inner_steps(nodes_in_order(shape));
  const int nodes = shape.nodes();
  // A block starts next to its owner and its copy ends on the owner's other side.
  int ends = 0;
  for (int o = 0; o < nodes; ++o) {
    const auto after = static_cast<std::size_t>(modulo(o + 1, nodes));
    const auto before = static_cast<std::size_t>(modulo(o - 1, nodes));
    ends = std::max(ends, inner[after] + inner[before]);
  }
  return {.steps = 2 * (nodes - 1) + ends,
          .sent = owner_sent(2.0 * (nodes - 1) / nodes, Hierarchy::shards(shape), shape.largest_node())};
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  const int nodes = t.nodes();
  const int shards = Hierarchy::shards(query.shape);
  const double block = t.bytes() / shards / nodes;
  const double chunks = t.chunks(block);
  // The shards' rings share the node's link and its cores.
  const double ring = (nodes - 1) * (t.net_hop(block, chunks, shards, t.fold(block)) + t.net_hop(block, chunks, shards, 0));
  const double inner = inner_cost(query, t.bytes(), nodes * chunks);
  // The phases overlap: of the inner ones the first unit in and the last one out show, or all that they are longer.
  const double ends = inner_cost(query, block / chunks * shards, 1);
  return std::max(ring, inner) + ends;
}

}  // namespace

Algorithm hierarchical_ring() {
  return {.name = "hierarchical_ring",
          .summary = "reduce-scatter in the node, a ring of nodes per shard, all-gather in the node",
          .steps = "2(N−1) + 2",
          .sent = "n(2(N−1)/N + 2(R−1))/R, 2n(N−1)/(N·R) of it over the network",
          .source = "Patarasuk & Yuan 2009; hierarchy as in Horovod and NCCL",
          .refuses = needs_two_nodes,
          .build = build,
          .traffic = traffic,
          .cost = cost};
}

}  // namespace umbel::algos::all_reduce
