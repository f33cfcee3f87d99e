// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Does what a run needs fit into the host? Asked before the buffers are touched: the kernel grants more than there is,
// and then kills.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace umbel::bench {

struct MemoryNeed {
  double bytes = 0;             ///< of the buffers of all ranks on this host
  int ranks = 1;                ///< on this host
  std::uint64_t max_bytes = 0;  ///< the size of a call (-e) that they are for
  std::optional<std::uint64_t> available{};
};

/// What is needed, what there is, what to do; "" when it fits, or when it is not known what there is.
std::string memory_problem(const MemoryNeed& need);

/// MemAvailable of a text like /proc/meminfo's, in bytes. Swap does not count.
std::optional<std::uint64_t> available_of(std::string_view meminfo);

/// The same of this host, now.
std::optional<std::uint64_t> available_memory();

}  // namespace umbel::bench
