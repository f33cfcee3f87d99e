// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Orders of ranks and nodes, and small integer helpers, for algorithms.
#pragma once

#include <bit>
#include <vector>

#include "base/shape.hpp"

namespace umbel::algos {

/// Every node's ranks, neighbours in the tree of groups next to each other.
std::vector<std::vector<Rank>> nodes_in_order(const Group& group);

/// Every rank once, those of a node together, nodes as above: a ring over it crosses each group's border twice.
std::vector<Rank> ranks_in_order(const Shape& shape);

/// The ranks of every node as above, but beginning with `first` and its node: on every level its group comes first, and
/// then those behind it, around. The node of `first` begins with it.
std::vector<std::vector<Rank>> nodes_from(const Group& group, Rank first);
std::vector<Rank> ranks_from(const Shape& shape, Rank first);

/// 0, 1, …
std::vector<Rank> ranks_ascending(const Shape& shape);

/// The ranks below `ranks` but `rank`, beginning after it: if all ranks go by that, they turn to different ones.
std::vector<Rank> others_in_turn(Rank rank, int ranks);

/// The most ranks of a node that have another node's rank `distance` ranks away, modulo p.
int ranks_leaving(const Shape& shape, int distance);

inline int floor_log2(int n) { return static_cast<int>(std::bit_width(static_cast<unsigned>(n))) - 1; }
inline int ceil_log2(int n) { return n <= 1 ? 0 : floor_log2(n - 1) + 1; }
inline int modulo(int a, int m) { return ((a % m) + m) % m; }

}  // namespace umbel::algos
