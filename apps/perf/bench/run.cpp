// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The program around the measurements: start-up, the sweep, reports, exit status.
#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <map>
#include <set>
#include <string>

#include "collective.hpp"
#include "common/launcher.hpp"
#include "options.hpp"
#include "preamble.hpp"
#include "report.hpp"
#include "runner.hpp"
#include "session.hpp"
#include "sizes.hpp"
#include "umbel/umbel.hpp"
#include "umbel/umbel_mpi.h"

namespace umbel::bench {
namespace {

Comm make_comm(const Options& options, Session& session) {
  umbel_config_t config = UMBEL_CONFIG_INIT;
  config.reproducible = options.reproducible ? 1 : 0;
  config.registered = options.local_register ? 1 : 0;
  config.timeout_s = options.timeout_s;
  return Comm::from_mpi(session.comm(), config);
}

/// Rank 0's side of the reports; on the other ranks it does nothing.
class Reporter {
 public:
  /// @throws std::system_error when a file cannot be written.
  Reporter(const Options& options, bool active) : table_(options.percentiles, options.peer_mpi), active_(active) {
    if (!active) return;
    if (!options.json_file.empty()) json_.emplace(options.json_file);
    if (!options.csv_file.empty()) csv_.emplace(options.csv_file);
  }

  void begin(const Traits& traits, const Options& options, const Session& session, const RunFacts& facts) {
    facts_ = facts;
    if (!active_) return;
    print_preamble(traits, options, session, facts);
    table_.print_header();
    if (csv_) csv_->write(csv_header());
  }
  void add(const Row& row) {
    totals_.add(row);
    if (row.out_of_place.time_us || row.in_place.time_us) {
      served_.insert(row.algorithm);
    } else {
      refusals_.try_emplace(row.algorithm, row.reason);
    }
    if (!active_) return;
    table_.print(row, facts_.busbw_limit_gbs);
    if (csv_) csv_->write(to_csv(row));
    if (json_) rows_.push_back(row);
  }
  /// Also after a failure: what was measured until then.
  void write_json() {
    if (json_) json_->write(to_json(facts_, rows_));
    json_.reset();
  }
  void end() {
    if (active_) Table::print_footer(totals_);
    write_json();
  }
  const Totals& totals() const noexcept { return totals_; }
  const RunFacts& facts() const noexcept { return facts_; }
  /// A line for each of these algorithms that no row was measured of: why.
  std::string unserved(const std::vector<std::string>& named) const {
    std::string text;
    for (const std::string& name : named) {
      const auto refusal = refusals_.find(name);
      if (refusal == refusals_.end() || served_.contains(name)) continue;
      text += fmt::format("{} was named, and could not serve any row: {}\n", name, refusal->second);
    }
    return text;
  }

