// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Hierarchical ring all-reduce: the workhorse for large messages on several nodes.
//
// Idea. Inside each node a reduce-scatter leaves each owner with its shard of the node's sum; the owners of a shard,
// one a node, reduce it over all nodes in a ring; inside each node an all-gather brings the shards to everybody. Only
// the ring uses the network, and it moves 2n(N−1)/N per node in each direction, the least possible, on all ranks' rails
// at once.
//
// Names. N nodes, `shards` = ranks of the smallest node (hierarchy.hpp). The ring's members are racks: without racks,
// nodes. `here` is the own rack's position; a part of a shard has one block per rack. The lanes before the ring take
// blocks in the order in which it needs them, here, here−1, …, and those after it hand them out in the order in which
// it finishes them, here+1, here, here−1, …; chunks are innermost, so all phases run at the same time. Messages are
// sent straight from the output and all-gather messages are received straight into it (ring_lanes.cpp). More levels:
// with M racks of K nodes each, K > 1, the owners of a shard reduce-scatter inside their rack first, the ring runs over
// racks, and the rack gathers again (racks.hpp): 2(M−1) + 2 steps instead of 2(N−1), the same bytes per node, and only
// 2n(M−1)/M over a rack's border. Racks of unequal numbers of nodes would crowd the smaller rack's parts on few nodes
// of the larger one; there the ring runs over nodes, rack by rack, and crosses a rack's border once in, once out.
//
// Steps 2(N−1) + 2, or 2(M−1) + 4 with racks; bytes that leave an owner: 2(N−1)/N of its shard over the network, and
// what its node-mates read: (2(N−1)/N + (shards−1) + (ranks of its node−1)) · n/shards. Any p on two nodes or more,
// uneven ones included, any size. Determinism: a node folds once in rank order, a rack once, the ring once per rack,
// lower ranks' operand first; then copied. Source: Patarasuk & Yuan 2009 for the ring; the hierarchy as in Horovod's
// and NCCL's hierarchical all-reduce.
#include <algorithm>

#include "algos/all_reduce/all_reduce.hpp"
#include "algos/all_reduce/hierarchy.hpp"
#include "algos/all_reduce/racks.hpp"
#include "algos/all_reduce/ring_lanes.hpp"
#include "algos/cost.hpp"
#include "algos/order.hpp"

namespace umbel::algos::all_reduce {
namespace {

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  const Racks racks(shape);
  const int count = racks.count(), parts = racks.nodes_each();
  Builder b(rank, shape, {.blocks = Hierarchy::shards(shape) * parts * count, .chunks = true}, Hierarchy::kKinds);
  const int region = b.region(ring_slots(spec.depth));
  Hierarchy hierarchy(b, spec, 1);
  RackLevel level(b, spec, racks, hierarchy);
  const int here = level.rack();
  const Flag first = level.make_flag(), partial = level.make_flag(), done = level.make_flag();
  auto units = [&](int shift, Counter step, Counter k) {
    return [=](int part) {
      return [=](int shard) {
        const int offset = (shard * parts + part) * count;
        return Range{.block = cyclic(step, -1, here + shift, count, offset), .chunk = counted(k)};
      };
    };
  };
  b.repeat(1, [&](Counter t) { b.each_chunk([&](Counter k) { level.contribute(units(0, t, k), first.raise); }); });
  b.repeat(count - 1,
           [&](Counter t) { b.each_chunk([&](Counter k) { level.contribute(units(-1, t, k), partial.raise); }); });
  if (hierarchy.owns()) {
    write_ring(b, {.members = level.members(),
                   .lowest = level.lowest(),
                   .first_block = (hierarchy.shard() * parts + level.part()) * count,
                   .own = level.own(),
                   .region = region,
                   .depth = spec.depth,
                   .first = first.wait,
                   .partial = partial.wait,
                   .done = done.raise});
  }
  b.repeat(count, [&](Counter) { b.each_chunk([&](Counter) { level.settle(); }); });
  b.repeat(count, [&](Counter t) { b.each_chunk([&](Counter k) { level.distribute(units(1, t, k), done.wait); }); });
  hierarchy.finish();
  return b.finish();
}

/// Steps between the farthest rank of a rack and the owner of a part.
int rack_steps(const std::vector<std::vector<Rank>>& rack, std::size_t part) {
  int steps = 0;
  for (std::size_t node = 0; node < rack.size(); ++node)
    steps = std::max(steps, (rack[node].size() > 1 ? 1 : 0) + (node != part ? 1 : 0));
  return steps;
}

Traffic traffic(const Shape& shape, const Spec&) {
  const Racks racks(shape);
  const int count = racks.count(), nodes = shape.nodes();
  // A block starts in the rack next to its owner's and its copy ends in the one on the owner's other side.
  int ends = 0;
  for (int o = 0; o < count; ++o) {
    const auto& after = racks.nodes[static_cast<std::size_t>(modulo(o + 1, count))];
    const auto& before = racks.nodes[static_cast<std::size_t>(modulo(o - 1, count))];
    for (std::size_t part = 0; part < after.size(); ++part)
      ends = std::max(ends, rack_steps(after, part) + rack_steps(before, part));
  }
  return {.steps = 2 * (count - 1) + ends,
          .sent = owner_sent(2.0 * (nodes - 1) / nodes, Hierarchy::shards(shape), shape.largest_node())};
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  const Racks racks(query.shape);
  const int count = racks.count(), parts = racks.nodes_each();
  const int shards = Hierarchy::shards(query.shape);
  const double block = t.bytes() / shards / t.nodes();
  const double chunks = t.chunks(block);
  // The shards' rings share the node's link and its cores.
  double ring = (count - 1) * (t.net_hop(block, chunks, shards, t.fold(block)) + t.net_hop(block, chunks, shards, 0));
  // Inside a rack: each other part of the shard out and back.
  const double given = block * count * (parts - 1), messages = chunks * count * (parts - 1);
  if (parts > 1) ring += t.net_hop(given, messages, shards, t.fold(given)) + t.net_hop(given, messages, shards, 0);
  const double inner = inner_cost(query, t.bytes(), t.nodes() * chunks);
  // The phases overlap: of the inner ones the first unit in and the last one out show, or all that they are longer.
  const double ends = inner_cost(query, block / chunks * shards, 1);
  return std::max(ring, inner) + ends;
}

}  // namespace

Algorithm hierarchical_ring() {
  return {.name = "hierarchical_ring",
          .summary = "reduce-scatter in the node, a ring of nodes per shard, all-gather in the node",
          .steps = "2(N−1) + 2, or 2(M−1) + 4 with M racks",
          .sent = "n(2(N−1)/N + 2(R−1))/R, 2n(N−1)/(N·R) of it over the network",
          .source = "Patarasuk & Yuan 2009; hierarchy as in Horovod and NCCL",
          .refuses = needs_two_nodes,
          .build = build,
          .traffic = traffic,
          .cost = cost};
}

}  // namespace umbel::algos::all_reduce
