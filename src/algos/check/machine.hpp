// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The machine behind checker.hpp's run(). Private to this folder.
#pragma once

#include <deque>
#include <unordered_map>

#include "algos/check/checker.hpp"
#include "algos/check/clocks.hpp"
#include "algos/check/expressions.hpp"
#include "algos/check/memory.hpp"
#include "base/shares.hpp"

namespace umbel::algos::check {

/// Thrown at the first finding.
struct Stop {
  Finding finding;
};

class Machine {
 public:
  /// @param explain write texts and keep a log of accesses to name the other side of a race.
  Machine(const Setting& setting, std::span<const Operation> operations, bool explain);
  /// Runs to the end. @throws Stop
  Report run();

 private:
  static constexpr int kBanks = 2;
  /// A rank's memory: what the caller gives, and its window per bank. In-place, output is the first area too.
  enum class Area : std::uint8_t { first, second, window0, window1 };
  static constexpr std::size_t kAreas = 4;

  struct SemaphoreRun {
    std::deque<Clock> made;  // signals not consumed yet
    std::uint32_t signals = 0;
    std::uint32_t consumed = 0;
    int waiter = -1;  // a lane's number in lanes_
  };

  struct Cells {
    std::size_t first = 0;
    std::size_t count = 0;
  };

  struct Transfer {
    Cells cells;
    std::uint32_t pc = 0;
    Clock posted = nullptr;
    Clock sender = nullptr;  // receive: what the message carries
    bool matched = false;
  };

  struct LaneRun {
    int operation = 0;
    Rank rank = 0;
    int number = 0;
    std::uint32_t pc = 0;
    LoopCounters loops;
    std::uint32_t left[kMaxLoopDepth] = {};
    int depth = 0;
    Clock clock = nullptr;
    Clock completed = nullptr;  // net lanes: what the last completion carries
    std::uint32_t component = 0;
    std::uint32_t transfers_component = 0;
    std::uint32_t posted = 0;
    std::deque<Transfer> transfers;  // posted, not complete, in order
    bool ended = false;
  };

  struct RankRun {
    bool started = false;
    bool ended = false;
    int first_lane = 0;
    int lanes_left = 0;
    Clock start = nullptr;
    Clock end = nullptr;
    std::vector<SemaphoreRun> semaphores;
  };

  /// A message stream: transfers wait for the other side, by (lane, position in the lane's posting order).
  struct Waiting {
    int lane = 0;
    std::uint32_t number = 0;
  };
  struct Stream {
    std::deque<Waiting> sends, receives;
  };

  /// Whose input an element of an output comes from, and where in that it lies.
  struct Origin {
    Rank rank = 0;
    std::uint64_t element = 0;
  };

  struct Logged {
    Epoch epoch;
    Cells cells;
    bool writes = false;
    int lane = 0;  // −1: the caller of `rank`
    std::uint32_t pc = 0;
    Rank rank = 0;
    int operation = 0;
  };

  // machine.cpp: operations and control
  void lay_out();
  void begin_call(Rank rank, int operation);
  void try_start(Rank rank, int operation);
  void run_lane(int lane);
  void execute(LaneRun& lane, const Instr& in);
  bool wait(int lane, const Instr& in);
  void begin_loop(LaneRun& lane, const Instr& in);
  void end_loop(LaneRun& lane, const Instr& in);
  void signal(const LaneRun& lane, std::int32_t signal, const std::uint32_t* clock);
  void end_lane(LaneRun& lane);
  void finish(Rank rank, int operation);
  void check_result(Rank rank, int operation);
  void check_reduction(Rank rank, int operation, std::size_t element, const Value& value);
  void check_moved(Rank rank, int operation, std::size_t element, const Value& value);
  Origin origin_of(Rank rank, int operation, std::size_t element) const;
  void check_begun(Rank rank, int operation);
  void check_semaphores();
  void wake(int lane);
  int next_lane();
  void mark(const LaneRun& lane, OpCode op, std::uint64_t a, std::uint64_t b);

  // machine_data.cpp: slices, values, transfers
  Cells resolve(const LaneRun& lane, const Slice& slice, const char* role);
  Cells resolve_user(const LaneRun& lane, const Slice& slice, Extent extent, const char* role);
  Cells resolve_window(const LaneRun& lane, const Slice& slice, const Extent& extent);
  void touch(const LaneRun& lane, const Instr& in, const Cells& cells, bool writes, Epoch self);
  void copy(const LaneRun& lane, const Instr& in);
  void reduce(const LaneRun& lane, const Instr& in);
  void check_operand(const LaneRun& lane, const Cells& source, const Cells& target) const;
  Value combine(const LaneRun& lane, const Instr& in, std::size_t element);
  void post(int lane, const Instr& in);
  void match(Stream& stream);
  void complete(int lane);
  Transfer& transfer(const Waiting& waiting);

