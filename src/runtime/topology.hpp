// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>

namespace umbel::runtime {

inline constexpr std::size_t kMaxCores = 2048;

/// This host's processors and memory, by hwloc, and what of it this process may use.
struct HostTopology {
  int packages = 0;
  int numa_nodes = 0;
  int cores = 0;
  int threads = 0;
  std::bitset<kMaxCores> allowed_cores;  ///< by logical number: at least one of its threads is in this process's set
  std::size_t l2_bytes = 0;              ///< of one cache
  std::size_t l3_bytes = 0;
  int l2_sharers = 0;  ///< cores of one cache
  int l3_sharers = 0;
  std::uint64_t memory_bytes = 0;
  int bound_numa = -1;  ///< NUMA node, where this process may run on one only
  std::string cpu_model;
};

/// Looks once per process. Falls back to what the system calls say when hwloc cannot tell.
const HostTopology& host_topology();

}  // namespace umbel::runtime
