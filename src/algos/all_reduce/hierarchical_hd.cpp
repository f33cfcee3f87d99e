// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Hierarchical halving-doubling: the fewest bytes in logarithmic steps between nodes.
//
// Idea. As hierarchical_ring, but the owners of a shard exchange by recursive halving and doubling
// (halving_doubling.cpp).
//
// Names. M groups of the highest level: racks, or without racks the N nodes; P the largest power of two up to M. Shard
// s owns blocks s·P … s·P + P−1; with racks every part of a shard (a path, see groups.hpp) has P blocks. The unit that
// moves through the lanes before and after the exchange is one of these runs of a piece: while pieces are exchanged,
// later ones are folded and earlier ones handed out. With racks the owners of a shard reduce-scatter inside their rack
// first, on any number of levels, and gather again after the exchange (levels.hpp).
//
// Steps 2 log₂ P + 2, 2 more when M is no power of two, and 2 for each level with several members; bytes that leave an
// owner: 2(P−1)/P of its shard over the network (and 1 more in a pair), and what its node-mates read, as
// hierarchical_ring. Any p on two nodes or more, uneven nodes and racks included, any size; best when M is a power of
// two. Determinism: a node folds once in rank order, each level and each round once, lower ranks first; then copied.
// Source: Rabenseifner 2004 for the exchange.
#include <algorithm>
#include <bit>
#include <map>

#include "algos/all_reduce/all_reduce.hpp"
#include "algos/all_reduce/halving.hpp"
#include "algos/all_reduce/levels.hpp"
#include "algos/cost.hpp"
#include "algos/order.hpp"

namespace umbel::algos::all_reduce {
namespace {

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  const Groups groups(shape);
  const int paths = groups.paths();
  const int blocks = halving_blocks(groups.count());
  Builder b(rank, shape, {.blocks = groups.shards() * paths * blocks, .pieces = true}, Hierarchy::kKinds);
  const int arrivals = b.region(groups.most_owned() * spec.depth, halving_arrival_blocks(groups.count()));
  Levels levels(b, spec, groups, blocks, paths);
  struct Ends {
    Flag partial, done;
  };
  std::map<int, Ends> ends;  // of the exchanges, by path
  for (int path : levels.own_paths()) ends[path] = {levels.make_flag(), levels.make_flag()};
  auto block = [&](int shard, int path) { return (shard * paths + path) * blocks; };
  b.each_piece([&](Counter i) {
    auto units = [&](int shard, int path) {
      return Range{.block = fixed(block(shard, path)), .blocks = blocks, .piece = counted(i)};
    };
    levels.contribute(units, [&](int path) { return ends[path].partial.raise; });
    levels.settle();
    levels.distribute(units, [&](int path) { return ends[path].done.wait; });
  });
  int number = 0;
  for (int path : levels.own_paths()) {
    Halving halving(b, {.members = levels.members(path),
                        .here = levels.top(),
                        .first_block = block(levels.shard(), path),
                        .own = levels.own(),
                        .arrivals = arrivals,
                        .first_arrival = number++ * spec.depth,
                        .depth = spec.depth,
                        .channel = path,
                        .partial = ends[path].partial.wait,
                        .done = ends[path].done.raise});
    b.each_piece([&](Counter i) { halving.exchange(i); });
  }
  levels.finish();
  return b.finish();
}

Traffic traffic(const Shape& shape, const Spec&) {
  const Groups groups(shape);
  const int count = groups.count(), blocks = halving_blocks(count);
  Traffic traffic;
  for (int to = 0; to < count; ++to) {
    const PairedRole owner = PairedRole::of(to, count);
    if (!owner.active()) continue;
    // The farthest operand of this owner's block, and the farthest receiver of it.
    int farthest = 0;
    for (int from = 0; from < count; ++from) {
      const PairedRole role = PairedRole::of(from, count);
      const int number = role.active() ? role.number : PairedRole::of(role.pair, count).number;
      const int hops = std::popcount(static_cast<unsigned>(number ^ owner.number)) + (role.active() ? 0 : 1);
      for (int path = 0; path < groups.paths(); ++path)
        farthest = std::max(farthest,
                            hops + groups.steps(groups.tops()[static_cast<std::size_t>(from)], groups.levels(), path));
    }
    traffic.steps = std::max(traffic.steps, 2 * farthest);
  }
  traffic.sent = groups.sent([&](int top) {
    const PairedRole role = PairedRole::of(top, count);
    return role.active() ? 2.0 * (blocks - 1) / blocks + (role.pair >= 0 ? 1 : 0) : 1.0;
  });
  return traffic;
}

bool canonical(const Shape& shape, const Spec& spec) {
  std::vector<std::vector<Span>> tops;
  for (const Span& top : Groups(shape).spans(spec.ordered)) tops.push_back({top});
  return doubling_span(tops).canonical(shape);
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  const Groups groups(query.shape);
  const int count = groups.count(), shards = groups.shards(), blocks = halving_blocks(count);
  const double piece = t.bytes() / t.pieces();
  const double share = piece / shards * groups.largest_share();
  const double moved = share * (blocks - 1) / blocks;
  double exchange =
      2 * floor_log2(count) * (t.message() + shards * t.post()) + 2 * t.wire(moved, shards) + t.fold(moved);
  if (blocks != count) exchange += 2 * (t.message() + shards * t.post() + t.wire(share, shards)) + t.fold(share);
  exchange += levels_cost(query, groups, piece, 1);
  const double inner = inner_cost(query, piece, groups.paths());
  return CostTerms::pipeline(1, std::max(exchange, inner), t.pieces()) + std::min(exchange, inner);
}

}  // namespace

Algorithm hierarchical_hd() {
  return on_several_nodes(
      {.name = "hierarchical_hd",
       .summary = "reduce-scatter in the node, halving-doubling of nodes per shard, all-gather in the node",
       .steps = "2⌊log₂ M⌋ + 2 + 2L, + 2 if M is no power of two, L levels of racks",
       .sent = "n(X + (R−1) + (S−1))/R, nX/R of it over the network; X = 2(P−1)/P, P = 2^⌊log₂ M⌋, + 1 if M is no "
               "power of two",
       .source = "Rabenseifner 2004"},
      {build, traffic, canonical, cost});
}

}  // namespace umbel::algos::all_reduce
