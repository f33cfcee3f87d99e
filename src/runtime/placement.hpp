// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Which rank is on which node: found by mapping memory, or said by the user (UMBEL_NODES). Pure functions; every rank
// calls them with the same arguments.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/shape.hpp"

namespace umbel::runtime {

/// Parses UMBEL_NODES for `ranks` ranks.
///   "2"                 that many nodes in contiguous blocks, larger first: 5 ranks in 2 → 3 + 2
///   "0,0,1,1"           one node per rank
///   "0/0,0/1,1/0,1/1"   one path per rank, outermost level first
/// @throws InvalidArgument naming what does not fit.
std::vector<std::vector<int>> parse_placement(std::string_view text, int ranks);

/// What parse_placement() makes this shape of.
std::string placement_text(const Shape& shape);

/// Which ranks can map each other's memory: reach[a·ranks + b] is nonzero when a has read what b wrote and the reverse.
struct Reach {
  int ranks = 0;
  std::vector<std::uint8_t> bits;

  bool both(Rank a, Rank b) const {
    const auto at = [this](Rank x, Rank y) {
      return bits[static_cast<std::size_t>(x) * static_cast<std::size_t>(ranks) + static_cast<std::size_t>(y)];
    };
    return a == b || (at(a, b) != 0 && at(b, a) != 0);
  }
};

/// Groups of ranks that reach each other pairwise: each rank joins the first group all of whose members it reaches.
Shape shape_from_reach(const Reach& reach);

/// The shape that the user wants. @throws InvalidArgument when ranks of one node cannot map each other.
Shape shape_from_placement(std::string_view text, const Reach& reach);

}  // namespace umbel::runtime
