// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Placements of ranks on virtual nodes (values of UMBEL_NODES) that every algorithm must get right.
#pragma once

#include <mpi.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "umbel/umbel.hpp"
#include "umbel/umbel_mpi.h"

namespace umbel::test {

struct Layout {
  std::string name;
  std::string nodes;  ///< for UMBEL_NODES
};

/// Joins what `entry(rank)` says with commas.
template <class Entry>
std::string node_list(int ranks, Entry&& entry) {
  std::string list;
  for (int rank = 0; rank < ranks; ++rank) list += (rank == 0 ? "" : ",") + entry(rank);
  return list;
}

/// One node, two even, uneven, cyclic, reversed, three levels; fewer where the ranks do not suffice for two nodes.
inline std::vector<Layout> layouts_for(int ranks) {
  std::vector<Layout> layouts{{"one node", "1"}};
  if (ranks < 2) return layouts;
  const int cycle = ranks < 6 ? 2 : 3;
  layouts.push_back({"two even", "2"});
  layouts.push_back({"uneven", node_list(ranks, [&](int r) { return std::to_string(r == ranks - 1 ? 1 : 0); })});
  layouts.push_back({"cyclic", node_list(ranks, [&](int r) { return std::to_string(r % cycle); })});
  layouts.push_back({"reversed", node_list(ranks, [&](int r) { return std::to_string((ranks - 1 - r) / 2); })});
  layouts.push_back({"three levels", node_list(ranks, [&](int r) {
                       return std::to_string(r * 2 / ranks) + "/" + std::to_string(r * 4 / ranks % 2);
                     })});
  return layouts;
}

/// A communicator over MPI_COMM_WORLD placed so. Collective. @throws Error
inline Comm make_comm(const std::string& nodes, double timeout_s = 60) {
  ::setenv("UMBEL_NODES", nodes.c_str(), 1);
  umbel_config_t config = UMBEL_CONFIG_INIT;
  config.timeout_s = timeout_s;
  return Comm::from_mpi(MPI_COMM_WORLD, config);
}

inline std::vector<std::string> algorithms_of(umbel_collective_t collective) {
  std::vector<std::string> names;
  for (std::size_t i = 0; umbel_algorithm_name(collective, i) != nullptr; ++i)
    names.emplace_back(umbel_algorithm_name(collective, i));
  return names;
}

}  // namespace umbel::test
