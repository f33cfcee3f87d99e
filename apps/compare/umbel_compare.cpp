// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// umbel_compare: collectives of several sizes by Umbel and by other libraries, in turns in one loop. For
// scripts/compare, which starts it once for each setting of a peer; its output, one JSON document a line, is made for
// that.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/calls.hpp"
#include "bench/options.hpp"
#include "bench/sizes.hpp"
#include "bench/statistics.hpp"
#include "common/launcher.hpp"
#include "common/usage.hpp"
#include "contest.hpp"
#include "umbel/umbel_mpi.h"

namespace umbel::compare {
namespace {

using Json = nlohmann::ordered_json;
using bench::kExitFailure;
using bench::kExitRight;
using bench::kExitUsage;
using bench::kExitWrongData;
using bench::Session;

const std::vector<const bench::Collective*>& all_collectives() {
  static const std::vector<const bench::Collective*> all{
      &bench::calls::kAllReduce, &bench::calls::kBroadcast,     &bench::calls::kReduce,
      &bench::calls::kAllGather, &bench::calls::kReduceScatter, &bench::calls::kAllToAll,
      &bench::calls::kGather,    &bench::calls::kScatter,       &bench::calls::kBarrier};
  return all;
}

struct Options {
  std::vector<std::string> collectives{"all_reduce",     "broadcast",  "reduce", "all_gather",
                                       "reduce_scatter", "all_to_all", "barrier"};
  std::vector<std::string> sizes{"8", "4K", "64K", "1M", "4M"};
  std::vector<std::string> peers{"mpi"};
  std::string mpi_name = "mpi";
  std::string interface = "lo";
  bool algorithms = false;
  bool registered = false;
  Budget budget;
};

std::vector<std::uint64_t> bytes_of(const std::vector<std::string>& sizes) {
  std::vector<std::uint64_t> bytes;
  for (const std::string& size : sizes) {
    const auto value = bench::parse_size(size);
    if (!value || *value == 0) throw CLI::ValidationError("--sizes", size + " is no size, e.g. 8, 4K, 1.5M");
    bytes.push_back(*value);
  }
  return bytes;
}

/// Options, or a text for the user.
struct Parsed {
  std::optional<Options> options;
  std::string text;
  int status = kExitRight;
};

Parsed parse(int argc, char** argv) {
  Options o;
  CLI::App app("Collectives by Umbel and by other libraries, in turns in one loop. scripts/compare runs it.",
               "umbel_compare");
  std::vector<std::string> names;
  for (const bench::Collective* collective : all_collectives()) names.emplace_back(collective->traits.name);
  app.add_option("--collectives", o.collectives, "Comma-separated")->delimiter(',')->check(CLI::IsMember(names));
  app.add_option("--sizes", o.sizes, "Bytes of a call, comma-separated: 8,64K,4M")->delimiter(',');
  app.add_option("--peers", o.peers, "mpi, gloo, oneccl or none, comma-separated")
      ->delimiter(',')
      ->check(CLI::IsMember({"mpi", "gloo", "oneccl", "none"}));
  app.add_option("--mpi-name", o.mpi_name, "What the host MPI is called in the results");
  app.add_option("--interface", o.interface, "The network interface that Gloo uses");
  app.add_flag("--algorithms", o.algorithms, "Also each of Umbel's algorithms, forced");
  app.add_flag("--registered", o.registered, "Buffers from umbel_mem_alloc; Umbel is \"umbel_registered\" then");
  app.add_option("--seconds", o.budget.seconds, "For each contender in each case")->check(CLI::PositiveNumber);
  app.add_option("--least", o.budget.least, "Iterations, however long they take")->check(CLI::Range(1, 1000000));
  app.add_option("--most", o.budget.most, "Iterations, however short they are")->check(CLI::Range(1, 1000000));
  try {
    app.parse(argc, argv);
    bytes_of(o.sizes);
  } catch (const CLI::ParseError& error) {
    const apps::UsageText usage = apps::usage_text(app, error);
    return {{}, usage.text, usage.wrong ? kExitUsage : kExitRight};
  }
  return {o, {}, kExitRight};
}

void print_line(const Session& session, const Json& json) {
  if (!session.is_root()) return;
  fmt::print("{}\n", json.dump(-1, ' ', false, Json::error_handler_t::replace));
  std::fflush(stdout);
}

Json facts_of(const Session& session, const Comm& comm) {
  const umbel_comm_info_t info = comm.info();
  return {{"umbel", {{"version", umbel_version()}, {"git", umbel_revision()}}},
          {"mpi", session.mpi_version()},
          {"ranks", info.ranks},
          {"nodes", info.nodes}};
}

Json to_json(const Score& score) {
  Json json{{"name", score.name}};
  if (!score.lacks.empty()) {
    json["lacks"] = score.lacks;
    return json;
  }
  const bench::Summary summary = bench::summarize(score.us);
  json["p50_us"] = summary.p50;
  json["p99_us"] = summary.p99;
  json["mean_us"] = summary.mean;
  json["iterations"] = score.us.size();
  json["wrong"] = score.wrong;
  if (score.choice.algorithm.empty()) return json;
  json["algorithm"] = score.choice.algorithm;
  json["predicted_us"] = score.choice.predicted_us;
  return json;
}

Contenders peers_of(const Options& options, Session& session) {
  Contenders all;
  for (const std::string& peer : options.peers) {
    if (peer == "mpi") all.push_back(make_host_mpi(session, options.mpi_name));
#ifdef UMBEL_COMPARE_GLOO
    if (peer == "gloo") all.push_back(make_gloo(session, options.interface));
#else
    if (peer == "gloo") throw std::runtime_error("this program was built without Gloo (Debian package libgloo-dev)");
#endif
#ifdef UMBEL_COMPARE_ONECCL
    if (peer == "oneccl") all.push_back(make_oneccl(session));
#else
    if (peer == "oneccl")
      throw std::runtime_error("this program was built without oneCCL (scripts/compare --with-pypi)");
#endif
  }
  return all;
}

/// Beside the peers Umbel, and, where that is asked for, each of its algorithms.
Contenders with_umbel(Contenders all, const Options& options, umbel_collective_t id, Comm& comm) {
  for (std::size_t i = 0; options.algorithms && umbel_algorithm_name(id, i) != nullptr; ++i)
    all.push_back(make_umbel(comm, fmt::format("umbel:{}", umbel_algorithm_name(id, i)), umbel_algorithm_name(id, i)));
  all.push_back(make_umbel(comm, options.registered ? "umbel_registered" : "umbel", ""));
  return all;
}

/// @returns elements that were wrong
std::uint64_t compare(const Options& options, const bench::Collective& collective, const Contenders& peers,
                      Session& session, Comm& comm) {
  const bench::Traits& traits = collective.traits;
  const bench::TypeInfo type = *bench::find_type("fp32");
  const bench::OpInfo op = *bench::find_op("sum");
  constexpr std::uint64_t kSeed = 0x756d62656cULL;
  const bench::Pattern pattern = traits.reduces ? bench::Pattern(type, op, session.size(), session.rank(), kSeed)
                                                : bench::Pattern(type, session.rank(), kSeed);
  std::vector<std::uint64_t> sizes = bytes_of(options.sizes);
  if (!bench::moves_data(traits)) sizes = {0};
  const std::uint64_t shares = traits.shares ? static_cast<std::uint64_t>(session.size()) : 1;
  // the smallest calls have an element for each rank
  const std::uint64_t room = std::max(std::ranges::max(sizes), shares * type.size);
  Contest contest(collective, room, options.registered, session, options.budget);
  const Contenders contenders = with_umbel(peers, options, traits.collective.value(), comm);
  std::uint64_t wrong = 0;
  for (const std::uint64_t size : sizes) {
    const std::uint64_t count = size == 0 ? 0 : std::max<std::uint64_t>(size / shares / type.size, 1);
    const std::vector<Score> scores = contest.run({type, op, pattern, 0, count, {}}, contenders);
    Json line{{"collective", traits.name}, {"size_bytes", size}, {"count", count}};
    for (const Score& score : scores) {
      line["scores"].push_back(to_json(score));
      wrong += score.wrong;
    }
    print_line(session, line);
  }
  return wrong;
}

int run(const Options& options, Session& session) {
  umbel_config_t config = UMBEL_CONFIG_INIT;
  config.registered = options.registered ? 1 : 0;
  Comm comm = Comm::from_mpi(session.comm(), config);
  session.set_timeout(std::chrono::duration<double>(comm.info().timeout_s));
  session.set_health_check([&comm] { comm.check_health(); });
  print_line(session, facts_of(session, comm));
  const Contenders peers = peers_of(options, session);
  std::uint64_t wrong = 0;
  for (const bench::Collective* collective : all_collectives()) {
    if (std::ranges::find(options.collectives, collective->traits.name) == options.collectives.end()) continue;
    wrong += compare(options, *collective, peers, session, comm);
  }
  session.set_health_check({});
  comm.close();
  return wrong == 0 ? kExitRight : kExitWrongData;
}

/// MPI's end.
void leave(Session& session, [[maybe_unused]] int status) {
#if defined(MPICH) && !defined(I_MPI_VERSION)
  const std::string& host = session.places().front().host;
  if (!std::ranges::all_of(session.places(), [&](const bench::RankPlace& place) { return place.host == host; })) {
    // 4.0 over UCX and TCP: MPI_Finalize waits for ever when some ranks are later than others. Without it the launcher
    // kills who is late: what comes of the run is told before.
    session.barrier();
    print_line(session, {{"status", status}});
    std::fflush(nullptr);
    std::_Exit(status);
  }
#endif
  session.finalize();
}

}  // namespace

int main(int argc, char** argv) {
  std::optional<Session> session;
  try {
    session.emplace(&argc, &argv);
    std::string text = apps::lone_rank_problem(session->size(), &std::getenv);
    int status = text.empty() ? kExitRight : kExitFailure;
    if (status == kExitRight) {
      const Parsed parsed = parse(argc, argv);
      text = parsed.text;
      status = parsed.options ? run(*parsed.options, *session) : parsed.status;
    }
    if (session->is_root() && !text.empty()) fmt::print(status == kExitRight ? stdout : stderr, "{}\n", text);
    leave(*session, status);
    return status;
  } catch (const std::exception& error) {
    if (session) session->die(error.what(), kExitFailure);
    fmt::print(stderr, "{}\n", error.what());
    return kExitFailure;
  }
}

}  // namespace umbel::compare

int main(int argc, char** argv) { return umbel::compare::main(argc, argv); }