  // machine_text.cpp: what a person reads
  template <class Text>
  [[noreturn]] void fail(Fault fault, Text&& text) const {
    throw Stop{{fault, explain_ ? text() : std::string()}};
  }
  std::string where(const LaneRun& lane) const;
  std::string where(const LaneRun& lane, std::uint32_t pc) const;
  std::string where(int operation, Rank rank, int lane, std::uint32_t pc) const;
  std::string place(std::size_t cell) const;
  [[noreturn]] void fail_race(const Conflict& conflict, std::size_t cell, const std::string& now) const;
  [[noreturn]] void fail_result(Rank rank, int operation, std::size_t element, const Value& value) const;
  [[noreturn]] void fail_stuck() const;
  [[noreturn]] void fail_combine(const LaneRun& lane, const Expressions::Result& result) const;

  const Operation& operation(int n) const { return operations_[static_cast<std::size_t>(n)]; }
  const Program& program(int n, Rank rank) const { return operation(n).programs[static_cast<std::size_t>(rank)]; }
  const Binding& binding(int n, Rank rank) const { return bindings_[static_cast<std::size_t>(n * size_ + rank)]; }
  RankRun& at(int n, Rank rank) { return ranks_[static_cast<std::size_t>(n * size_ + rank)]; }
  const RankRun& at(int n, Rank rank) const { return ranks_[static_cast<std::size_t>(n * size_ + rank)]; }
  std::size_t area(Rank rank, Area area) const {
    return areas_[static_cast<std::size_t>(rank) * kAreas + static_cast<std::size_t>(area)];
  }
  Collective collective(int n) const { return operation(n).programs.front().collective; }
  Rank root(int n) const { return operation(n).programs.front().root; }
  /// An all-to-all has no in-place form: the elements that a rank gets lie where those are that it gives.
  bool in_place(int n, Rank rank) const {
    return collective(n) != Collective::all_to_all && (operation(n).in_place >> (rank % 64) & 1U) != 0;
  }
  /// The elements that the rank's in- or output holds.
  Extent held(int n, Rank rank, Buffer buffer) const;
  Area area_of(int n, Rank rank, Buffer buffer) const;
  std::uint32_t tag(int n, std::size_t element) const;
  std::uint32_t caller_component(Rank rank) const { return callers_[static_cast<std::size_t>(rank)]; }

  const Setting& setting_;
  std::span<const Operation> operations_;
  bool explain_;
  int size_;
  std::deque<ShareLists> lists_;                   // that bindings point to
  std::deque<std::vector<std::uint64_t>> starts_;  // likewise, of bundles
  std::vector<Binding> bindings_;                  // by operation, then rank
  std::vector<std::size_t> areas_;                 // first element of each area, by rank
  std::vector<std::uint32_t> callers_;             // component of each rank's caller
  std::vector<std::uint32_t> lane_components_;     // first component of each (rank, lane): the lane, then its transfers
  int max_lanes_ = 0;
  std::uint64_t max_count_ = 0;
  std::size_t width_ = 0;   // components
  std::uint32_t hops_ = 0;  // the last component: transfers and signals between ranks on the longest path to here

  std::optional<Clocks> clocks_;
  std::optional<Memory> memory_;
  Expressions expressions_;
  std::deque<LaneRun> lanes_;
  std::vector<RankRun> ranks_;                                      // by operation, then rank
  std::vector<std::unordered_map<std::uint64_t, Stream>> streams_;  // by operation
  std::vector<std::vector<Expr>> expected_;                         // by operation: the first finisher's result
  enum Urgency { kBehind, kNormal, kAhead, kUrgencies };
  std::vector<int> runnable_[kUrgencies];
  std::vector<std::uint64_t> sent_;
  std::vector<Cells> sources_;           // scratch of reduce()
  std::vector<std::uint32_t> crossing_;  // scratch of reduce(): sources in another rank's memory
  std::vector<Expr> operands_;           // scratch of combine()
  std::vector<Expr> last_operands_;      // what combine() saw last, and what came out
  bool last_final_ = false;
  Expr last_result_ = 0;
  std::vector<Logged> log_;
  Report report_;
  int finished_ = 0;
};

}  // namespace umbel::algos::check
