// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The machine behind simulate.hpp. Private to this folder.
#pragma once

#include <deque>
#include <queue>
#include <unordered_map>
#include <vector>

#include "algos/simulate/fluid.hpp"
#include "algos/simulate/network.hpp"
#include "algos/simulate/simulate.hpp"

namespace umbel::algos::simulate {

/// Thrown when a run must be given up.
struct Refusal {
  std::string reason;
};

class Machine {
 public:
  Machine(std::span<const Program> programs, const Binding& binding, const Shape& shape, const Cluster& cluster,
          const Limits& limits);
  /// Runs to the end. @throws Refusal
  Outcome run();

 private:
  enum class What : std::uint8_t { thread, signal, forecast, departure, arrival };
  struct Event {
    double time = 0;
    std::uint64_t number = 0;  // of two at the same time the older one comes first
    What what = What::thread;
    int a = 0;  // thread, signal: rank; forecast: flow; departure, arrival: message
    int b = 0;  // signal: semaphore
    std::uint32_t version = 0;
    bool operator>(const Event& o) const { return time != o.time ? time > o.time : number > o.number; }
  };

  struct SemaphoreRun {
    std::uint32_t signals = 0;
    std::uint32_t consumed = 0;
  };
  struct Transfer {
    std::uint32_t instr = 0;
    bool complete = false;
  };
  struct LaneRun {
    std::uint32_t pc = 0;
    LoopCounters loops;
    std::uint32_t left[kMaxLoopDepth] = {};
    int depth = 0;
    std::uint64_t progress = 0;      // elements of the current copy or fold that are done
    std::deque<Transfer> transfers;  // posted, not complete, in order
    std::uint64_t transfers_ended = 0;
    bool ended = false;
  };
  struct RankRun {
    std::vector<LaneRun> lanes;
    std::vector<SemaphoreRun> semaphores;
    std::deque<int> arrived;  // messages that the thread has not seen yet
    int lane = -1;            // whose turn it is; −1: the network's
    std::uint32_t steps = 0;  // instructions in this turn
    std::uint64_t budget = 0;
    bool moved = false;
    bool idle = false;
    int working = -1;          // what the thread does until its event: a message that it sees to; −1: an instruction
    std::uint64_t moving = 0;  // elements
    std::size_t live = 0;
    double busy_s = 0;
    double end = 0;
  };
  struct Message {
    Rank from = -1, to = -1;
    std::uint64_t bytes = 0;
    int send_lane = -1, recv_lane = -1;
    std::uint64_t send_at = 0, recv_at = 0;  // the transfers' positions in their lanes' orders
    bool posted = false;                     // there is a receive
    double asked = -1;                       // waits for it since it was asked for, then; −1: does not wait
    bool arrived = false;
  };
  struct Stream {
    std::deque<int> sends, receives;  // messages without a receive, and the other way around
  };
  struct Pair {
    std::deque<int> messages;  // the first is on its way
    Route route;
  };

  // machine.cpp: threads, lanes, flags
  void work(Rank rank, double seconds, double bytes);
  void begin_flow(double amount, double fastest, std::span<const Fluid::Use> uses, int owner);
  void resume(Rank rank);
  void proceed(Rank rank);
  bool serve_network(Rank rank);
  bool turn(Rank rank);
  bool execute(Rank rank, LaneRun& lane);
  void wake(Rank rank);
  void end_lane(Rank rank, LaneRun& lane);
  void finish_instr(Rank rank);

  // lanes.cpp: instructions
  bool consume(RankRun& run, const Program& p, const Instr& in);
  void begin_loop(const Program& p, LaneRun& lane, const Instr& in);
  void end_loop(LaneRun& lane, const Instr& in);
  void raise(Rank rank, std::int32_t signal);
  void begin_move(Rank rank, LaneRun& lane, const Instr& in);
  void end_move(RankRun& run, LaneRun& lane, const Instr& in);
  double seconds_per_byte(Rank rank, const Slice& slice, bool alone) const;

  // transfers.cpp: messages
  void post(Rank rank, LaneRun& lane, const Instr& in);
  void post_send(int number, const LaneRun& lane, const Slice& src);
  void depart(int number);
  void sent(int number);
  void complete(Rank rank, int lane, std::uint64_t at);
  void poll(Rank rank);
  Pair& pair(Rank from, Rank to);
  Message& message(int n) { return messages_[static_cast<std::size_t>(n)]; }

  void push(double time, What what, int a, int b = 0, std::uint32_t version = 0);
  void push_forecasts();
  void handle(const Event& event);
  [[noreturn]] void stuck() const;
  const Program& program(Rank rank) const { return programs_[static_cast<std::size_t>(rank)]; }
  RankRun& at(Rank rank) { return ranks_[static_cast<std::size_t>(rank)]; }

  std::span<const Program> programs_;
  const Binding& binding_;
  const Shape& shape_;
  const Cluster& cluster_;
  Limits limits_;
  double spill_ = 1;
  double now_ = 0;
  std::uint64_t events_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> queue_;
  std::vector<RankRun> ranks_;
  Fluid fluid_;
  Network network_;
  std::vector<int> cores_, buses_;  // resources, by node; −1: nobody waits for it
  std::vector<int> flow_owner_;     // by flow: a rank's thread, or −1 − message
  std::deque<Message> messages_;
  std::unordered_map<std::uint64_t, std::unordered_map<int, Stream>> streams_;  // by pair and channel
  std::unordered_map<std::uint64_t, Pair> pairs_;
  Outcome outcome_;
  std::size_t running_ = 0;
};

}  // namespace umbel::algos::simulate
