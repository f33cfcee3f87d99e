// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/tasks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "kernels/validate.hpp"
#include "runtime/control.hpp"
#include "runtime/placement.hpp"

namespace umbel::runtime {
namespace {

constexpr int kRepetitions = 48;

Shape shape_of(int ranks, const char* nodes) { return Shape::from_paths(parse_placement(nodes, ranks)); }

std::vector<Shape> shapes() {
  return {Shape::one_node(1),     Shape::one_node(2),        Shape::one_node(3), Shape::one_node(5),
          shape_of(4, "2"),       shape_of(5, "2"),          shape_of(3, "3"),   shape_of(5, "0,1,1,2,2"),
          shape_of(4, "0,1,0,1"), shape_of(6, "0,1,1,1,1,2")};
}

/// What a program does in all, by what it does it to.
struct Totals {
  std::map<std::pair<Rank, int>, std::uint64_t> signals, waits;  ///< by (rank, semaphore)
  std::map<std::tuple<Rank, Rank, int>, std::uint64_t> sends, receives;
};

/// Walks the lanes, counting repeated instructions as often as they run.
void count(const Program& program, Totals& totals) {
  for (const Lane& lane : program.lanes) {
    std::uint64_t times = 1;
    for (std::uint32_t at = lane.begin; at < lane.end; ++at) {
      const Instr& instr = program.instrs[at];
      if (instr.op == OpCode::loop_begin) times *= instr.times;
      if (instr.op == OpCode::loop_end) times /= program.instrs[instr.jump].times;
      if (instr.op == OpCode::wait) totals.waits[{program.rank, instr.sem}] += times * instr.times;
      if (instr.op == OpCode::send) totals.sends[{program.rank, instr.peer, instr.channel}] += times;
      if (instr.op == OpCode::recv) totals.receives[{instr.peer, program.rank, instr.channel}] += times;
      if (instr.op != OpCode::signal && instr.signal < 0) continue;
      if (instr.op != OpCode::signal && instr.op != OpCode::send && instr.op != OpCode::recv) continue;
      const SignalTarget& target = program.signals[static_cast<std::size_t>(instr.signal)];
      totals.signals[{target.peer, target.sem}] += times;
    }
  }
}

TEST(Tasks, AreInTheOrderOfTheirNames) {
  for (std::size_t k = 0; k < kTaskCount; ++k) EXPECT_EQ(static_cast<std::size_t>(kTasks[k].name), k);
}

TEST(Tasks, AreProgramsWhoseSignalsAndMessagesMeet) {
  for (const Shape& shape : shapes())
    for (const Task& task : kTasks) {
      if (!task.serves(shape, true)) continue;
      Totals totals;
      std::map<std::pair<Rank, int>, std::uint64_t> credits;
      bool timed = false;
      for (Rank rank = 0; rank < shape.ranks(); ++rank) {
        const TaskProgram made = task.build(rank, shape, kRepetitions);
        EXPECT_NO_THROW(kernels::validate(made.program));
        const Binding binding = bind(made.program, task.bytes / sizeof(float), sizeof(float), {});
        EXPECT_LE(binding.window_bytes, ArenaLayout::of(0, 1).slot_bytes) << "with the least UMBEL_WINDOW_BYTES";
        count(made.program, totals);
        timed |= made.timed;
        for (std::size_t sem = 0; sem < made.program.semaphores.size(); ++sem)
          credits[{rank, static_cast<int>(sem)}] = static_cast<std::uint64_t>(made.program.semaphores[sem].initial);
      }
      const std::string where = testing::PrintToString(static_cast<int>(task.name)) + " on " +
                                std::to_string(shape.ranks()) + " ranks, " + std::to_string(shape.nodes()) + " nodes";
      EXPECT_TRUE(timed) << where;
      EXPECT_EQ(totals.sends, totals.receives) << where;
      for (const auto& [semaphore, waits] : totals.waits)
        EXPECT_LE(waits, totals.signals[semaphore] + credits[semaphore]) << where << ": a wait for nobody";
      for (const auto& [semaphore, signals] : totals.signals)
        EXPECT_GE(totals.waits[semaphore], signals) << where << ": a signal that nobody waits for";
    }
}

TEST(Tasks, OfUserMemoryAskForRanksThatReadIt) {
  EXPECT_FALSE(kTasks[static_cast<std::size_t>(TaskName::read_user)].serves(Shape::one_node(2), false));
  EXPECT_TRUE(kTasks[static_cast<std::size_t>(TaskName::read_window)].serves(Shape::one_node(2), false));
}

TEST(Tasks, SayWhatFiguresAre) {
  TaskTimes times{};
  const auto set = [&](TaskName name, double seconds) { times[static_cast<std::size_t>(name)] = seconds; };
  set(TaskName::flags, 4e-6);
  set(TaskName::copies, 1e-3);
  set(TaskName::folds, 2e-3);
  set(TaskName::write_window, 1e-3);
  set(TaskName::read_window, 4e-3);
  set(TaskName::write_user, 1e-3);
  set(TaskName::read_user, 6e-3);
  set(TaskName::messages, 80e-6);
  set(TaskName::posts, 7e-6);
  set(TaskName::stream, 65536e-9);
  const Figures figures = figures_of(times, 2);
  const double bytes = static_cast<double>(kTaskBytes);
  const Figures expected{1e-6, 2e-3 / bytes, 3e-3 / bytes, 0.5e-3 / bytes, 1e-3 / bytes, 10e-6, 7e-6, 1e-9};
  for (std::size_t k = 0; k < figures.size(); ++k)
    EXPECT_NEAR(figures[k] / expected[k], 1, 1e-12) << kTunedFigures[k].first;
  set(TaskName::read_window, 0);  // a rank that is alone on its node
  EXPECT_EQ(figures_of(times, 2)[1], 0);
  EXPECT_EQ(figures_of(TaskTimes{}, 1), Figures{});
}

}  // namespace
}  // namespace umbel::runtime
