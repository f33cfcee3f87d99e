// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Hierarchical scatter, the mirror image of the hierarchical gather: for small messages on several nodes.
//
// Idea. The root sends every other node the shares of its ranks as one message, and one rank there shows them to the
// others; the same for groups of nodes, on any number of levels. The network carries one message a group, and every
// share once.
//
// Names: tree.hpp. The tree is that of the groups (lanes/rank_tree.hpp): leaders of nodes are below leaders of groups,
// and the root leads whatever it is in.
//
// Steps 2, and 1 more for each level of groups (1 less where all groups have one member); bytes that leave the root
// n(p−1), of n a share. Any p on two nodes or more, uneven nodes and racks included, any root.
// Determinism: data is moved only.
// Source: Graham et al., "Cheetah: a framework for scalable hierarchical collective operations", 2011.
#include "algos/scatter/scatter.hpp"
#include "algos/scatter/tree.hpp"

namespace umbel::algos::scatter {
namespace {

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  return build_tree(rank, shape, spec, group_tree(shape, spec.root));
}

Traffic traffic(const Shape& shape, const Spec& spec) { return tree_traffic(group_tree(shape, spec.root)); }

double cost(const CostQuery& query) { return tree_cost(query, group_tree(query.shape, query.spec.root)); }

}  // namespace

Algorithm hierarchical() {
  return on_several_nodes({.name = "hierarchical",
                           .summary = "one message a node and a group, one rank of each hands on",
                           .steps = "2 + levels of groups",
                           .sent = "n(p−1)",
                           .source = "Graham et al. 2011",
                           .collective = Collective::scatter},
                          {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::scatter
