// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Hierarchical reduce along chains of nodes: for large messages on several nodes.
//
// Idea. As hierarchical_tree, but the owners of a shard form a chain that ends in the root's node: every node's link
// carries the data once in each direction, the least possible, and each owner folds one message and its node at a time.
//
// Names. See trees.hpp: block s is shard s. The nodes stand in the order of the tree of groups, from the root's on
// (nodes_from()), so that each group's border is crossed once in and once out.
//
// Steps N−1 for N nodes, + 1 in nodes of several ranks, + 1 to the root. Bytes that leave a rank n: with R ranks on the
// smallest node an owner sends n/R over the network, the others are read by its mates. Any p on two nodes or more,
// uneven nodes and racks included, any size. Determinism: an owner folds once, in the order of lowest ranks; or,
// `ordered`, its node as a tree, then what comes from the next node. Source: Patarasuk, Faraj & Yuan 2006 for the
// chain, the other way round; the shards as in hierarchical_ring of all-reduce.
#include "algos/order.hpp"
#include "algos/reduce/reduce.hpp"
#include "algos/reduce/trees.hpp"

namespace umbel::algos::reduce {
namespace {

constexpr Fold kFold = Fold::at_once;

std::vector<Tree> trees(const Shape& shape, const Spec& spec) {
  std::vector<Tree> shards;
  for (int shard = 0; shard < shape.smallest_node(); ++shard) {
    std::vector<Rank> owners;
    for (const auto& node : nodes_from(shape.root(), spec.root))
      owners.push_back(shape.peers_of(node.front())[static_cast<std::size_t>(shard)]);
    Tree& tree = shards.emplace_back(owners.front(), shape.ranks());
    hang_all(tree, owners, chain_parent);
    hang_mates(tree, shape, owners);
  }
  return shards;
}

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  return build_trees(rank, shape, spec, trees(shape, spec), kFold);
}
Traffic traffic(const Shape& shape, const Spec& spec) { return traffic_of(spec, trees(shape, spec)); }
bool canonical(const Shape& shape, const Spec& spec) { return canonical_of(shape, spec, trees(shape, spec), kFold); }
double cost(const CostQuery& query) { return cost_of(query, trees(query.shape, query.spec)); }

}  // namespace

Algorithm hierarchical_chain() {
  return on_several_nodes({.name = "hierarchical_chain",
                           .summary = "owners fold their node, a chain of nodes per shard, in chunks",
                           .steps = "N−1, + 2",
                           .sent = "n, n/R of it over the network",
                           .source = "Patarasuk, Faraj & Yuan 2006",
                           .collective = Collective::reduce},
                          {build, traffic, canonical, cost});
}

}  // namespace umbel::algos::reduce
