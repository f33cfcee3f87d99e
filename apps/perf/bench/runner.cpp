// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <ctime>
#include <stdexcept>

#include "statistics.hpp"

namespace umbel::bench {
namespace {

constexpr double kMicro = 1e6;

/// Elapsed time, or the calling thread's CPU time, in µs.
double now_us(bool cpu_time) {
  timespec time{};
  ::clock_gettime(cpu_time ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  constexpr double kNanosPerMicro = 1e3;
  return static_cast<double>(time.tv_sec) * kMicro + static_cast<double>(time.tv_nsec) / kNanosPerMicro;
}

void add_reason(Row& row, const std::string& reason) {
  if (reason.empty()) return;
  if (!row.reason.empty()) row.reason += "; ";
  row.reason += reason;
}

}  // namespace

Runner::Runner(const Collective& collective, const Options& options, Session& session, Comm& comm,
               double busbw_limit_gbs)
    : collective_(collective),
      traits_(collective.traits),
      options_(options),
      session_(session),
      comm_(comm),
      data_(traits_, capacity_of(traits_, options.max_bytes, options.roots, session.rank(), session.size()),
            session.rank(), session.size(), options.local_register),
      busbw_limit_gbs_(busbw_limit_gbs) {}

Row Runner::measure(const Case& c) {
  Row row;
  row.count = c.count;
  row.size_bytes = elements(traits_, Part::whole, {.count = c.count, .ranks = session_.size()}) * c.type.size;
  row.dtype = c.type.name;
  row.op = c.op.name;
  if (traits_.has_root) row.root = c.root;
  row.algorithm = c.algorithm;
  if (options_.peer_mpi) row.peer = PeerTiming{session_.mpi_version(), {}, {}};

  if (traits_.refusal != nullptr) row.reason = traits_.refusal(session_.size());
  if (!row.reason.empty()) return row;
  if (!c.algorithm.empty()) {
    if (const auto reason = refusal(c)) {
      row.reason = *reason;
      return row;
    }
    force(c.algorithm);
  }
  try {
    row.out_of_place = measure_placement(c, Placement::out_of_place, row);
    if (traits_.in_place) row.in_place = measure_placement(c, Placement::in_place, row);
  } catch (const Error& error) {
    if (error.code() != UMBEL_ERROR_UNSUPPORTED) throw;
    add_reason(row, error.what());
  }
  return row;
}

std::optional<std::string> Runner::refusal(const Case& c) const {
  if (c.algorithm == "auto" || !traits_.collective) return std::nullopt;
  return comm_.refusal(
      c.algorithm,
      {.collective = *traits_.collective, .count = c.count, .dtype = c.type.dtype, .op = c.op.op, .root = c.root});
}

void Runner::force(const std::string& algorithm) {
  const bool named = algorithm != "auto" && traits_.collective;
  comm_.set_algorithm(named ? fmt::format("{}:{}", umbel_collective_name(*traits_.collective), algorithm) : algorithm);
}

Timing Runner::measure_placement(const Case& c, Placement placement, Row& row) {
  bool with_peer = options_.peer_mpi && placement == Placement::out_of_place;
  if (with_peer) {
    const std::string problem = peer_problem(data_.prepare(c, placement, iteration_));
    add_reason(row, problem);
    with_peer = problem.empty();
  }
  Loop loop = run_loop(c, placement, with_peer);

  if (traits_.collective) {
    const umbel_call_info_t call = comm_.last_call();
    row.algorithm = call.algorithm == nullptr ? "" : call.algorithm;
    row.model_us = call.predicted_s * kMicro;
  }
  session_.combine(loop.own, options_.across);
  Timing timing = timing_of(loop.own, row.size_bytes);
  if (options_.check > 0 && moves_data(traits_)) timing.wrong = session_.sum(loop.wrong);
  if (with_peer) {
    session_.combine(loop.peer, options_.across);
    row.peer->time_us = summarize(loop.peer).mean;
    row.peer->ratio = *row.peer->time_us / *timing.time_us;
  }
  if (busbw_limit_gbs_ > 0 && timing.busbw_gbs > busbw_limit_gbs_) {
    row.note = fmt::format("! busbw above the {:.2f} GB/s said at the top", busbw_limit_gbs_);
  }
  return timing;
}

Runner::Loop Runner::run_loop(const Case& c, Placement placement, bool with_peer) {
  Loop loop;
  const int total = options_.warmup + options_.iterations;
  const int first_checked = total - std::min(options_.check, options_.iterations);
  for (int i = 0; i < total; ++i) {
    // Umbel and the peer take turns in going first. Each finds fresh data.
    for (int turn = 0; turn < (with_peer ? 2 : 1); ++turn) {
      const bool peer = with_peer && (turn == 0) == (i % 2 == 1);
      const std::uint64_t iteration = iteration_++;
      const Call call = data_.prepare(c, placement, iteration);
      const double duration = run_once(call, peer);
      if (i >= options_.warmup) (peer ? loop.peer : loop.own).push_back(duration);
      if (!peer && i >= first_checked) loop.wrong += data_.count_wrong(c, placement, call, iteration);
    }
  }
  return loop;
}

double Runner::run_once(const Call& call, bool peer) {
  session_.barrier();
  if (peer) return run_peer_once(call);
  const double start = now_us(options_.cpu_time);
  check(collective_.run(call, comm_.native()));
  return now_us(options_.cpu_time) - start;
}

/// The blocking call, as a program would make it: MPI's nonblocking ones run other algorithms, at other speeds. So it
/// cannot be asked whether it will ever return; the watchdog bounds it.
double Runner::run_peer_once(const Call& call) {
  const Watchdog::Guard guard = session_.guard(collective_.peer_name);
  const double start = now_us(options_.cpu_time);
  const int code = collective_.run_peer(call, session_.comm());
  const double duration = now_us(options_.cpu_time) - start;
  if (code != MPI_SUCCESS) throw std::runtime_error(fmt::format("the peer's call failed with MPI's code {}", code));
  return duration;
}

Timing Runner::timing_of(const std::vector<double>& durations, std::uint64_t bytes) const {
  const Summary summary = summarize(durations);
  Timing timing;
  timing.time_us = summary.mean;
  timing.p50_us = summary.p50;
  timing.p99_us = summary.p99;
  if (traits_.bus_factor.empty()) return timing;
  constexpr double kBytesPerMicroToGiga = 1e-3;
  timing.algbw_gbs = summary.mean > 0 ? static_cast<double>(bytes) / summary.mean * kBytesPerMicroToGiga : 0.0;
  timing.busbw_gbs = *timing.algbw_gbs * traits_.bus_factor_of(session_.size());
  return timing;
}

std::string Runner::peer_problem(const Call& call) const {
  if (call.extent.count > static_cast<std::size_t>(INT_MAX)) return "peer: MPI's counts end at 2^31 − 1";
  const std::string lacking = collective_.peer_lacks(call);
  return lacking.empty() ? "" : "peer: " + lacking;
}

}  // namespace umbel::bench
