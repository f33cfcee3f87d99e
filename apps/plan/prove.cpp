// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "algos/check/campaign.hpp"
#include "base/error.hpp"
#include "plan.hpp"

namespace umbel::plan {
namespace {

using algos::check::Campaign;
using algos::check::Outcome;
using algos::check::Task;

/// Does the tasks on several threads, each taking the next that is left.
std::vector<Outcome> perform_all(std::span<const Task> tasks, unsigned threads) {
  std::vector<Outcome> outcomes(tasks.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t n = next++; n < tasks.size(); n = next++) outcomes[n] = perform(tasks[tasks.size() - 1 - n]);
  };
  {
    std::vector<std::jthread> others;
    for (unsigned t = 1; t < threads; ++t) others.emplace_back(work);
    work();
  }
  std::reverse(outcomes.begin(), outcomes.end());
  return outcomes;
}

nlohmann::json to_json(const Outcome& outcome) {
  nlohmann::json survivors = nlohmann::json::array();
  for (const auto& s : outcome.mutants.survivors)
    survivors.push_back({{"mutant", s.text}, {"justification", s.justification}});
  nlohmann::json out{{"programs", outcome.proof.programs},
                     {"runs", outcome.proof.runs},
                     {"instructions", outcome.proof.instructions},
                     {"elements", outcome.proof.elements},
                     {"canonical", outcome.proof.canonical},
                     {"mutants",
                      {{"killed", outcome.mutants.killed},
                       {"equivalent", outcome.mutants.equivalent},
                       {"missed", missed(outcome.mutants)},
                       {"total", outcome.mutants.total},
                       {"survivors", survivors}}}};
  out["finding"] = outcome.proof.finding ? nlohmann::json(outcome.proof.finding->text) : nlohmann::json();
  return out;
}

void write_json(const std::string& path, const Campaign& campaign, double seconds) {
  nlohmann::json out{{"schema", 1},
                     {"passed", campaign.passed()},
                     {"summary", summary_line(campaign)},
                     {"shapes", campaign.shapes},
                     {"seconds", seconds},
                     {"all", to_json(campaign.all)}};
  for (const auto& [name, outcome] : campaign.by_algorithm) {
    const std::size_t space = name.find(' ');  // "broadcast chain"
    nlohmann::json& entry = out["collectives"][name.substr(0, space)][name.substr(space + 1)];
    entry = to_json(outcome);
    const auto covered = campaign.coverage.find(name);
    if (covered == campaign.coverage.end()) continue;
    entry["ranks"] = covered->second.ranks;
    entry["roots"] = covered->second.roots;
    entry["shapes"] = covered->second.shapes.size();
  }
  std::ofstream file(path);
  file << out.dump(2) << '\n';
  if (!file.flush()) throw InvalidArgument(fmt::format("cannot write {}", path));
}

void print_algorithm(std::string_view name, const Outcome& outcome) {
  const auto& [proof, mutants] = outcome;
  fmt::print("{:<34} {:>8} programs {:>12} instructions {:>10} results  mutants {:>6}/{:<6}{}{}{}\n", name,
             proof.programs, proof.instructions, proof.elements, mutants.killed, mutants.total,
             mutants.equivalent > 0 ? fmt::format("  {} equivalent", mutants.equivalent) : "",
             missed(mutants) > 0 ? fmt::format("  {} MISSED", missed(mutants)) : "",
             proof.canonical ? "  canonical" : "");
  if (proof.finding) fmt::print("  WRONG: {}\n", proof.finding->text);
  for (const auto& survivor : mutants.survivors)
    if (survivor.justification.empty()) fmt::print("  MISSED: {}\n", survivor.text);
}

}  // namespace

int prove(const ProveOptions& options) {
  using algos::check::Thoroughness;
  const std::optional<Collective> collective = collective_named(options.collective);
  if (!options.algorithm.empty()) algorithms_named(collective, options.algorithm);
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<Task> tasks =
      algos::check::tasks_of(algos::catalog(), {.thoroughness = options.quick  ? Thoroughness::quick
                                                                : options.full ? Thoroughness::full
                                                                               : Thoroughness::standard,
                                                .max_ranks = options.max_ranks,
                                                .collective = collective,
                                                .algorithm = options.algorithm});
  const unsigned threads = options.threads > 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
  const std::vector<Outcome> outcomes = perform_all(tasks, threads);
  const Campaign campaign = summarize(tasks, outcomes);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  for (const auto& [name, outcome] : campaign.by_algorithm) print_algorithm(name, outcome);
  if (!options.json.empty()) write_json(options.json, campaign, seconds);
  fmt::print("{} ({:.1f} s)\n", summary_line(campaign), seconds);
  return campaign.passed() ? kGood : kNotProved;
}

}  // namespace umbel::plan
