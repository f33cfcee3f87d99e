// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Hierarchical tree all-reduce: for many nodes, where a ring's 2(N−1) steps take too long.
//
// Idea. As hierarchical_ring, but the owners of a shard exchange over two complementary binary trees of the nodes, half
// of the shard each, instead of a ring: logarithmic depth, and nearly the same bytes.
//
// Names. Shard s owns blocks 2s and 2s+1, block 2s+t goes over tree t (double_tree.cpp, tree.hpp). The lanes inside a
// node take and hand out chunks alternately of both; so all phases run at the same time. More levels: nodes are
// numbered by their lowest rank; with racks placed one after another most edges of an in-order tree stay inside a rack.
//
// Steps 2⌊log₂ N⌋ + 2; bytes that leave an owner: up to 2 of its shard over the network (1 for two nodes, 1.5 for
// three), and what its node-mates read, as hierarchical_ring. Any p on two nodes or more, uneven ones included, any
// size. Determinism: a node folds once in rank order, each inner node of a tree once, lower ranks first; all get the
// root's bits. Source: Sanders, Speck & Träff 2009 for the trees.
#include <algorithm>

#include "algos/all_reduce/all_reduce.hpp"
#include "algos/all_reduce/hierarchy.hpp"
#include "algos/all_reduce/tree.hpp"
#include "algos/cost.hpp"
#include "algos/order.hpp"

namespace umbel::algos::all_reduce {
namespace {

constexpr int kTrees = 2;
constexpr int kMaxChildren = 2;

std::vector<std::vector<Rank>> nodes_by_number(const Shape& shape) {
  std::vector<std::vector<Rank>> nodes;
  for (int node = 0; node < shape.nodes(); ++node)
    nodes.emplace_back(shape.node_ranks(node).begin(), shape.node_ranks(node).end());
  return nodes;
}

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  const int shards = Hierarchy::shards(shape);
  Builder b(rank, shape, {.blocks = shards * kTrees, .chunks = true}, Hierarchy::kKinds);
  const int slots = tree_slots(spec.depth, kMaxChildren);
  const int region = b.region(kTrees * slots);
  Hierarchy hierarchy(b, spec, 1);
  Flag partial[kTrees], done[kTrees];
  for (int tree = 0; tree < kTrees; ++tree) {
    partial[tree] = hierarchy.make_flag();
    done[tree] = hierarchy.make_flag();
  }
  auto unit = [&](int tree, Counter k) {
    return [=](int shard) { return Range{.block = fixed(shard * kTrees + tree), .chunk = counted(k)}; };
  };
  b.each_chunk([&](Counter k) {
    for (int tree = 0; tree < kTrees; ++tree) {
      hierarchy.contribute(unit(tree, k), partial[tree].raise);
      hierarchy.distribute(unit(tree, k), done[tree].wait);
    }
  });
  for (int tree = 0; tree < kTrees && hierarchy.owns(); ++tree) {
    const int here = shape.node_of(rank);
    const TreeSetup setup{.members = Hierarchy::owners(nodes_by_number(shape), hierarchy.shard()),
                          .here = here,
                          .block = hierarchy.shard() * kTrees + tree,
                          .own = hierarchy.own(),
                          .region = region,
                          .slot = tree * slots,
                          .depth = spec.depth,
                          .max_children = kMaxChildren,
                          .channel = tree,
                          .partial = partial[tree].wait,
                          .done = done[tree].raise};
    write_tree(b, double_tree_place(tree, here, shape.nodes()), setup);
  }
  hierarchy.finish();
  return b.finish();
}

int depth_in(int tree, int member, int members) {
  int depth = 0;
  for (int at = double_tree_place(tree, member, members).parent; at >= 0;
       at = double_tree_place(tree, at, members).parent)
    ++depth;
  return depth;
}

Traffic traffic(const Shape& shape, const Spec&) {
  const auto nodes = nodes_by_number(shape);
  const auto inner = inner_steps(nodes);
  const int count = shape.nodes();
  Traffic traffic;
  for (int node = 0; node < count; ++node) {
    int messages = 0;
    for (int tree = 0; tree < kTrees; ++tree) {
      const TreePlace place = double_tree_place(tree, node, count);
      messages += static_cast<int>(place.children.size()) + (place.parent >= 0 ? 1 : 0);
      traffic.steps =
          std::max(traffic.steps, 2 * (depth_in(tree, node, count) + inner[static_cast<std::size_t>(node)]));
    }
    const int ranks = static_cast<int>(shape.node_ranks(node).size());
    traffic.sent =
        std::max(traffic.sent, owner_sent(static_cast<double>(messages) / kTrees, Hierarchy::shards(shape), ranks));
  }
  return traffic;
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  const int nodes = t.nodes();
  const int shards = Hierarchy::shards(query.shape);
  const double half = t.bytes() / shards / kTrees;
  const double chunks = t.chunks(half);
  const double chunk = half / chunks;
  // A chunk of each tree goes up and down. Then the busiest link, an inner node's, sets the pace.
  const int streams = shards * kTrees;
  const double way =
      floor_log2(nodes) * (t.net_hop(chunk, 1, streams, t.fold(chunk)) + t.net_hop(chunk, 1, streams, 0));
  const double busiest = nodes >= 4 ? 2.0 : (nodes == 3 ? 1.5 : 1.0);
  const double links = t.wire(t.bytes() * busiest) + 4 * chunks * shards * t.post();
  const double inner = inner_cost(query, t.bytes(), kTrees * chunks);
  const double ends = inner_cost(query, chunk * streams, 1);
  return way + std::max(links, inner) * (chunks - 1) / chunks + ends;
}

}  // namespace

Algorithm hierarchical_tree() {
  return {.name = "hierarchical_tree",
          .summary = "reduce-scatter in the node, two trees of nodes per shard, all-gather in the node",
          .steps = "2⌊log₂ N⌋ + 2",
          .sent = "n(2 + 2(R−1))/R (N ≥ 4), up to 2n/R of it over the network",
          .source = "Sanders, Speck & Träff 2009",
          .refuses = needs_two_nodes,
          .build = build,
          .traffic = traffic,
          .cost = cost};
}

}  // namespace umbel::algos::all_reduce
