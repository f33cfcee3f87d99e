// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Hierarchical tree all-reduce: for many nodes, where a ring's 2(N−1) steps take too long.
//
// Idea. As hierarchical_ring, but the owners of a shard exchange over two complementary binary trees of the nodes, half
// of the shard each, instead of a ring: logarithmic depth, and nearly the same bytes.
//
// Names. M groups of the highest level: racks, or without racks the N nodes. Shard s owns blocks 2s and 2s+1, block
// 2s+t goes over tree t (double_tree.cpp, tree.hpp); with racks every part of a shard (a path, see groups.hpp) has such
// a pair of blocks. The lanes before and after the trees take and hand out chunks alternately of both; so all phases
// run at the same time. With racks the owners of a shard reduce-scatter inside their rack first, on any number of
// levels, and gather again after the trees (levels.hpp).
//
// Steps 2⌊log₂ M⌋ + 2, and 2 for each level with several members; bytes that leave an owner: up to 2 of its shard over
// the network (1 for two groups, 1.5 for three), and what its node-mates read, as hierarchical_ring. Any p on two nodes
// or more, uneven nodes and racks included, any size. Determinism: a node folds once in rank order, each level once,
// each inner member of a tree once, lower ranks first; all get the root's bits. Source: Sanders, Speck & Träff 2009 for
// the trees.
#include <algorithm>
#include <array>
#include <map>

#include "algos/all_reduce/all_reduce.hpp"
#include "algos/all_reduce/levels.hpp"
#include "algos/all_reduce/tree.hpp"
#include "algos/cost.hpp"
#include "algos/order.hpp"

namespace umbel::algos::all_reduce {
namespace {

constexpr int kTrees = 2;
constexpr int kMaxChildren = 2;

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  const Groups groups(shape);
  const int paths = groups.paths();
  Builder b(rank, shape, {.blocks = groups.shards() * paths * kTrees, .chunks = true}, Hierarchy::kKinds);
  const int slots = tree_slots(spec.depth, kMaxChildren);
  const int region = b.region(groups.most_owned() * kTrees * slots);
  Levels levels(b, spec, groups, 1, paths * kTrees);
  struct Ends {
    Flag partial, done;
  };
  std::map<int, std::array<Ends, kTrees>> ends;  // of the trees, by path
  for (int path : levels.own_paths())
    for (Ends& end : ends[path]) end = {levels.make_flag(), levels.make_flag()};
  b.each_chunk([&](Counter k) {
    for (int tree = 0; tree < kTrees; ++tree) {
      const auto at = static_cast<std::size_t>(tree);
      auto units = [&](int shard, int path) {
        return Range{.block = fixed((shard * paths + path) * kTrees + tree), .chunk = counted(k)};
      };
      levels.contribute(units, [&](int path) { return ends[path][at].partial.raise; });
      levels.settle();
      levels.distribute(units, [&](int path) { return ends[path][at].done.wait; });
    }
  });
  int number = 0;
  for (int path : levels.own_paths()) {
    for (int tree = 0; tree < kTrees; ++tree) {
      const Ends& end = ends[path][static_cast<std::size_t>(tree)];
      const TreeSetup setup{.members = levels.members(path),
                            .here = levels.top(),
                            .block = (levels.shard() * paths + path) * kTrees + tree,
                            .own = levels.own(),
                            .region = region,
                            .slot = number++ * slots,
                            .depth = spec.depth,
                            .max_children = kMaxChildren,
                            .channel = path * kTrees + tree,
                            .partial = end.partial.wait,
                            .done = end.done.raise};
      write_tree(b, double_tree_place(tree, levels.top(), groups.count()), setup);
    }
  }
  levels.finish();
  return b.finish();
}

int depth_in(int tree, int member, int members) {
  int depth = 0;
  for (int at = double_tree_place(tree, member, members).parent; at >= 0;
       at = double_tree_place(tree, at, members).parent)
    ++depth;
  return depth;
}

/// Messages of a member in both trees ÷ 2: what it sends of its data.
double messages(int member, int members) {
  int all = 0;
  for (int tree = 0; tree < kTrees; ++tree) {
    const TreePlace place = double_tree_place(tree, member, members);
    all += static_cast<int>(place.children.size()) + (place.parent >= 0 ? 1 : 0);
  }
  return static_cast<double>(all) / kTrees;
}

Traffic traffic(const Shape& shape, const Spec&) {
  const Groups groups(shape);
  const int count = groups.count();
  Traffic traffic{.steps = 0, .sent = groups.sent([&](int top) { return messages(top, count); })};
  for (int top = 0; top < count; ++top)
    for (int path = 0; path < groups.paths(); ++path)
      for (int tree = 0; tree < kTrees; ++tree)
        traffic.steps = std::max(
            traffic.steps, 2 * (depth_in(tree, top, count) +
                                groups.steps(groups.tops()[static_cast<std::size_t>(top)], groups.levels(), path)));
  return traffic;
}

bool canonical(const Shape& shape, const Spec& spec) {
  const std::vector<Span> tops = Groups(shape).spans(spec.ordered);
  for (int tree = 0; tree < kTrees; ++tree)
    if (!double_tree_span(tree, tops).canonical(shape)) return false;
  return true;
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  const Groups groups(query.shape);
  // Without node-mates and levels the trees are all that there is.
  if (query.shape.largest_node() == 1 && groups.levels() == 0) return trees_cost(query, kTrees, double_tree_place);
  const int count = groups.count(), shards = groups.shards();
  const double share = t.bytes() / shards * groups.largest_share();
  const double chunks = t.chunks(t.bytes() / shards / groups.paths() / kTrees);
  const double chunk = share / kTrees / chunks;
  // A chunk of each tree goes up and down. Then the busiest link, an inner member's, sets the pace.
  const int streams = shards * kTrees;
  const double way =
      floor_log2(count) * (t.net_hop(chunk, 1, streams, t.fold(chunk)) + t.net_hop(chunk, 1, streams, 0));
  const double busiest = count >= 4 ? 2.0 : (count == 3 ? 1.5 : 1.0);
  const double links = t.wire(share * busiest, shards) + 4 * chunks * shards * t.post() +
                       levels_cost(query, groups, t.bytes(), kTrees * chunks);
  const double inner = inner_cost(query, t.bytes(), groups.paths() * kTrees * chunks);
  const double ends = inner_cost(query, chunk * streams, 1) + levels_cost(query, groups, chunk * streams, 1);
  return way + std::max(links, inner) * (chunks - 1) / chunks + ends;
}

}  // namespace

Algorithm hierarchical_tree() {
  return on_several_nodes(
      {.name = "hierarchical_tree",
       .summary = "reduce-scatter in the node, two trees of nodes per shard, all-gather in the node",
       .steps = "2⌊log₂ M⌋ + 2 + 2L, L levels of racks",
       .sent = "n(X + (R−1) + (S−1))/R, nX/R of it over the network; X = 2 for M ≥ 4, 1.5 for 3, 1 for 2",
       .source = "Sanders, Speck & Träff 2009"},
      {build, traffic, canonical, cost});
}

}  // namespace umbel::algos::all_reduce
