// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Hierarchical all-to-all on rails: for small and medium messages on several nodes.
//
// Idea. What goes from one node to a rank of another goes as one message: the sending node's ranks write their shares
// into a slot of the one that sends it, and it is sent straight to the rank that wants it. The i-th rank of a node
// sends what goes to the i-th rank of every other node, so that all ranks drive the network, each on its rail. A node
// sends p−S messages instead of S(p−S).
//
// Names: node_pairs.hpp. Where the receiving node is larger, its ranks beyond are served by turns.
//
// Steps 2 (1 where nodes have one rank); bytes that leave a rank, of n a share: n for each share of its own, n·S for
// each message that it sends. Any p on two nodes or more, uneven nodes and racks included. Determinism: data is moved
// only. Source: the rail-aligned exchange (PXN) of NCCL 2.12, 2022.
#include "algos/all_to_all/all_to_all.hpp"
#include "algos/all_to_all/node_pairs.hpp"

namespace umbel::algos::all_to_all {
namespace {

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  return build_node_pairs(rank, shape, spec, Messages::one_a_rank);
}

Traffic traffic(const Shape& shape, const Spec&) { return node_pairs_traffic(shape, Messages::one_a_rank); }

double cost(const CostQuery& query) { return node_pairs_cost(query, Messages::one_a_rank); }

}  // namespace

Algorithm hierarchical_rails() {
  return on_several_nodes({.name = "hierarchical_rails",
                           .summary = "one message from each node to each rank of the others, rank i to rank i",
                           .steps = "2",
                           .sent = "n(p−1), + nS a message sent",
                           .source = "NCCL 2.12, 2022",
                           .collective = Collective::all_to_all},
                          {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::all_to_all
