// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// umbel_setup: what it costs to make communicators, in time and memory, and a first call against those that follow.
// Run it by mpirun with several numbers of ranks: docs/performance.md, "What setting up costs".
// Exit status: 0, 2 usage, 3 failure.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/options.hpp"
#include "bench/session.hpp"
#include "bench/statistics.hpp"
#include "common/launcher.hpp"
#include "common/usage.hpp"
#include "umbel/umbel.hpp"
#include "umbel/umbel_mpi.h"

namespace umbel::setup {
namespace {

using bench::Session;
using Clock = std::chrono::steady_clock;

/// This process's memory, in MB (10^6 bytes).
struct Memory {
  double resident = 0;  ///< of all that it maps, what is in memory
  double share = 0;     ///< the same, each page divided by the number of processes that map it
};

/// @throws std::runtime_error where the kernel (before 4.14) does not say
Memory memory_now() {
  std::ifstream file("/proc/self/smaps_rollup");
  std::optional<double> resident, share;
  for (std::string word; file >> word;) {
    double kib = 0;
    if (word == "Rss:" && file >> kib) resident = kib * 1024 / 1e6;
    if (word == "Pss:" && file >> kib) share = kib * 1024 / 1e6;
  }
  if (!resident || !share)
    throw std::runtime_error("/proc/self/smaps_rollup does not say what memory this process has");
  return {*resident, *share};
}

/// Each number's largest over the ranks.
std::vector<double> over_ranks(Session& session, std::vector<double> values) {
  session.combine(values, bench::Across::maximum);
  return values;
}

/// In ms, of the rank that took longest.
double time_of(Session& session, const std::function<void()>& work) {
  session.barrier();
  const Clock::time_point start = Clock::now();
  work();
  const std::chrono::duration<double, std::milli> time = Clock::now() - start;
  return over_ranks(session, {time.count()}).front();
}

double median(const std::vector<double>& values) { return bench::summarize(values).p50; }

/// The communicator's own words on what a rank shares for it.
std::string window_text(const Comm& comm) {
  const char* text = nullptr;
  check(umbel_describe(comm.native(), &text));
  const auto described = nlohmann::json::parse(text);
  for (const auto& fact : described.at("communicator").at("facts"))
    if (fact.at("name") == "window") return fact.at("value");
  throw std::runtime_error("umbel_describe says nothing of windows");
}

/// Makes communicators and keeps them, so that each takes memory of its own.
std::vector<Comm> make_communicators(Session& session, int count) {
  std::vector<Comm> comms;
  std::vector<double> later_ms;
  const auto make = [&] { comms.push_back(Comm::from_mpi(session.comm())); };
  const auto memory = [&] {
    session.barrier();
    return memory_now();
  };
  const Memory before = memory();
  const double first_ms = time_of(session, make);
  const Memory first = memory();
  while (static_cast<int>(comms.size()) < count) later_ms.push_back(time_of(session, make));
  const Memory last = memory();
  const double more = count - 1;
  const std::vector<double> mb =
      over_ranks(session, {first.resident - before.resident, first.share - before.share,
                           (last.resident - first.resident) / more, (last.share - first.share) / more});
  const std::string window = window_text(comms.front());
  if (session.is_root()) {
    fmt::print("# ranks {}, nodes {}; shared memory: {}\n", session.size(), comms.front().nodes(), window);
    fmt::print("# times: of the rank that takes longest; MB (10^6 bytes): of the rank that takes most\n");
    fmt::print("#{:>15}{:>14}{:>18}{:>16}\n", "communicator", "ms", "resident MB", "its share MB");
    fmt::print("{:>16}{:>14.1f}{:>18.2f}{:>16.2f}\n", "first", first_ms, mb[0], mb[1]);
    fmt::print("{:>16}{:>14.1f}{:>18.2f}{:>16.2f}\n", "each further", median(later_ms), mb[2], mb[3]);
  }
  return comms;
}

struct Case {
  const char* name;
  std::function<void(Comm&)> call;
};

/// The first call of a communicator plans and builds its program, the second finds it.
void measure_calls(Session& session, std::vector<Comm>& comms) {
  constexpr int kLater = 20;
  if (session.is_root())
    fmt::print("#{:>15}{:>14}{:>18}{:>16}{:>16}\n", "call", "bytes", "first ms", "second ms", "later ms");
  for (const std::size_t bytes : {std::size_t{4} << 10U, std::size_t{1} << 20U}) {
    const std::size_t share = bytes / sizeof(float) / static_cast<std::size_t>(session.size());
    const std::vector<float> send(bytes / sizeof(float), 1.0F);
    std::vector<float> recv(send.size());
    std::vector<float> gathered(share * static_cast<std::size_t>(session.size()));
    const std::array<Case, 3> cases{
        {{"all_reduce", [&](Comm& comm) { comm.all_reduce(send, recv); }},
         {"broadcast", [&](Comm& comm) { comm.broadcast(recv, 0); }},
         {"all_gather", [&](Comm& comm) { comm.all_gather(std::span(send).first(share), gathered); }}}};
    for (const auto& [name, call] : cases) {
      std::vector<double> first, second, later;
      for (Comm& comm : comms) {
        first.push_back(time_of(session, [&] { call(comm); }));
        second.push_back(time_of(session, [&] { call(comm); }));
        for (int k = 0; k < kLater; ++k) later.push_back(time_of(session, [&] { call(comm); }));
      }
      if (session.is_root())
        fmt::print("{:>16}{:>14}{:>18.3f}{:>16.3f}{:>16.3f}\n", name, bytes, median(first), median(second),
                   median(later));
    }
  }
}

int run(Session& session, int argc, char** argv) {
  int communicators = 5;
  CLI::App app("What it costs to make communicators, in time and memory, and a first call against those that follow.",
               "umbel_setup");
  app.add_option("--communicators", communicators, "How many are made, and kept until the end")
      ->check(CLI::Range(2, 1000))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const apps::UsageText usage = apps::usage_text(app, error);
    if (session.is_root()) fmt::print(usage.wrong ? stderr : stdout, "{}", usage.text);
    return usage.wrong ? bench::kExitUsage : bench::kExitRight;
  }
  if (const std::string problem = apps::lone_rank_problem(session.size(), &std::getenv); !problem.empty())
    throw std::runtime_error(problem);
  std::vector<Comm> comms = make_communicators(session, communicators);
  measure_calls(session, comms);
  for (Comm& comm : comms) comm.close();
  return bench::kExitRight;
}

}  // namespace
}  // namespace umbel::setup

int main(int argc, char** argv) {
  std::optional<umbel::bench::Session> session;
  try {
    session.emplace(&argc, &argv);
    const int status = umbel::setup::run(*session, argc, argv);
    session->finalize();
    return status;
  } catch (const std::exception& error) {
    if (session) session->die(error.what(), umbel::bench::kExitFailure);
    fmt::print(stderr, "{}\n", error.what());
    return umbel::bench::kExitFailure;
  }
}
