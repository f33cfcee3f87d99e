// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/simulate/machine.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace umbel::algos::simulate {
namespace {

// What a lane may do in one turn; the executor's steps.
constexpr std::uint64_t kTurnBytes = 128U << 10U;
constexpr std::uint32_t kTurnSteps = 64;

double spill_of(const Cluster& cluster, const Binding& binding) {
  const double window = static_cast<double>(binding.window_bytes);
  if (window <= cluster.cache_bytes) return 1;
  return std::min(cluster.spill_worst, 1 + cluster.spill_per_doubling * std::log2(window / cluster.cache_bytes));
}

}  // namespace

Machine::Machine(std::span<const Program> programs, const Binding& binding, const Shape& shape, const Cluster& cluster,
                 const Limits& limits)
    : programs_(programs),
      binding_(binding),
      shape_(shape),
      cluster_(cluster),
      limits_(limits),
      spill_(spill_of(cluster, binding)),
      network_(shape, cluster, fluid_) {
  for (int node = 0; node < shape.nodes(); ++node) {
    const auto ranks = static_cast<double>(shape.node_ranks(node).size());
    const bool crowded = cluster.cores_per_node > 0 && ranks > cluster.cores_per_node;
    cores_.push_back(crowded ? fluid_.add_resource(cluster.cores_per_node) : -1);
    buses_.push_back(cluster.memory_beta > 0 ? fluid_.add_resource(1 / cluster.memory_beta) : -1);
  }
  ranks_.resize(programs.size());
  running_ = programs.size();
  for (Rank rank = 0; rank < static_cast<Rank>(programs.size()); ++rank) {
    RankRun& run = at(rank);
    run.semaphores.resize(program(rank).semaphores.size());
    for (const Lane& lane : program(rank).lanes) run.lanes.emplace_back().pc = lane.begin;
    run.live = run.lanes.size();
    if (run.live == 0)
      --running_;
    else
      push(0, What::thread, rank);
    run.idle = true;
  }
}

Outcome Machine::run() {
  while (running_ > 0 && !queue_.empty()) {
    const Event event = queue_.top();
    queue_.pop();
    now_ = event.time;
    handle(event);
    if (outcome_.instructions > limits_.instructions)
      throw Refusal{fmt::format("more than {} instructions would have to be simulated", limits_.instructions)};
  }
  if (running_ > 0) stuck();
  for (const RankRun& run : ranks_) {
    outcome_.seconds = std::max(outcome_.seconds, run.end);
    outcome_.busiest_thread_s = std::max(outcome_.busiest_thread_s, run.busy_s);
  }
  outcome_.busiest_link_s = network_.busiest();
  outcome_.shared = fluid_.shared();
  return outcome_;
}

void Machine::push(double time, What what, int a, int b, std::uint32_t version) {
  queue_.push({time, events_++, what, a, b, version});
}

void Machine::push_forecasts() {
  for (const Fluid::Forecast& f : fluid_.forecasts()) push(f.time, What::forecast, f.flow, 0, f.version);
  fluid_.clear();
}

void Machine::handle(const Event& event) {
  switch (event.what) {
    case What::thread:
      resume(event.a);
      break;
    case What::signal:
      ++at(event.a).semaphores[static_cast<std::size_t>(event.b)].signals;
      wake(event.a);
      break;
    case What::forecast: {
      const bool over = fluid_.finish({event.a, event.version, event.time});
      push_forecasts();
      if (!over) break;
      const int owner = flow_owner_[static_cast<std::size_t>(event.a)];
      if (owner >= 0)
        resume(owner);
      else
        sent(-1 - owner);
      break;
    }
    case What::departure:
      depart(event.a);
      break;
    case What::arrival:
      at(message(event.a).to).arrived.push_back(event.a);
      wake(message(event.a).to);
      break;
  }
}

void Machine::stuck() const {
  std::string where;
  for (std::size_t rank = 0; rank < ranks_.size() && where.empty(); ++rank)
    for (std::size_t n = 0; n < ranks_[rank].lanes.size() && where.empty(); ++n) {
      const LaneRun& lane = ranks_[rank].lanes[n];
      const Program& p = programs_[rank];
      if (!lane.ended)
        where = fmt::format("rank {}, lane {}: {}", rank, n,
                            lane.pc < p.lanes[n].end ? to_text(p, p.instrs[lane.pc]) : "a transfer is missing");
    }
  throw Refusal{fmt::format("the programs get stuck: {}", where)};
}

/// The thread is busy for that long, with `bytes` over the memory bus; then resume() goes on.
void Machine::work(Rank rank, double seconds, double bytes) {
  at(rank).busy_s += seconds;
  const auto node = static_cast<std::size_t>(shape_.node_of(rank));
  std::vector<Fluid::Use> uses;
  if (seconds > 0 && cores_[node] >= 0) uses.push_back({cores_[node], 1});
  if (seconds > 0 && buses_[node] >= 0 && bytes > 0) uses.push_back({buses_[node], bytes / seconds});
  if (uses.empty()) {
    push(now_ + seconds, What::thread, rank);
    return;
  }
  begin_flow(seconds, 1, uses, rank);
}

