// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// All-to-all with messages between nodes that carry the shares of many ranks: what `hierarchical` and
// `hierarchical_rails` have in common. They differ in how many messages a pair of nodes exchanges: one, or one for each
// rank of the receiving node.
//
// A message from node A to node B carries chunks of the shares of all ranks of A for some ranks of B, its targets. A
// rank of A, its owner, sends it from a window slot, and a rank of B receives it in one. Shares inside a node go
// straight (lanes/pairs.hpp). Lanes, chunk by chunk, each message by message:
//   give     everybody writes its shares for a message's targets into the owner's slot: `filled`
//   send     the owner sends when all have
//   recycle  when that has left, it gives the slot back to all: `free`
//   receive  into a slot that all targets have `read`
//   show     a message has arrived: `shown` to its targets
//   take     each target copies what is for it to its output
#pragma once

#include "algos/algorithm.hpp"

namespace umbel::algos::all_to_all {

enum class Messages : std::uint8_t { one_a_pair, one_a_rank };

Program build_node_pairs(Rank rank, const Shape& shape, const Spec& spec, Messages messages);
Traffic node_pairs_traffic(const Shape& shape, Messages messages);
double node_pairs_cost(const CostQuery& query, Messages messages);

}  // namespace umbel::algos::all_to_all
