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
// Names. N nodes, `shards` = ranks of the smallest node (hierarchy.hpp). The ring's members are the groups of the
// highest level: M racks, or without racks M = N nodes. `here` is the own group's position; each shard, or each part of
// it (a path, see groups.hpp), has one block per group and a ring of its own. The lanes before the ring take blocks in
// the order in which it needs them, here, here−1, …, and those after it hand them out in the order in which it finishes
// them, here+1, here, here−1, …; chunks are innermost, so all phases run at the same time. Messages are sent straight
// from the output and all-gather messages are received straight into it (ring_lanes.cpp). With racks the owners of a
// shard reduce-scatter inside their rack first, on any number of levels, and gather again after the ring (levels.hpp):
// fewer steps, the same bytes per node where groups are even, and only 2n(M−1)/M over a rack's border.
//
// Steps 2(M−1) + 2, and 2 for each level with several members; bytes that leave an owner: 2(N−1)/N of its shard over
// the network (on even levels), and what its node-mates read: (2(N−1)/N + (shards−1) + (ranks of its node−1)) ·
// n/shards. Any p on two nodes or more, uneven nodes and racks included, any size. Determinism: a node folds once in
// rank order, each level once, the ring once per group, lower ranks' operand first; then copied. Source: Patarasuk &
// Yuan 2009 for the ring; the hierarchy as in Horovod's and NCCL's hierarchical all-reduce.
#include <algorithm>
#include <map>

#include "algos/all_reduce/all_reduce.hpp"
#include "algos/all_reduce/levels.hpp"
#include "algos/all_reduce/ring_lanes.hpp"
#include "algos/cost.hpp"
#include "algos/order.hpp"

namespace umbel::algos::all_reduce {
namespace {

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  const Groups groups(shape);
  const int count = groups.count(), paths = groups.paths();
  Builder b(rank, shape, {.blocks = groups.shards() * paths * count, .chunks = true}, Hierarchy::kKinds);
  const int region = b.region(groups.most_owned() * ring_slots(spec.depth));
  Levels levels(b, spec, groups, 1, paths);
  const int here = levels.top();
  struct Ends {
    Flag first, partial, done;
  };
  std::map<int, Ends> ends;  // of the rings, by path
  for (int path : levels.own_paths()) ends[path] = {levels.make_flag(), levels.make_flag(), levels.make_flag()};
  auto block = [&](int shard, int path) { return (shard * paths + path) * count; };
  auto units = [&](int shift, Counter step, Counter k) {
    return [=](int shard, int path) {
      return Range{.block = cyclic(step, -1, here + shift, count, block(shard, path)), .chunk = counted(k)};
    };
  };
  auto first = [&](int path) { return ends[path].first.raise; };
  auto partial = [&](int path) { return ends[path].partial.raise; };
  auto done = [&](int path) { return ends[path].done.wait; };
  b.repeat(1, [&](Counter t) { b.each_chunk([&](Counter k) { levels.contribute(units(0, t, k), first); }); });
  b.repeat(count - 1,
           [&](Counter t) { b.each_chunk([&](Counter k) { levels.contribute(units(-1, t, k), partial); }); });
  int ring = 0;
  for (int path : levels.own_paths()) {
    write_ring(b, {.members = levels.members(path),
                   .lowest = levels.lowest(),
                   .first_block = block(levels.shard(), path),
                   .own = levels.own(),
                   .region = region,
                   .slot = ring++ * ring_slots(spec.depth),
                   .depth = spec.depth,
                   .channel = path,
                   .first = ends[path].first.wait,
                   .partial = ends[path].partial.wait,
                   .done = ends[path].done.raise});
  }
  b.repeat(count, [&](Counter) { b.each_chunk([&](Counter) { levels.settle(); }); });
  b.repeat(count, [&](Counter t) { b.each_chunk([&](Counter k) { levels.distribute(units(1, t, k), done); }); });
  levels.finish();
  return b.finish();
}

Traffic traffic(const Shape& shape, const Spec&) {
  const Groups groups(shape);
  const int count = groups.count();
  // A block comes to its owner from the group next to it, around the ring, and goes around again to the one on its
  // other side: those are farthest, unless one on the way is deeper.
  auto farthest = [&](int owner, int direction, int path) {
    int most = 0;
    for (int hops = 0; hops < count; ++hops) {
      const Tier& group = groups.tops()[static_cast<std::size_t>(modulo(owner - direction * hops, count))];
      most = std::max(most, hops + groups.steps(group, groups.levels(), path));
    }
    return most;
  };
  int steps = 0;
  for (int owner = 0; owner < count; ++owner)
    for (int path = 0; path < groups.paths(); ++path)
      steps = std::max(steps, farthest(owner, 1, path) + farthest(owner, -1, path));
  return {.steps = steps, .sent = groups.sent([&](int) { return 2.0 * (count - 1) / count; })};
}

bool canonical(const Shape& shape, const Spec& spec) {
  return folds_around_canonically(Groups(shape).spans(spec.ordered), shape);
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  const Groups groups(query.shape);
  const int count = groups.count(), shards = groups.shards();
  const double share = t.bytes() / shards * groups.largest_share();
  const double block = share / count;
  const double chunks = t.chunks(t.bytes() / shards / groups.paths() / count);
  // The shards' rings share the node's link and its cores.
  double ring = ring_cost(query, count, block, shards);
  ring += levels_cost(query, groups, t.bytes(), count * chunks);
  const double inner = inner_cost(query, t.bytes(), groups.paths() * count * chunks);
  // The phases overlap: of the inner ones the first unit in and the last one out show, or all that they are longer.
  const double ends = inner_cost(query, block / chunks * shards, 1);
  return std::max(ring, inner) + ends;
}

}  // namespace

Algorithm hierarchical_ring() {
  return on_several_nodes({.name = "hierarchical_ring",
                           .summary = "reduce-scatter in the node, a ring of nodes per shard, all-gather in the node",
                           .steps = "2(M−1) + 2 + 2L, L levels of racks",
                           .sent = "n(2(N−1)/N + (R−1) + (S−1))/R, 2n(N−1)/(N·R) of it over the network",
                           .source = "Patarasuk & Yuan 2009; hierarchy as in Horovod and NCCL"},
                          {build, traffic, canonical, cost});
}

}  // namespace umbel::algos::all_reduce
