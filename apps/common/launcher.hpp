// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <functional>
#include <string>

namespace umbel::apps {

/// Why a run of one rank must not go on: the launcher says that it started more, so they are separate jobs (a program
/// built for another MPI). Empty when all is well.
std::string lone_rank_problem(int ranks, const std::function<const char*(const char*)>& environment);

}  // namespace umbel::apps
