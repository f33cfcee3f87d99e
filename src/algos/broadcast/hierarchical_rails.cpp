// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Hierarchical broadcast over rails: for long messages, where all ranks of a node are needed to drive its link.
//
// Idea. The data is cut in as many shards as the smallest node has ranks; in every node each shard has an owner. The
// root shows each owner of its node the shard; the owners of a shard pass it on from node to node, all shards at the
// same time; and every owner shows its shard to its node-mates. Chunk by chunk, so that all of that overlaps.
//
// Names. See trees.hpp: block s is shard s; its tree is root, owner in the root's node, chain of owners, each with its
// mates. The nodes stand in the order of the tree of groups, from the root's on, as in hierarchical_chain.
//
// Steps N for N nodes (N−1 if the root is the only rank of its node), + 1 in nodes of several ranks. With R ranks on
// the smallest node and S on the largest, bytes that leave an owner: n/R over the network and up to n(S−1)/R read by
// its mates; the root's mates read nearly n more. Any p on two nodes or more, uneven nodes and racks included, any
// size. Determinism: nothing is computed. Source: the rails as in NCCL's rings, one a network card; Patarasuk, Faraj &
// Yuan 2006 for the chains.
#include "algos/broadcast/broadcast.hpp"
#include "algos/broadcast/trees.hpp"
#include "algos/order.hpp"

namespace umbel::algos::broadcast {
namespace {

std::vector<Tree> trees(const Shape& shape, const Spec& spec) {
  std::vector<Tree> rails;
  for (int shard = 0; shard < shape.smallest_node(); ++shard) {
    Tree& tree = rails.emplace_back(spec.root, shape.ranks());
    std::vector<Rank> owners;
    for (const auto& node : nodes_from(shape.root(), spec.root))
      owners.push_back(shape.peers_of(node.front())[static_cast<std::size_t>(shard)]);
    if (owners.front() != spec.root) tree.hang(owners.front(), spec.root);
    hang_all(tree, owners, chain_parent);
    hang_mates(tree, shape, owners);
  }
  return rails;
}

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  return build_trees(rank, shape, spec, trees(shape, spec));
}
Traffic traffic(const Shape& shape, const Spec& spec) { return traffic_of(trees(shape, spec)); }
double cost(const CostQuery& query) { return cost_of(query, trees(query.shape, query.spec)); }

}  // namespace

Algorithm hierarchical_rails() {
  return on_several_nodes({.name = "hierarchical_rails",
                           .summary = "a chain of nodes per shard, each owner shows its mates, in chunks",
                           .steps = "N, + 1 in nodes",
                           .sent = "n(1 + (S−1))/R, n/R of it over the network; the root n(R−1)/R more",
                           .source = "NCCL; Patarasuk, Faraj & Yuan 2006",
                           .collective = Collective::broadcast},
                          {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::broadcast
