// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/config.hpp"
#include "net/bootstrap.hpp"
#include "runtime/communicator.hpp"
#include "runtime/context.hpp"
#include "runtime/measure.hpp"
#include "runtime/members.hpp"
#include "runtime/tuning_file.hpp"

namespace umbel::runtime {

/// What a communicator is made of, before its first call. Equal on all ranks but for what `members` says of this one.
struct Founded {
  Config config;
  ArenaLayout layout{};
  Context* context = nullptr;  ///< of this rank
  ArenaLease arena;            ///< this rank's own
  Members members;
  bool direct = false;        ///< node-mates' user buffers can be read
  std::string direct_text;    ///< how, or why not
  bool registered = false;    ///< buffers are expected to be registered memory, and calls planned for that
  double ranks_per_core = 1;  ///< of the most loaded host
  bool crowded = false;       ///< this host has more ranks than cores
  Measured measured{};
  std::string tuning_text = "none";  ///< TuningAnswer::text
};

/// Collective. Everything that ranks settle, exchange and measure, step by step; each step succeeds on all ranks or
/// throws on all.
Founded found(const net::Bootstrap& bootstrap, const CommOptions& options);

/// What a tuning file for such a communicator is for.
JobTopology topology_of(const Founded& founded);

}  // namespace umbel::runtime
