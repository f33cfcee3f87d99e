// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// An all-gather as a list of steps, in each of which a rank sends runs of shares that it has to other ranks and
// receives others: what those algorithms are made of that differ only in who sends what to whom.
//
// Every share is received once, into the output, and is sent on from there. Between node-mates it goes through a window
// slot. The memory lane knows what is in the output: its own copies, and what has `landed` as far as a later step sends
// it; then it lets the send lane go on (`ready`). Runs lie in rank order, so they are numbered by ranks.
#pragma once

#include <vector>

#include "algos/cost.hpp"

namespace umbel::algos::all_gather {

/// Shares first, first + 1, … of a message to or from `peer`.
struct Run {
  Rank peer = 0;
  int first = 0;
  int shares = 1;
};

/// What goes out to one rank and comes in from another; both sides list their messages in the same order.
struct Step {
  std::vector<Run> out, in;
  int stream = 0;  ///< a number that all messages between the same two ranks have in common, and others do not
};

/// A run of `shares` shares from `first`, modulo `ranks`: in one part or two.
std::vector<Run> wrapped(Rank peer, int first, int shares, int ranks);

/// How an exchange is laid out; equal on all ranks.
struct Layout {
  int streams = 1;      ///< Step::stream is below
  int longest_run = 1;  ///< shares
};

/// The program of one rank.
Program write_exchange(Rank rank, const Shape& shape, const Spec& spec, const Layout& layout,
                       const std::vector<Step>& steps);

/// Seconds of a step in which each rank sends `shares` shares in `messages` messages, at most `sharers` ranks of a node
/// to other nodes.
double step_cost(const CostTerms& terms, double shares, int messages, int sharers);

/// Seconds of a ring of `members` nodes of one rank, by a schedule.
double net_ring_cost(const CostQuery& query, int members);

/// A step as all ranks have it.
struct Round {
  std::vector<double> runs;  ///< messages that a rank sends, in shares
  int needs = 0;             ///< steps, from the first one, of which it sends something on
};

/// Seconds of the whole exchange, by a schedule of what its lanes do. @pre CostTerms::alike()
double rounds_cost(const CostQuery& query, const std::vector<Round>& rounds, int longest_run);

}  // namespace umbel::algos::all_gather
