// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace umbel::bench {

/// Bytes: "4096", "64K", "1.5m", "2G" (times 1024, 1024², 1024³). nullopt for anything else, and above 2^60.
std::optional<std::uint64_t> parse_size(std::string_view text);

/// The sizes of a sweep as nccl-tests takes them: from `first`, times `factor` when that is above 1, else plus `step`,
/// up to and including `last`. After 0 comes 1. At least one size.
std::vector<std::uint64_t> sweep(std::uint64_t first, std::uint64_t last, std::uint64_t step, std::uint64_t factor);

}  // namespace umbel::bench
