// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Runs one lane of a program, a bounded piece of work at a time. All control flow, extents and window offsets are here;
// what touches memory, flags and the network is the agent's. The same code runs on a host thread and, with every thread
// of a block calling it alike, on a GPU.
//
// An agent is a class with these members (the memory group or the net group by kKind):
//
//   static constexpr LaneKind kKind;
//   using Operand = …;                                            // a slice's memory; trivially copyable
//   bool    arrived(std::int32_t sem, std::uint32_t count);       // acquire: has Program::semaphores[sem] seen `count`
//                                                                 // signals of this run? Does not wait.
//   void    signal(std::int32_t signal, std::uint32_t count);     // release: Program::signals[signal] has now `count`
//   Operand resolve(const Slice&, std::uint64_t offset);          // bytes from the start of the slice's buffer
//
//   memory lanes
//   Operand* operands();                                          // room for kMaxSources, the agent's own
//   void    copy(const Operand& dst, const Operand& src, std::uint64_t first, std::uint64_t count);
//   void    reduce(const Operand& dst, const Operand* sources, int source_count, std::uint64_t first,
//                  std::uint64_t count, bool final);              // elements [first, first + count) of the operands
//
//   net lanes
//   bool    send(const Instr&, const Operand& src, std::uint64_t bytes);  // post; false: cannot post now, try again
//   bool    recv(const Instr&, const Operand& dst, std::uint64_t bytes);
//   bool    drained();                                            // every posted transfer has completed
//
// A net agent posts transfers of 0 bytes too. It completes them in the lane's order and then calls
// `complete_transfer(view, instr, agent)`, which signals Instr::signal; the lane is done when it has drained.
//
// On a GPU all threads of a block hold the same lane state, and write equal values to the shared counters. That is
// right because `arrived` and `signal` contain a barrier of the block between the reads and the writes here.
#pragma once

#include <cstdint>

#include "base/program.hpp"

