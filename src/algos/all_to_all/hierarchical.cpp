// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Hierarchical all-to-all: for small messages on several nodes.
//
// Idea. All that goes from one node to another goes as one message: its ranks write their shares into a slot of the one
// that sends it, and the ranks of the other node take theirs from a slot of the one that receives it. A node sends N−1
// messages instead of S(p−S), and its ranks take turns in sending and receiving them.
//
// Names: node_pairs.hpp. Racks make no difference: every share crosses each border once anyway.
//
// Steps 3 (2 or 1 where nodes have one rank); bytes that leave a rank, of n a share: n for each share of its own,
// n·S·S' for each message that it sends to a node of S' ranks, n·S'(S−1) for each that it receives, read by its mates.
// Any p on two nodes or more, uneven nodes and racks included. Determinism: data is moved only. Source: Träff &
// Rougier, "MPI collectives and datatypes for hierarchical all-to-all communication", 2014.
#include "algos/all_to_all/all_to_all.hpp"
#include "algos/all_to_all/node_pairs.hpp"

namespace umbel::algos::all_to_all {
namespace {

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  return build_node_pairs(rank, shape, spec, Messages::one_a_pair);
}

Traffic traffic(const Shape& shape, const Spec&) { return node_pairs_traffic(shape, Messages::one_a_pair); }

double cost(const CostQuery& query) { return node_pairs_cost(query, Messages::one_a_pair); }

}  // namespace

Algorithm hierarchical() {
  return on_several_nodes({.name = "hierarchical",
                           .summary = "one message from each node to each other",
                           .steps = "3",
                           .sent = "n(p−1), + nS² a message sent, + nS(S−1) a message received",
                           .source = "Träff & Rougier 2014",
                           .collective = Collective::all_to_all},
                          {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::all_to_all