 private:
  Table table_;
  bool active_;
  RunFacts facts_;
  Totals totals_;
  std::set<std::string> served_;
  std::map<std::string, std::string> refusals_;  // the first reason of each
  std::vector<Row> rows_;
  std::optional<OutputFile> json_;
  std::optional<OutputFile> csv_;
};

void run_sweep(const Collective& collective, const Options& options, Session& session, Comm& comm, Reporter& reporter) {
  constexpr std::uint64_t kSeed = 0x756d62656cULL;
  const Traits& traits = collective.traits;
  Runner runner(collective, options, session, comm, reporter.facts().busbw_limit_gbs);
  const auto bytes = sweep(options.min_bytes, options.max_bytes, options.step_bytes, options.step_factor);
  const std::vector<std::string> algorithms =
      options.algorithms.empty() ? std::vector<std::string>{""} : options.algorithms;
  const auto run_sizes = [&](const TypeInfo& type, const OpInfo& op) {
    const Pattern pattern = traits.reduces ? Pattern(type, op, session.size(), session.rank(), kSeed)
                                           : Pattern(type, session.rank(), kSeed);
    for (const int root : options.roots) {
      for (const std::uint64_t count : counts_of(traits, bytes, type.size, session.size())) {
        for (const std::string& algorithm : algorithms) {
          reporter.add(runner.measure({type, op, pattern, root, count, algorithm}));
        }
      }
    }
  };
  for (int cycle = 0; options.cycles == 0 || cycle < options.cycles; ++cycle) {
    for (const TypeInfo& type : options.types) {
      for (const OpInfo& op : options.ops) {
        // parse_options leaves what cannot be reduced only where one of them was `all`
        if (!traits.reduces || combine(type, op)) run_sizes(type, op);
      }
    }
  }
}

std::vector<int> node_sizes(Session& session, const umbel_comm_info_t& info) {
  std::vector<int> sizes(static_cast<std::size_t>(info.nodes));
  for (const int node : session.gather(info.node)) ++sizes[static_cast<std::size_t>(node)];
  return sizes;
}

/// Collective.
RunFacts facts_of(const Traits& traits, Session& session, const Comm& comm) {
  const umbel_comm_info_t info = comm.info();
  const Speeds speeds = speeds_of(info.busbw_limit_gbs, node_sizes(session, info));
  const char* description = nullptr;
  check(umbel_describe(comm.native(), &description));
  return {.collective = std::string(traits.name),
          .bus_factor = std::string(traits.bus_factor),
          .version = umbel_version(),
          .git = umbel_revision(),
          .mpi = session.mpi_version(),
          .ranks = info.ranks,
          .nodes = info.nodes,
          .busbw_limit_gbs = traits.limit_of == nullptr ? 0 : traits.limit_of(speeds),
          .description = description};
}

std::string algorithm_list(const Traits& traits) {
  if (!traits.collective) return fmt::format("{} is made of sends and receives: no algorithms\n", traits.name);
  std::string text;
  for (std::size_t i = 0; umbel_algorithm_name(*traits.collective, i) != nullptr; ++i) {
    const char* name = umbel_algorithm_name(*traits.collective, i);
    text += fmt::format("{:<20} {}\n", name, umbel_algorithm_summary(*traits.collective, name));
  }
  return text;
}

/// Everybody leaves in good order, with rank 0's word.
int leave(Session& session, int status, const std::string& text) {
  if (session.is_root() && !text.empty()) {
    fmt::print(status == kExitRight ? stdout : stderr, "{}", text);
    std::fflush(stdout);
  }
  session.finalize();
  return status;
}

int run_with_options(const Collective& collective, const Options& options, Session& session) {
  if (options.timeout_s > 0) session.set_timeout(std::chrono::duration<double>(options.timeout_s));
  const Capacity capacity =
      capacity_of(collective.traits, options.max_bytes, options.roots, session.rank(), session.size());
  const double buffer_bytes = static_cast<double>(capacity.send) + static_cast<double>(capacity.recv);
  if (const std::string lacking = session.memory_problem(buffer_bytes, options.max_bytes); !lacking.empty())
    return leave(session, kExitFailure, lacking + "\n");
  std::optional<Reporter> reporter;
  std::string problem;
  try {
    reporter.emplace(options, session.is_root());
  } catch (const std::system_error& error) {
    problem = fmt::format("{}\n", error.what());
  }
  if (session.broadcast(problem.empty() ? 0 : 1) != 0) return leave(session, kExitUsage, problem);

  Comm comm;
  try {
    comm = make_comm(options, session);
  } catch (const Error& error) {
    // a wrong setting (UMBEL_NODES that does not fit, …) is the user's to correct, as a wrong flag is
    session.die(error.what(), error.code() == UMBEL_ERROR_INVALID_ARGUMENT ? kExitUsage : kExitFailure);
  }
  session.set_timeout(std::chrono::duration<double>(comm.info().timeout_s));
  session.set_health_check([&comm] { comm.check_health(); });
  session.set_last_words([&reporter] { reporter->write_json(); });
  try {
    reporter->begin(collective.traits, options, session, facts_of(collective.traits, session, comm));
    run_sweep(collective, options, session, comm, *reporter);
    reporter->end();
    const std::string unserved = reporter->unserved(options.named);
    const int status = reporter->totals().wrong() != 0 ? kExitWrongData : unserved.empty() ? kExitRight : kExitUsage;
    session.set_health_check({});  // what follows waits without Umbel
    comm.close();
    session.set_health_check(nullptr);  // there is no communicator to look after in the wait that follows
    return leave(session, session.broadcast(status), unserved);
  } catch (const std::exception& error) {
    session.die(error.what(), kExitFailure);
  }
}

}  // namespace

int run(int argc, char** argv, const Collective& collective) {
  std::optional<Session> session;
  try {
    session.emplace(&argc, &argv);
    if (const std::string problem = apps::lone_rank_problem(session->size(), &std::getenv); !problem.empty()) {
      return leave(*session, kExitFailure, problem + "\n");
    }
    const Parsed parsed = parse_options(collective.traits, argc, argv, session->size());
    if (!parsed.options) return leave(*session, parsed.status, parsed.text);
    if (parsed.options->list_algorithms) return leave(*session, kExitRight, algorithm_list(collective.traits));
    return run_with_options(collective, *parsed.options, *session);
  } catch (const std::exception& error) {
    if (session) session->die(error.what(), kExitFailure);
    fmt::print(stderr, "{}\n", error.what());
    return kExitFailure;
  }
}

}  // namespace umbel::bench