namespace umbel::kernels {

/// What a step did. `blocked`: nothing, a signal or the network is missing. `advanced`: something, call again.
enum class Step : std::uint8_t { advanced, blocked, done };

/// How much one step may do: about 20 µs on a host core.
struct StepLimits {
  std::uint64_t bytes = 128U << 10U;  ///< read by copies and reduces; at least one element moves
  std::uint32_t instrs = 64;
};

/// A program bound to a call, as raw pointers (usable on a GPU). The arrays belong to the rank, not to a lane, and
/// start a run zeroed; every element is touched by a single lane.
struct ProgramView {
  const Instr* instrs = nullptr;
  const Slice* slices = nullptr;
  const Semaphore* semaphores = nullptr;
  const Binding* binding = nullptr;
  std::uint32_t* consumed = nullptr;   ///< [Program::semaphores] signals consumed in this run
  std::uint32_t* signalled = nullptr;  ///< [Program::signals] signals made in this run
  StepLimits limits{};
};

/// Where a lane stands.
struct LaneState {
  std::uint32_t pc = 0;
  std::uint32_t end = 0;
  std::uint32_t depth = 0;     ///< loops around pc
  LoopCounters loops{};        ///< 0 beyond `depth`
  std::uint64_t progress = 0;  ///< elements of the current copy or reduce that are done
};

UMBEL_HOST_DEVICE constexpr LaneState start_of(const Lane& lane) {
  LaneState state;
  state.pc = lane.begin;
  state.end = lane.end;
  return state;
}

namespace detail {

/// What became of one instruction: done with it, unable to start it, or out of budget inside it.
enum class Outcome : std::uint8_t { finished, blocked, partial };

UMBEL_HOST_DEVICE constexpr void begin_loop(const Instr& in, const ProgramView& view, LaneState& lane) {
  if (trips_of(in, *view.binding, view.slices, lane.loops) == 0) {
    lane.pc = in.jump + 1;
    return;
  }
  ++lane.depth;
  ++lane.pc;
}

UMBEL_HOST_DEVICE constexpr void end_loop(const Instr& in, const ProgramView& view, LaneState& lane) {
  std::uint32_t& counter = lane.loops.i[lane.depth - 1];
  if (++counter < trips_of(view.instrs[in.jump], *view.binding, view.slices, lane.loops)) {
    lane.pc = in.jump + 1;
    return;
  }
  counter = 0;
  --lane.depth;
  ++lane.pc;
}

template <class Agent>
UMBEL_HOST_DEVICE typename Agent::Operand resolve(const ProgramView& view, const LaneState& lane, Agent& agent,
                                                  const Slice& slice, const Extent& extent) {
  if (slice.buffer != Buffer::window) return agent.resolve(slice, user_offset(*view.binding, slice, extent));
  const std::uint32_t turn = slice.slot.sem >= 0 ? view.consumed[slice.slot.sem] : 0U;
  return agent.resolve(slice, window_offset(*view.binding, slice, lane.loops, extent, turn));
}

/// One signal more on `signal`, for which the agent makes the count visible.
template <class Agent>
UMBEL_HOST_DEVICE void raise(const ProgramView& view, std::int32_t signal, Agent& agent) {
  const std::uint32_t count = view.signalled[signal] + 1;
  agent.signal(signal, count);
  view.signalled[signal] = count;
}

template <class Agent>
UMBEL_HOST_DEVICE bool consume(const ProgramView& view, const Instr& in, Agent& agent) {
  const std::uint32_t target = view.consumed[in.sem] + in.times;
  const std::uint32_t initial = static_cast<std::uint32_t>(view.semaphores[in.sem].initial);
  // Credits that the program starts with are consumed without looking at the cell.
  if (target > initial && !agent.arrived(in.sem, target - initial)) return false;
  view.consumed[in.sem] = target;
  return true;
}

/// Elements to move now: all that remain, or what the budget has room for, in whole cache lines where possible.
UMBEL_HOST_DEVICE constexpr std::uint64_t share_of(std::uint64_t remaining, std::uint64_t budget,
                                                   std::uint64_t bytes_per_element) {
  if (remaining * bytes_per_element <= budget) return remaining;
  constexpr std::uint64_t kLine = 64;
  const std::uint64_t room = budget / bytes_per_element;
  const std::uint64_t whole = room >= kLine ? room - room % kLine : room;
  return whole == 0 ? 1 : whole;
}

/// Copies or reduces, as far as `budget` goes.
template <class Agent>
UMBEL_HOST_DEVICE Outcome move_data(const ProgramView& view, LaneState& lane, const Instr& in, Agent& agent,
                                    std::uint64_t& budget) {
  const Slice& dst_slice = view.slices[in.dst];
  const Extent extent = extent_of(*view.binding, dst_slice, lane.loops);
  if (extent.count == 0) return Outcome::finished;
  const std::uint64_t weight = static_cast<std::uint64_t>(view.binding->elem_bytes) * in.src_count;
  const std::uint64_t count = share_of(extent.count - lane.progress, budget, weight);
  const auto dst = resolve(view, lane, agent, dst_slice, extent);
  auto* sources = agent.operands();
  for (std::uint32_t k = 0; k < in.src_count; ++k) {
    const Slice& slice = view.slices[in.src + k];
    sources[k] = resolve(view, lane, agent, slice, extent_of(*view.binding, slice, lane.loops));
  }
  if (in.op == OpCode::copy) {
    agent.copy(dst, sources[0], lane.progress, count);
  } else {
    agent.reduce(dst, sources, static_cast<int>(in.src_count), lane.progress, count, in.final);
  }
  budget -= count * weight < budget ? count * weight : budget;
  lane.progress += count;
  if (lane.progress < extent.count) return Outcome::partial;
  lane.progress = 0;
  return Outcome::finished;
}

template <class Agent>
UMBEL_HOST_DEVICE bool post(const ProgramView& view, const LaneState& lane, const Instr& in, Agent& agent) {
  const Slice& slice = view.slices[in.op == OpCode::send ? in.src : in.dst];
  const Extent extent = extent_of(*view.binding, slice, lane.loops);
  const auto operand = resolve(view, lane, agent, slice, extent);
  const std::uint64_t bytes = extent.count * view.binding->elem_bytes;
  return in.op == OpCode::send ? agent.send(in, operand, bytes) : agent.recv(in, operand, bytes);
}

/// Executes the instruction at lane.pc and moves on when it is finished.
template <class Agent>
UMBEL_HOST_DEVICE Outcome execute(const ProgramView& view, LaneState& lane, Agent& agent, std::uint64_t& budget) {
  const Instr& in = view.instrs[lane.pc];
  Outcome outcome = Outcome::finished;
  switch (in.op) {
    case OpCode::loop_begin:
      begin_loop(in, view, lane);
      return outcome;
    case OpCode::loop_end:
      end_loop(in, view, lane);
      return outcome;
    case OpCode::signal:
      raise(view, in.signal, agent);
      break;
    case OpCode::wait:
      if (!consume(view, in, agent)) outcome = Outcome::blocked;
      break;
    case OpCode::copy:
    case OpCode::reduce:
      if constexpr (Agent::kKind == LaneKind::memory) outcome = move_data(view, lane, in, agent, budget);
      break;
    case OpCode::send:
    case OpCode::recv:
      if constexpr (Agent::kKind == LaneKind::net) {
        if (!post(view, lane, in, agent)) outcome = Outcome::blocked;
      }
      break;
  }
  if (outcome == Outcome::finished) ++lane.pc;
  return outcome;
}

}  // namespace detail

/// Runs the lane until it is done, must wait, or has used up the view's limits. Never waits.
/// @pre the program passed `validate` (kernels/validate.hpp) and the lane is of the agent's kind.
template <class Agent>
UMBEL_HOST_DEVICE Step step(const ProgramView& view, LaneState& lane, Agent& agent) {
  std::uint64_t budget = view.limits.bytes;
  for (std::uint32_t n = 0; n < view.limits.instrs; ++n) {
    if (lane.pc == lane.end) {
      if constexpr (Agent::kKind == LaneKind::net) {
        if (!agent.drained()) return n == 0 ? Step::blocked : Step::advanced;
      }
      return Step::done;
    }
    const detail::Outcome outcome = detail::execute(view, lane, agent, budget);
    if (outcome == detail::Outcome::blocked) return n == 0 ? Step::blocked : Step::advanced;
    if (outcome == detail::Outcome::partial || budget == 0) return Step::advanced;
  }
  return Step::advanced;
}

/// A net agent calls this when the transfer of `instr` has completed, in the lane's order.
template <class Agent>
UMBEL_HOST_DEVICE void complete_transfer(const ProgramView& view, const Instr& instr, Agent& agent) {
  if (instr.signal >= 0) detail::raise(view, instr.signal, agent);
}

}  // namespace umbel::kernels
