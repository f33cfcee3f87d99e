// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "launcher.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>

#include "usage.hpp"

namespace umbel::apps {

std::string lone_rank_problem(int ranks, const std::function<const char*(const char*)>& environment) {
  if (ranks != 1) return {};
  const auto more_than_one = [&](const char* name) -> std::string {
    const char* text = environment(name);
    if (text == nullptr || std::atoi(text) <= 1) return {};
    return fmt::format(
        "MPI says that this job has one rank, but {}={}: the program was built for another MPI than the "
        "launcher's, or started by the wrong mpirun. Each process would run alone.",
        name, text);
  };
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    if (const std::string problem = more_than_one(name); !problem.empty()) return problem;
  }
  const bool other_launcher = environment("OMPI_COMM_WORLD_SIZE") != nullptr || environment("PMI_SIZE") != nullptr;
  return other_launcher ? std::string{} : more_than_one("SLURM_STEP_NUM_TASKS");
}

std::optional<int> early_exit(CLI::App& app, int argc, char** argv, int rank, int ranks) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const UsageText usage = usage_text(app, error);
    if (rank == 0) fmt::print(usage.wrong ? stderr : stdout, "{}", usage.text);
    return usage.wrong ? kUsage : 0;
  }
  const std::string problem = lone_rank_problem(ranks, &std::getenv);
  if (problem.empty()) return std::nullopt;
  fmt::print(stderr, "{}\n", problem);
  return kFailure;
}

}  // namespace umbel::apps
