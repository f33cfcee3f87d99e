// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The command line: nccl-tests' flags where they have a meaning here, and Umbel's own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "traits.hpp"
#include "types.hpp"

namespace umbel::bench {

/// Which rank's time counts for an iteration (nccl-tests' -a).
enum class Across { rank0 = 0, mean = 1, minimum = 2, maximum = 3 };

struct Options {
  std::uint64_t min_bytes = 32U << 20U;
  std::uint64_t max_bytes = 32U << 20U;
  std::uint64_t step_bytes = 1U << 20U;
  std::uint64_t step_factor = 1;  ///< above 1: sizes are multiplied, step_bytes is not used
  int iterations = 20;
  int warmup = 5;
  int check = 1;           ///< iterations whose results are checked, the last ones; 0: none
  int cycles = 1;          ///< the whole sweep so many times; 0: until stopped
  std::vector<int> roots;  ///< one after another
  Across across = Across::maximum;
  bool cpu_time = false;
  double timeout_s = 0;  ///< 0: the library's
  bool reproducible = false;
  bool local_register = false;          ///< buffers come from umbel_mem_alloc
  std::vector<TypeInfo> types;          ///< of a barrier: one, "none"
  std::vector<OpInfo> ops;              ///< of a collective that does not reduce: one, "none"
  std::vector<std::string> algorithms;  ///< empty: as the library is configured; "auto" may be among them
  std::vector<std::string> named;       ///< of those, the ones asked for by name, not by all or auto
  bool peer_mpi = false;
  bool percentiles = false;
  bool list_algorithms = false;
  std::string json_file;
  std::string csv_file;
};

/// What the command line comes to: options, or a text to print and a status to exit with.
struct Parsed {
  std::optional<Options> options;
  std::string text;
  int status = 0;
};

inline constexpr int kExitRight = 0;
inline constexpr int kExitWrongData = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitFailure = 3;

/// @param ranks  processes of this run.
Parsed parse_options(const Traits& traits, int argc, const char* const* argv, int ranks);

}  // namespace umbel::bench
