// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Hierarchical reduce through leaders: for small messages on several nodes.
//
// Idea. Each node has a leader, and so has each group of nodes, on any number of levels; the leader of the root's
// groups is the root. A leader folds its node's operands and what the leaders below it send, in one go; on every level
// they form a binomial tree. One message a node is the least that there is over a network.
//
// Names. See trees.hpp; hang_groups() makes the tree. Leaders of other groups are the lowest ranks.
//
// Steps: for each level of K members up to ⌊log₂ K⌋, + 1 in nodes of several ranks; bytes sent by every rank but the
// root n. Any p on two nodes or more, uneven nodes and racks included, any size. Determinism: a leader folds once, in
// the order of lowest ranks; or, `ordered`, its node as a tree, then what comes from other nodes in turn. Source:
// Graham et al., "Cheetah: a framework for scalable hierarchical collective operations", 2011.
#include "algos/order.hpp"
#include "algos/reduce/reduce.hpp"
#include "algos/reduce/trees.hpp"

namespace umbel::algos::reduce {
namespace {

constexpr Fold kFold = Fold::at_once;

std::vector<Tree> trees(const Shape& shape, const Spec& spec) {
  Tree tree(spec.root, shape.ranks());
  hang_mates(tree, shape, hang_groups(tree, shape, 0, binomial_parent));
  return {tree};
}

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  return build_trees(rank, shape, spec, trees(shape, spec), kFold);
}
Traffic traffic(const Shape& shape, const Spec& spec) { return traffic_of(spec, trees(shape, spec)); }
bool canonical(const Shape& shape, const Spec& spec) { return canonical_of(shape, spec, trees(shape, spec), kFold); }
double cost(const CostQuery& query) { return cost_of(query, trees(query.shape, query.spec)); }

}  // namespace

Algorithm hierarchical_leader() {
  return on_several_nodes({.name = "hierarchical_leader",
                           .summary = "leaders fold their nodes, a binomial tree a level of groups, in chunks",
                           .steps = "⌊log₂ K⌋ a level, + 1 in nodes",
                           .sent = "n",
                           .source = "Graham et al. 2011",
                           .collective = Collective::reduce},
                          {build, traffic, canonical, cost});
}

}  // namespace umbel::algos::reduce
