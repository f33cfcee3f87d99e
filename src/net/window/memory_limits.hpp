// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <cstddef>
#include <string>

namespace umbel::net {

/// `64.0 MiB (67108864 bytes)`.
std::string bytes_text(std::size_t bytes);

/// Would allocating this much shared memory certainly fail? Looks at the machine's available memory and swap and at the
/// control group's limit. Returns what stands in the way and how to move it; empty when nothing is known to.
std::string memory_obstacle(std::size_t bytes);

/// The same for the size of an anonymous file: past RLIMIT_FSIZE the kernel sends SIGXFSZ.
std::string file_size_obstacle(std::size_t bytes);

}  // namespace umbel::net
