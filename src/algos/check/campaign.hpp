// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The whole proof of a catalog as a list of small tasks that can be done in any order, by any number of threads.
#pragma once

#include <map>
#include <set>

#include "algos/check/mutate.hpp"

namespace umbel::algos::check {

/// How long it may take.
enum class Thoroughness : std::uint8_t {
  quick,     ///< seconds: all shapes of few ranks, some of many; mutants of two and three ranks
  standard,  ///< minutes: every number of ranks; mutants of 2, 3, 5 and 8 ranks
  full,      ///< many minutes: every shape and spec of up to 16 ranks, many of more
};

struct CampaignOptions {
  Thoroughness thoroughness = Thoroughness::quick;
  int max_ranks = 64;
  std::optional<Collective> collective;  ///< only this one's algorithms
  std::string algorithm;                 ///< only those of this name; empty: all
  bool proofs = true;
  bool mutants = true;
};

/// One thing to show.
struct Task {
  const Algorithm* algorithm = nullptr;
  const Algorithm* partner = nullptr;  ///< a sequence of both
  Shape shape = Shape::one_node(1);
  Spec spec;
  Spec partner_spec{};
  Effort effort = Effort::quick;
  unsigned mutant_stride = 0;  ///< > 0: try every such mutant instead of proving
};

/// "broadcast chain"
std::string full_name(const Algorithm& algorithm);

/// The tasks, most expensive last; cases that an algorithm refuses are not among them.
std::vector<Task> tasks_of(std::span<const Algorithm> catalog, const CampaignOptions& options);

struct Outcome {
  Proof proof;
  MutationTally mutants;
  void add(const Outcome& other);
};

Outcome perform(const Task& task);

/// On what it was shown.
struct Coverage {
  std::set<int> ranks;
  std::set<std::uint64_t> shapes;  ///< by their hash
  std::set<Rank> roots;            ///< of a rooted collective
};

/// What became of each algorithm, by its full name, and of all.
struct Campaign {
  std::map<std::string, Outcome, std::less<>> by_algorithm;
  std::map<std::string, Coverage, std::less<>> coverage;  ///< likewise, of the proofs
  Outcome all;
  std::uint64_t shapes = 0;  ///< different placements
  bool passed() const;
};

/// Adds up; outcomes[n] belongs to tasks[n].
Campaign summarize(std::span<const Task> tasks, std::span<const Outcome> outcomes);

/// Survivors that nothing justifies.
std::uint64_t missed(const MutationTally& tally);

/// "proved: 12 algorithms, N programs on M shapes, …; mutants killed K of T", or what failed.
std::string summary_line(const Campaign& campaign);

}  // namespace umbel::algos::check
