// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// What the machine says when something is wrong.
#include <fmt/format.h>

#include "algos/check/machine.hpp"

namespace umbel::algos::check {

std::string Machine::where(const LaneRun& lane) const { return where(lane, lane.pc); }

std::string Machine::where(const LaneRun& lane, std::uint32_t pc) const {
  return where(lane.operation, lane.rank, lane.number, pc);
}

std::string Machine::where(int n, Rank rank, int lane, std::uint32_t pc) const {
  const Program& p = program(n, rank);
  const std::uint32_t end = p.lanes[static_cast<std::size_t>(lane)].end;
  const std::string instruction =
      pc < end ? fmt::format("instruction {} \"{}\"", pc, to_text(p, p.instrs[pc])) : "its end";
  return fmt::format("operation {}, rank {}, lane {}, {}", n, rank, lane, instruction);
}

/// The buffer and element that a cell is.
std::string Machine::place(std::size_t cell) const {
  const auto next = std::ranges::upper_bound(areas_, cell);
  // Empty areas share their start with the next one; upper_bound passes all of them.
  const auto number = static_cast<std::size_t>(next - areas_.begin()) - 1;
  static constexpr const char* kNames[kAreas] = {"input (or in-place) buffer", "output buffer", "window of bank 0",
                                                 "window of bank 1"};
  return fmt::format("element {} of rank {}'s {}", cell - areas_[number], number / kAreas, kNames[number % kAreas]);
}

void Machine::fail_race(const Conflict& conflict, std::size_t cell, const std::string& now) const {
  fail(Fault::race, [&] {
    std::string earlier = "an earlier access";
    for (const Logged& entry : log_) {
      if (entry.epoch.component != conflict.earlier.component || entry.epoch.time != conflict.earlier.time) continue;
      if (entry.writes != conflict.earlier_writes || cell < entry.cells.first ||
          cell >= entry.cells.first + entry.cells.count)
        continue;
      earlier = entry.lane < 0
                    ? fmt::format("the write by rank {}'s caller before operation {}", entry.rank, entry.operation)
                    : where(entry.operation, entry.rank, entry.lane, entry.pc);
    }
    return fmt::format("{}: nothing orders this with {} ({} {})", now, earlier,
                       conflict.earlier_writes ? "writes" : "reads", place(cell));
  });
}

void Machine::fail_result(Rank rank, int n, std::size_t e, const Value& value) const {
  fail(Fault::result, [&] {
    const std::string output = fmt::format("operation {}, rank {}: output element {}", n, rank, e);
    if (value.expr == 0) return output + " is never written";
    if (value.element != tag(n, e)) {
      return fmt::format("{} holds element {} of operation {}", output, value.element % max_count_,
                         value.element / max_count_);
    }
    const Expr other = expected_[static_cast<std::size_t>(n)][e];
    const std::string is = fmt::format("{} is {}", output, expressions_.text(value.expr));
    if (other != 0) return fmt::format("{}, on another rank {}", is, expressions_.text(other));
    std::string lacks;
    for (Rank r : expressions_.missing(value.expr)) lacks += fmt::format(" {}", r);
    return is + (lacks.empty() ? ": no last fold is marked final" : ": lacks rank" + lacks);
  });
}

void Machine::fail_combine(const LaneRun& lane, const Expressions::Result& result) const {
  const bool order = result.trouble == Expressions::Trouble::order;
  fail(order ? Fault::order : Fault::result, [&] {
    std::string operands;
    for (Expr expr : operands_) operands += fmt::format(" {}", expressions_.text(expr));
    switch (result.trouble) {
      case Expressions::Trouble::twice:
        return fmt::format("{}: rank {} contributes twice:{}", where(lane), result.rank, operands);
      case Expressions::Trouble::order:
        return fmt::format("{}: operands are not lower rank first:{}", where(lane), operands);
      case Expressions::Trouble::final_inside:
        return fmt::format("{}: an operand had its last fold already:{}", where(lane), operands);
      case Expressions::Trouble::none:
        break;
    }
    return std::string();
  });
}

/// Nothing can move and not every rank has returned: says who waits for what.
void Machine::fail_stuck() const {
  constexpr int kShown = 8;
  Fault fault = Fault::deadlock;
  std::string text;
  int shown = 0;
  for (const LaneRun& lane : lanes_) {
    if (lane.ended) continue;
    const Program& p = program(lane.operation, lane.rank);
    const bool at_end = lane.pc >= p.lanes[static_cast<std::size_t>(lane.number)].end;
    if (at_end && !lane.transfers.empty()) {
      const Transfer& oldest = lane.transfers.front();
      // The other side has returned without it: not a circle, a message too many.
      if (at(lane.operation, p.instrs[oldest.pc].peer).ended) fault = Fault::unmatched;
      if (explain_ && ++shown <= kShown) text += "\n  has no partner: " + where(lane, oldest.pc);
    } else if (!at_end && explain_ && ++shown <= kShown) {
      text += "\n  waits: " + where(lane);
    }
  }
  fail(fault, [&] {
    if (shown > kShown) text += fmt::format("\n  and {} more", shown - kShown);
    return "no rank can go on" + text;
  });
}

}  // namespace umbel::algos::check
