// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Planning by the figures of a tuning file.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "placed.hpp"
#include "plan.hpp"
#include "runtime/tuning_file.hpp"

namespace umbel::plan {

/// The entry for the ranks and nodes of `options`, of several the last one, or else the only one; nothing without
/// CallOptions::tuning. @throws InvalidArgument where the file is none, or has none for these
std::optional<runtime::TuningEntry> tuning_of(const CallOptions& options);

/// `options` as the job of the entry would have it.
CallOptions as_tuned(CallOptions options, const runtime::TuningEntry& entry);
/// A planner that goes by the entry, if there is one.
Placed placed_by(const CallOptions& options, const std::optional<runtime::TuningEntry>& entry);

/// "by FILE, made …, for …", and what differs from the ranks and nodes of `options`.
std::string text_of(const runtime::TuningEntry& entry, const CallOptions& options);

/// A line for each figure: at start, tuned.
std::string figures_text(const runtime::TuningEntry& entry);

nlohmann::ordered_json to_json(const runtime::TuningEntry& entry, const CallOptions& options);

}  // namespace umbel::plan
