// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Ranks that give each other shares without anybody in between: what all_to_all's `direct` and `pairwise` and the
// `direct` and `linear` forms of gather and scatter have in common. They differ in who gives to whom.
//
// Every pair loops over the chunks of its own share, so these lanes also serve shares of different lengths.
//   give    copies what node-mates get into window slots, a stream for each, in the order of `to`
//   take    copies the own share, then what node-mates have given, in the order of `from`, to the output
//   send, receive   over a network, straight from the input into the output
// With `direct` there are no slots: a mate copies from the giver's input when that has `entered`, and the giver stays
// until all have `left`.
//
// Slots. Streams of a rank's mates lie in `groups` groups of slots by turns; before a stream takes over the slots of
// an earlier one, all that went through that has been read. Nobody waits for ever: what stream n waits for is taken by
// ranks that come before in everybody's order.
#pragma once

#include <vector>

#include "algos/algorithm.hpp"
#include "algos/builder.hpp"

namespace umbel::algos {

struct PairsSetup {
  Collective collective = Collective::all_to_all;  ///< all_to_all, gather or scatter
  std::vector<Rank> to{};                          ///< whom this rank gives a share, in this order
  std::vector<Rank> from{};                        ///< who gives it one, in this order
  bool own = true;                                 ///< whether it keeps a share
  int groups = 1;                                  ///< of slots in every window; equal on all ranks
  int depth = 1;                                   ///< slots of a group
  bool direct = false;
};

/// Semaphore kinds 0 … kPairKinds−1 are theirs.
inline constexpr int kPairKinds = 2;

/// Everybody gives to everybody, beginning after itself, and takes in the opposite order: in every turn each takes from
/// the one that gives to it.
PairsSetup pairs_of_all(Rank rank, const Shape& shape, const Spec& spec, int groups);

/// Who gives to whom in a gather or scatter in which the root deals with everybody itself.
PairsSetup pairs_with_root(Collective collective, Rank rank, const Shape& shape, const Spec& spec);

/// Writes the lanes of one rank.
void write_pairs(Builder& builder, const PairsSetup& setup);

/// Seconds, by a schedule of what these lanes do. All to all: on one node, or on nodes of one rank.
double pairs_of_all_cost(const CostQuery& query, int groups);
double pairs_with_root_cost(const CostQuery& query, Collective collective);

/// Shares of an all-to-all that leave the busiest node.
double shares_over_a_link(const Shape& shape);

/// A whole program of them.
Program build_pairs(Rank rank, const Shape& shape, const Spec& spec, const PairsSetup& setup);

}  // namespace umbel::algos
