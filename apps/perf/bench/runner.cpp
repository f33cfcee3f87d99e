// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstring>
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

Runner::Runner(const Collective& collective, const Options& options, Session& session, Comm& comm)
    : collective_(collective),
      options_(options),
      session_(session),
      comm_(comm),
      send_(options.max_bytes),
      recv_(options.max_bytes),
      busbw_limit_gbs_(comm.info().busbw_limit_gbs) {}

Row Runner::measure(const Case& c) {
  Row row;
  row.count = c.count;
  row.size_bytes = c.count * c.type.size;
  row.dtype = c.type.name;
  row.op = c.op.name;
  if (collective_.has_root) row.root = options_.root;
  row.algorithm = c.algorithm;
  if (options_.peer_mpi) row.peer = PeerTiming{session_.mpi_version(), {}, {}};

  if (!c.algorithm.empty()) {
    if (c.algorithm != "auto") {
      if (const auto reason = comm_.refusal(c.algorithm, {.count = c.count, .dtype = c.type.dtype, .op = c.op.op})) {
        row.reason = *reason;
        return row;
      }
    }
    comm_.set_algorithm(c.algorithm);
  }
  try {
    row.out_of_place = measure_placement(c, Placement::out_of_place, row);
    row.in_place = measure_placement(c, Placement::in_place, row);
  } catch (const Error& error) {
    if (error.code() != UMBEL_ERROR_UNSUPPORTED) throw;
    add_reason(row, error.what());
  }
  return row;
}

Timing Runner::measure_placement(const Case& c, Placement placement, Row& row) {
  bool with_peer = options_.peer_mpi && placement == Placement::out_of_place;
  if (with_peer) {
    const std::string problem = peer_problem(prepare(c, placement, iteration_));
    add_reason(row, problem);
    with_peer = problem.empty();
  }
  Loop loop = run_loop(c, placement, with_peer);

  const umbel_call_info_t call = comm_.last_call();
  row.algorithm = call.algorithm == nullptr ? "" : call.algorithm;
  row.model_us = call.predicted_s * kMicro;
  session_.combine(loop.own, options_.across);
  Timing timing = timing_of(loop.own, row.size_bytes);
  if (options_.check > 0) timing.wrong = session_.sum(loop.wrong);
  if (with_peer) {
    session_.combine(loop.peer, options_.across);
    row.peer->time_us = summarize(loop.peer).mean;
    row.peer->ratio = *row.peer->time_us / *timing.time_us;
  }
  if (busbw_limit_gbs_ > 0 && *timing.busbw_gbs > busbw_limit_gbs_) {
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
      const Call call = prepare(c, placement, iteration);
      const double duration = run_once(call, peer);
      if (i >= options_.warmup) (peer ? loop.peer : loop.own).push_back(duration);
      if (!peer && i >= first_checked) loop.wrong += count_wrong(c, call, iteration);
    }
  }
  return loop;
}

Call Runner::prepare(const Case& c, Placement placement, std::uint64_t iteration) {
  const std::size_t bytes = c.count * c.type.size;
  send_.guard(bytes);
  recv_.guard(bytes);
  if (placement == Placement::in_place) {
    c.pattern.fill(recv_.data(), c.count, iteration);
    return {recv_.data(), recv_.data(), c.count, &c.type, &c.op};
  }
  constexpr std::size_t kPoisoned = 4096;  // results of a former call must not pass for those of this one
  constexpr int kPoison = 0xA5;
  std::memset(recv_.data(), kPoison, std::min(bytes, kPoisoned));
  c.pattern.fill(send_.data(), c.count, iteration);
  return {send_.data(), recv_.data(), c.count, &c.type, &c.op};
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

std::uint64_t Runner::count_wrong(const Case& c, const Call& call, std::uint64_t iteration) const {
  std::uint64_t wrong = c.pattern.wrong_results(call.recv, c.count, iteration);
  if (call.send != call.recv) wrong += c.pattern.wrong_inputs(call.send, c.count, iteration);
  return wrong + send_.broken_canaries() + recv_.broken_canaries();
}

Timing Runner::timing_of(const std::vector<double>& durations, std::uint64_t bytes) const {
  const Summary summary = summarize(durations);
  Timing timing;
  timing.time_us = summary.mean;
  timing.p50_us = summary.p50;
  timing.p99_us = summary.p99;
  constexpr double kBytesPerMicroToGiga = 1e-3;
  timing.algbw_gbs = summary.mean > 0 ? static_cast<double>(bytes) / summary.mean * kBytesPerMicroToGiga : 0.0;
  timing.busbw_gbs = *timing.algbw_gbs * collective_.bus_factor_of(session_.size());
  return timing;
}

std::string Runner::peer_problem(const Call& call) const {
  if (call.count > static_cast<std::size_t>(INT_MAX)) return "peer: MPI's counts end at 2^31 − 1";
  const std::string lacking = collective_.peer_lacks(call);
  return lacking.empty() ? "" : "peer: " + lacking;
}

}  // namespace umbel::bench
