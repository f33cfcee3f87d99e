// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The critical path of what ranks do side by side, for costs that no single formula tells: where ranks do different
// things, as in a tree, or do several that take turns.
//
// A task belongs to whoever does it, a rank's thread or a link, who does one task at a time, in the order in which they
// could begin. It can begin when all that it comes after have ended. A thread stays with a lane while that has
// something to do, until it has moved as much as a lane may in one turn. An algorithm's cost writes down its tasks as
// its lanes have them, with the terms of cost.hpp; where all ranks do the same at the same time, one stands for all.
//
// Plain sums and maxima in an order that the tasks alone decide: the same on every processor, as cost.hpp asks for.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "algos/cost.hpp"

namespace umbel::algos {

class Schedule {
 public:
  using Task = int;
  static constexpr Task kNone = -1;

  explicit Schedule(const CostQuery& query);

  /// Keeps the rank's thread busy, with so many bytes to read.
  Task work(Rank rank, double seconds, double bytes = 0);
  /// The task comes with so many more instructions, waits or ends of loops, that cost no time but end turns.
  void add_instrs(Task task, int more) { item(task).instrs += more; }
  /// A message, sent when `ready` has ended. @return the task at whose end the receiver knows that it is there
  Task send(Rank from, Rank to, double bytes, Task ready = kNone);
  /// `task` begins `later` after the end of `before` at the earliest; negative when what it waits for is done before
  /// that task's end. Nothing for kNone.
  void after(Task task, Task before, double later = 0);
  /// The same, in a lane.
  void follow(Task task, Task before);
  /// `task` writes a slot, which must be read first: `reads` has who read it, by chunk, up to the one before this.
  void reuse(Task task, const std::vector<Task>& reads) {
    const auto depth = static_cast<std::size_t>(depth_);
    if (reads.size() >= depth) after(task, reads[reads.size() - depth], terms_.flight());
  }

  /// When the last task ends.
  double run();
  /// How long whoever has most to do works.
  double busiest() const;

  const CostTerms& terms() const { return terms_; }

 private:
  /// What is left of a lane's turn.
  struct Turn {
    double bytes = 128U << 10U;
    int instrs = 64;
    bool over() const { return bytes <= 0 || instrs <= 0; }
  };
  struct Edge {
    Task task = kNone;
    double later = 0;
    int next = -1;
  };
  struct Item {
    double seconds = 0, bytes = 0, ready = 0;
    int doers[2] = {-1, -1};
    Task follower = kNone;  // the lane's next task
    int missing = 0;
    int instrs = 1;
    bool partly = false;  // goes on in another turn
    int first_edge = -1;
  };

  Task add(double seconds, int doer, int other = -1);
  Item& item(Task task) { return items_[static_cast<std::size_t>(task)]; }
  void offer(Task task, double now);
  void start(Task task, double now, const Turn& turn);
  void end(Task task, double now);
  void release(Task task, double now, Turn turn);
  void take_next(int doer, double now);

  CostTerms terms_;
  const Shape& shape_;
  int depth_;
  std::vector<Item> items_;
  std::vector<Edge> edges_;
  using Ready = std::pair<double, Task>;  // of two at the same time, the one that was added first
  template <class Value>
  using Earliest = std::priority_queue<Value, std::vector<Value>, std::greater<>>;
  struct Doer {
    double load = 0;  // of all tasks
    bool busy = false;
    Turn turn;
    Earliest<Ready> waiting;  // tasks that could begin
  };
  std::vector<Doer> doers_;  // ranks, links out of nodes, links into nodes
  int rails_ = 1;            // links of a node
  enum class What : std::uint8_t { ready, end };
  Earliest<std::tuple<double, What, Task>> events_;
};

/// Tasks of one lane after another.
class LaneOf {
 public:
  /// `task` comes next in the lane.
  Schedule::Task next(Schedule& schedule, Schedule::Task task) {
    schedule.follow(task, last_);
    return last_ = task;
  }

  /// A copy or fold that reads `bytes`, and the flags raised after it.
  struct Move {
    Schedule::Task begin = Schedule::kNone, end = Schedule::kNone;
  };
  Move move(Schedule& schedule, Rank rank, double seconds, double bytes, int flags) {
    Move move;
    move.begin = move.end = next(schedule, schedule.work(rank, seconds, bytes));
    schedule.add_instrs(move.begin, 1);  // a wait
    if (flags > 0) move.end = next(schedule, schedule.work(rank, flags * schedule.terms().raise()));
    return move;
  }
  /// Flags, one after another.
  std::vector<Schedule::Task> raise(Schedule& schedule, Rank rank, std::size_t flags) {
    std::vector<Schedule::Task> all;
    while (all.size() < flags) all.push_back(next(schedule, schedule.work(rank, schedule.terms().raise())));
    return all;
  }
  Schedule::Task last() const { return last_; }

 private:
  Schedule::Task last_ = Schedule::kNone;
};

/// Seconds for `bytes` that go chunk by chunk. `write` adds the tasks of chunks of given sizes. Of many chunks the
/// first few are looked at, and how much longer one more of them takes; if the tasks of a chunk are many (`width` says
/// about how many), a single one, and who has most to do with it.
double pipelined(const CostQuery& query, double bytes, std::size_t width,
                 const std::function<void(Schedule& schedule, const std::vector<double>& chunks)>& write);

}  // namespace umbel::algos
