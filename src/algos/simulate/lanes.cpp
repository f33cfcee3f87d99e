// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The machine's single instructions: semaphores, loops, and what copies and folds cost.
#include <algorithm>

#include "algos/simulate/machine.hpp"

namespace umbel::algos::simulate {

bool Machine::consume(RankRun& run, const Program& p, const Instr& in) {
  SemaphoreRun& sem = run.semaphores[static_cast<std::size_t>(in.sem)];
  const auto initial = static_cast<std::uint32_t>(p.semaphores[static_cast<std::size_t>(in.sem)].initial);
  if (sem.signals + initial < sem.consumed + in.times) return false;
  sem.consumed += in.times;
  return true;
}

void Machine::begin_loop(const Program& p, LaneRun& lane, const Instr& in) {
  const std::uint32_t trips = trips_of(in, binding_, p.slices.data(), lane.loops);
  if (trips == 0) {
    lane.pc = in.jump;
    return;
  }
  lane.loops.i[lane.depth] = 0;
  lane.left[lane.depth] = trips;
  ++lane.depth;
}

void Machine::end_loop(LaneRun& lane, const Instr& in) {
  const int level = lane.depth - 1;
  if (--lane.left[level] > 0) {
    ++lane.loops.i[level];
    lane.pc = in.jump;
    return;
  }
  lane.loops.i[level] = 0;
  lane.depth = level;
}

/// One more signal: at once on the own rank, after its way on another.
void Machine::raise(Rank rank, std::int32_t signal) {
  const SignalTarget& target = program(rank).signals[static_cast<std::size_t>(signal)];
  if (target.peer == rank)
    ++at(rank).semaphores[static_cast<std::size_t>(target.sem)].signals;
  else
    push(now_ + cluster_.flag_s - cluster_.signal_s, What::signal, target.peer, target.sem);
}

/// Seconds for a byte of an operand. `alone`: it is copied, not folded with others.
double Machine::seconds_per_byte(Rank rank, const Slice& slice, bool alone) const {
  const bool window = slice.buffer == Buffer::window;
  if (slice.rank == rank) return alone ? cluster_.copy_beta * (window ? spill_ : 1) : 0;
  return window ? cluster_.read_beta * spill_ : cluster_.direct_beta;
}

void Machine::begin_move(Rank rank, LaneRun& lane, const Instr& in) {
  RankRun& run = at(rank);
  const Program& p = program(rank);
  const Slice& dst = p.slices[in.dst];
  const Extent extent = extent_of(binding_, dst, lane.loops);
  const std::uint64_t weight = std::uint64_t{binding_.elem_bytes} * in.src_count;
  run.moving =
      std::clamp<std::uint64_t>(run.budget / weight, 1, std::max<std::uint64_t>(1, extent.count - lane.progress));
  run.moving = std::min(run.moving, extent.count - lane.progress);
  double beta = in.op == OpCode::reduce ? cluster_.gamma * (in.src_count - 1) : 0;
  for (std::uint32_t k = 0; k < in.src_count; ++k)
    beta += seconds_per_byte(rank, p.slices[in.src + k], in.op == OpCode::copy || in.src_count == 1);
  if (in.op == OpCode::copy && dst.buffer == Buffer::window && p.slices[in.src].buffer != Buffer::window &&
      p.slices[in.src].rank == rank)
    beta = cluster_.copy_beta * spill_;
  const double bytes = static_cast<double>(run.moving * binding_.elem_bytes);
  work(rank, beta * bytes, bytes * (in.src_count + 1));
}

void Machine::end_move(RankRun& run, LaneRun& lane, const Instr& in) {
  const Extent extent =
      extent_of(binding_, programs_[static_cast<std::size_t>(&run - ranks_.data())].slices[in.dst], lane.loops);
  lane.progress += run.moving;
  run.budget -= std::min(run.budget, run.moving * binding_.elem_bytes * in.src_count);
  if (lane.progress < extent.count) return;
  lane.progress = 0;
  ++lane.pc;
}

}  // namespace umbel::algos::simulate
