// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Hierarchical reduce up trees of nodes: for medium messages on several nodes.
//
// Idea. The data is cut in as many shards as the smallest node has ranks; in every node each shard has an owner, which
// folds its node's operands. A shard's owners form a tree whose top is the owner in the root's node, and the root
// copies the finished shards from the owners of its node. So all ranks fold, and all drive their node's link. On every
// level of groups the members form a binomial tree of their own, so each group's border is crossed once.
//
// Names. See trees.hpp: block s is shard s; hang_groups() makes its tree. An owner folds what its mates show and what
// comes from other nodes in one go.
//
// Steps: for each level of K members up to ⌊log₂ K⌋, + 1 in nodes of several ranks, + 1 to the root. Bytes that leave a
// rank n: with R ranks on the smallest node an owner sends n/R over the network, the others are read by its mates. Any
// p on two nodes or more, uneven nodes and racks included, any size. Determinism: an owner folds once, in the order of
// lowest ranks; or, `ordered`, its node as a tree, then what comes from other nodes in turn. Source: Karonis et al.,
// "Exploiting hierarchy in parallel computer networks to optimize collective operation performance", 2000; the shards
// as in hierarchical_ring of all-reduce.
#include "algos/order.hpp"
#include "algos/reduce/reduce.hpp"
#include "algos/reduce/trees.hpp"

namespace umbel::algos::reduce {
namespace {

constexpr Fold kFold = Fold::at_once;

std::vector<Tree> trees(const Shape& shape, const Spec& spec) {
  std::vector<Tree> shards;
  for (int shard = 0; shard < shape.smallest_node(); ++shard) {
    Tree& tree = shards.emplace_back(shape.peers_of(spec.root)[static_cast<std::size_t>(shard)], shape.ranks());
    hang_mates(tree, shape, hang_groups(tree, shape, shard, binomial_parent));
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

Algorithm hierarchical_tree() {
  return on_several_nodes({.name = "hierarchical_tree",
                           .summary = "owners fold their node, a binomial tree a level of groups per shard, in chunks",
                           .steps = "⌊log₂ K⌋ a level, + 2",
                           .sent = "n, n/R of it over the network",
                           .source = "Karonis et al. 2000",
                           .collective = Collective::reduce},
                          {build, traffic, canonical, cost});
}

}  // namespace umbel::algos::reduce