void Machine::begin_flow(double amount, double fastest, std::span<const Fluid::Use> uses, int owner) {
  const auto flow = static_cast<std::size_t>(fluid_.start(now_, amount, fastest, uses));
  if (flow_owner_.size() <= flow) flow_owner_.resize(flow + 1);
  flow_owner_[flow] = owner;
  push_forecasts();
}

void Machine::wake(Rank rank) {
  if (at(rank).idle) proceed(rank);
}

/// The thread is through with what it did.
void Machine::resume(Rank rank) {
  RankRun& run = at(rank);
  if (!run.idle) finish_instr(rank);
  proceed(rank);
}

/// Goes on until the thread is busy, or has nothing to do.
void Machine::proceed(Rank rank) {
  RankRun& run = at(rank);
  run.idle = false;
  while (run.live > 0) {
    if (run.lane < 0) {
      if (serve_network(rank)) return;
      run.lane = 0;
    }
    if (turn(rank)) return;
    if (++run.lane < static_cast<int>(run.lanes.size())) continue;
    run.lane = -1;
    if (!run.moved && run.arrived.empty() && run.live > 0) {
      run.idle = true;
      return;
    }
    run.moved = false;
  }
}

/// True when the thread is busy with a message.
bool Machine::serve_network(Rank rank) {
  RankRun& run = at(rank);
  if (!run.arrived.empty()) {
    run.working = run.arrived.front();
    run.arrived.pop_front();
    run.moved = true;
    work(rank, cluster_.message_cpu_s, 0);
    return true;
  }
  poll(rank);
  return false;
}

/// One lane's turn. True when the thread is busy.
bool Machine::turn(Rank rank) {
  RankRun& run = at(rank);
  LaneRun& lane = run.lanes[static_cast<std::size_t>(run.lane)];
  if (run.steps == 0) run.budget = kTurnBytes;
  const std::uint32_t end = program(rank).lanes[static_cast<std::size_t>(run.lane)].end;
  while (!lane.ended) {
    if (run.steps == kTurnSteps || run.budget == 0) break;
    if (lane.pc == end) {
      if (lane.transfers.empty()) end_lane(rank, lane);
      break;
    }
    const std::uint32_t before = run.steps;
    if (execute(rank, lane)) return true;
    if (run.steps == before) break;  // must wait
  }
  run.moved |= run.steps > 0;
  run.steps = 0;
  return false;
}

/// Begins, and maybe ends, the lane's next instruction; one that cannot begin counts no step. True when the thread is
/// busy with it.
bool Machine::execute(Rank rank, LaneRun& lane) {
  RankRun& run = at(rank);
  const Program& p = program(rank);
  const Instr& in = p.instrs[lane.pc];
  ++outcome_.instructions;
  constexpr std::size_t kInFlight = 64;
  switch (in.op) {
    case OpCode::loop_begin:
      begin_loop(p, lane, in);
      break;
    case OpCode::loop_end:
      end_loop(lane, in);
      break;
    case OpCode::wait:
      if (!consume(run, p, in)) return false;
      break;
    case OpCode::signal:
      if (p.signals[static_cast<std::size_t>(in.signal)].peer != rank) {
        work(rank, cluster_.signal_s, 0);
        return true;
      }
      raise(rank, in.signal);
      break;
    case OpCode::copy:
    case OpCode::reduce:
      begin_move(rank, lane, in);
      return true;
    case OpCode::send:
      if (lane.transfers.size() == kInFlight) return false;
      work(rank, cluster_.message_cpu_s, 0);
      return true;
    case OpCode::recv:
      if (lane.transfers.size() == kInFlight) return false;
      post(rank, lane, in);
      break;
  }
  ++lane.pc;
  ++run.steps;
  return false;
}

/// The effects of what the thread has spent time on.
void Machine::finish_instr(Rank rank) {
  RankRun& run = at(rank);
  if (run.working >= 0) {
    Message& m = message(run.working);
    m.arrived = true;
    if (m.posted) complete(rank, m.recv_lane, m.recv_at);
    run.working = -1;
    return;
  }
  LaneRun& lane = run.lanes[static_cast<std::size_t>(run.lane)];
  const Instr& in = program(rank).instrs[lane.pc];
  ++run.steps;
  if (in.op == OpCode::copy || in.op == OpCode::reduce) {
    end_move(run, lane, in);
    return;
  }
  if (in.op == OpCode::send)
    post(rank, lane, in);
  else
    raise(rank, in.signal);
  ++lane.pc;
}

void Machine::end_lane(Rank rank, LaneRun& lane) {
  RankRun& run = at(rank);
  lane.ended = true;
  run.moved = true;
  if (--run.live > 0) return;
  run.end = now_;
  --running_;
}

}  // namespace umbel::algos::simulate
