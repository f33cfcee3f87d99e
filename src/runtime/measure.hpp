// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include "algos/algorithm.hpp"
#include "net/bootstrap.hpp"
#include "runtime/members.hpp"

namespace umbel::runtime {

/// What the model and the limits come from; equal on all ranks.
struct Measured {
  algos::Model model{};
  double cache_beta = 0;  ///< seconds per byte of a copy that stays in the cache: nothing is faster
};

/// Collective. Measures copies, folds, flags and (with more than one node) the network, some milliseconds in all, and
/// agrees on the numbers: for local costs the median of the ranks, each one's best of several tries; for the network
/// what rank 0 and the first rank of another node see.
/// @param direct          node-mates' user memory can be read
/// @param ranks_per_core  of the most loaded host
Measured measure(const net::Bootstrap& bootstrap, Members& members, bool direct, double ranks_per_core);

}  // namespace umbel::runtime
