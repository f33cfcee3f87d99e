// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Hierarchical broadcast down a tree of nodes.
//
// Idea. As hierarchical_chain, with a tree between the nodes instead of a chain: few steps, for messages that are not
// long enough to keep a chain at work. On every level of groups the groups' bridges form a binomial tree of their own,
// so each group's border is crossed once.
//
// Names. See trees.hpp. The root is its groups' bridge, of other groups the lowest rank is; hang_groups() makes the
// tree.
//
// Steps: for each level of K members up to ⌊log₂ K⌋, + 1 in nodes of several ranks; bytes that leave the root, the
// busiest rank: n⌈log₂ K⌉ a level over the network, and n(S−1) read by its S−1 mates. Any p on two nodes or more,
// uneven nodes and racks included, any size. Determinism: nothing is computed. Source: Karonis et al., "Exploiting
// hierarchy in parallel computer networks to optimize collective operation performance", 2000.
#include "algos/broadcast/broadcast.hpp"
#include "algos/broadcast/trees.hpp"
#include "algos/order.hpp"

namespace umbel::algos::broadcast {
namespace {

std::vector<Tree> trees(const Shape& shape, const Spec& spec) {
  Tree tree(spec.root, shape.ranks());
  std::vector<Rank> bridges = hang_groups(tree, shape, 0, binomial_parent);
  hang_mates(tree, shape, bridges);
  tree.turn_around();
  return {tree};
}

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  return build_trees(rank, shape, spec, trees(shape, spec));
}
Traffic traffic(const Shape& shape, const Spec& spec) { return traffic_of(trees(shape, spec)); }
double cost(const CostQuery& query) { return cost_of(query, trees(query.shape, query.spec)); }

}  // namespace

Algorithm hierarchical_tree() {
  return on_several_nodes({.name = "hierarchical_tree",
                           .summary = "a binomial tree a level of groups, each bridge shows its mates, in chunks",
                           .steps = "⌊log₂ K⌋ a level, + 1 in nodes",
                           .sent = "n⌈log₂ K⌉ a level over the network, + n(S−1)",
                           .source = "Karonis et al. 2000",
                           .collective = Collective::broadcast},
                          {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::broadcast
