// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algos/algorithm.hpp"

namespace umbel::plan {

/// Exit statuses of umbel_plan. `kNotProved` also stands for any other failure.
enum Status { kGood = 0, kNotProved = 1, kUsage = 2 };

/// Nothing for "". @throws InvalidArgument that lists the names, when there is no such collective.
std::optional<Collective> collective_named(std::string_view name);

/// Those of this name, of one collective or of all; at least one.
/// @throws InvalidArgument that lists the names, when there is none.
std::vector<const algos::Algorithm*> algorithms_named(std::optional<Collective> collective, std::string_view name);

struct ProveOptions {
  bool quick = false;
  bool full = false;
  std::string collective;  ///< empty: all
  std::string algorithm;   ///< empty: all
  int max_ranks = 64;
  unsigned threads = 0;  ///< 0: one a core
  std::string json;      ///< file to write; empty: none
};

/// Proves the catalog, tries mutants, and prints a line for each algorithm and one for all.
int prove(const ProveOptions& options);

struct ShowOptions {
  std::string collective = "all_reduce";
  std::string algorithm;
  int root = 0;
  int ranks = 0;
  std::string nodes;  ///< as UMBEL_NODES; empty: one node
  int rank = -1;      ///< −1: all
  bool direct = false;
  int channels = 1;
  int depth = 2;
};

/// Prints programs.
int show(const ShowOptions& options);

/// A call on a described cluster.
struct CallOptions {
  std::string collective = "all_reduce";
  std::string algorithm = "all";
  int root = 0;
  int ranks = 0;
  std::string nodes;    ///< as UMBEL_NODES; empty: one node
  std::string cluster;  ///< file; empty: the figures that are assumed before anything is measured
  std::string tuning;   ///< tuning file, in place of a cluster; empty: none
  std::string dtype = "fp32";
  std::string op = "sum";
  bool direct = false;
  bool registered = false;  ///< and read in place, as windows are
  bool reproducible = false;
  std::string json;  ///< file to write; empty: none
};

struct SimulateOptions {
  CallOptions call;
  std::string sizes;     ///< empty: 8:64M:x4
  std::string measured;  ///< file of measured times, which says what the call leaves empty; empty: none
};

/// Prints how long each algorithm takes, size by size, or what was measured beside what is predicted and simulated.
int simulate(const SimulateOptions& options);

struct ExplainOptions {
  CallOptions call;
  std::string bytes;
};

/// Prints what the planner chooses from for a call, and why it takes what it takes.
int explain(const ExplainOptions& options);

}  // namespace umbel::plan
