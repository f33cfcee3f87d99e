// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Hierarchical broadcast along a chain of nodes.
//
// Idea. One rank a node, its bridge, gets the data over the network; the bridges form a chain, and each shows what it
// gets to its node-mates. Chunk by chunk, so that all nodes, and the network and the memory, are at work at the same
// time. Every node's link carries the data once in each direction, the least possible.
//
// Names. See trees.hpp. The root is its node's bridge, of other nodes the lowest rank is. The nodes stand in the order
// of the tree of groups, from the root's on (nodes_from()), so that each group's border is crossed once in and once
// out.
//
// Steps N−1 for N nodes, + 1 in nodes of several ranks; bytes that leave a bridge: n over the network, and n(S−1) read
// by its S−1 mates. Any p on two nodes or more, uneven nodes and racks included, any size. Determinism: nothing is
// computed. Source: Patarasuk, Faraj & Yuan 2006 for the chain; the hierarchy as in Graham et al., "Cheetah: a
// framework for scalable hierarchical collective operations", 2011.
#include "algos/broadcast/broadcast.hpp"
#include "algos/broadcast/trees.hpp"
#include "algos/order.hpp"

namespace umbel::algos::broadcast {
namespace {

std::vector<Tree> trees(const Shape& shape, const Spec& spec) {
  Tree tree(spec.root, shape.ranks());
  std::vector<Rank> bridges;
  for (const auto& node : nodes_from(shape.root(), spec.root)) bridges.push_back(node.front());
  hang_all(tree, bridges, chain_parent);
  hang_mates(tree, shape, bridges);
  return {tree};
}

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  return build_trees(rank, shape, spec, trees(shape, spec));
}
Traffic traffic(const Shape& shape, const Spec& spec) { return traffic_of(trees(shape, spec)); }
double cost(const CostQuery& query) { return cost_of(query, trees(query.shape, query.spec)); }

}  // namespace

Algorithm hierarchical_chain() {
  return on_several_nodes({.name = "hierarchical_chain",
                           .summary = "a chain of one rank a node, each shows its mates, in chunks",
                           .steps = "N−1, + 1 in nodes",
                           .sent = "nS, n of it over the network",
                           .source = "Patarasuk, Faraj & Yuan 2006; Graham et al. 2011",
                           .collective = Collective::broadcast},
                          {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::broadcast
