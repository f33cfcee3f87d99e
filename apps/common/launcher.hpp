// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace umbel::apps {

/// Exit statuses of the programs that describe or tune a job.
inline constexpr int kUsage = 2;
inline constexpr int kFailure = 3;

/// Why a run of one rank must not go on: the launcher says that it started more, so they are separate jobs (a program
/// built for another MPI). Empty when all is well.
std::string lone_rank_problem(int ranks, const std::function<const char*(const char*)>& environment);

/// Parses the command line and looks at how the job was started, on each of its ranks; rank 0 says what is wrong, or
/// what was asked for. @returns the exit status where the program ends with that
std::optional<int> early_exit(CLI::App& app, int argc, char** argv, int rank, int ranks);

}  // namespace umbel::apps
