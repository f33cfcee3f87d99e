// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include "plan.hpp"

namespace umbel::plan {

/// Prints the times of a perf app's --json file beside those that the cost model predicts and the simulator finds.
/// @throws InvalidArgument
int beside_measured(const SimulateOptions& options);

}  // namespace umbel::plan
