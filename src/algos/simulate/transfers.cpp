// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The machine's messages: matching, sending, completion.
#include <algorithm>
#include <limits>

#include "algos/simulate/machine.hpp"

namespace umbel::algos::simulate {
namespace {

std::uint64_t pair_of(Rank from, Rank to) {
  return static_cast<std::uint64_t>(from) << 32U | static_cast<std::uint32_t>(to);
}

}  // namespace

/// Posts a send or a receive: it joins the message that the other side has posted, or waits for it.
void Machine::post(Rank rank, LaneRun& lane, const Instr& in) {
  const bool sends = in.op == OpCode::send;
  const Rank from = sends ? rank : in.peer, to = sends ? in.peer : rank;
  Stream& stream = streams_[pair_of(from, to)][in.channel];
  std::deque<int>& other = sends ? stream.receives : stream.sends;
  auto number = static_cast<int>(messages_.size());
  if (other.empty()) {
    messages_.push_back({.from = from, .to = to});
    (sends ? stream.sends : stream.receives).push_back(number);
  } else {
    number = other.front();
    other.pop_front();
  }
  const auto lane_number = static_cast<int>(&lane - at(rank).lanes.data());
  const std::uint64_t position = lane.transfers_ended + lane.transfers.size();
  lane.transfers.push_back({.instr = lane.pc});
  Message& m = message(number);
  if (sends) {
    m.send_lane = lane_number;
    m.send_at = position;
    post_send(number, lane, program(rank).slices[in.src]);
    return;
  }
  m.posted = true;
  m.recv_lane = lane_number;
  m.recv_at = position;
  const double latency = m.asked < 0 ? 0 : pair(from, to).route.latency;
  if (m.asked >= 0) push(std::max(now_, m.asked + latency) + latency, What::departure, number);
  if (m.arrived) complete(rank, lane_number, position);
}

void Machine::post_send(int number, const LaneRun& lane, const Slice& src) {
  Message& m = message(number);
  m.bytes = extent_of(binding_, src, lane.loops).count * binding_.elem_bytes;
  ++outcome_.messages;
  if (cluster_.eager_bytes == 0 || static_cast<double>(m.bytes) <= cluster_.eager_bytes) {
    depart(number);
  } else if (m.posted) {
    push(now_ + 2 * pair(m.from, m.to).route.latency, What::departure, number);  // asks, and is answered
  } else {
    m.asked = now_;
  }
}

Machine::Pair& Machine::pair(Rank from, Rank to) {
  const auto [found, fresh] = pairs_.try_emplace(pair_of(from, to));
  if (fresh) found->second.route = network_.route(from, to);
  return found->second;
}

/// The message joins those that its sender has for its receiver.
void Machine::depart(int number) {
  const Message& m = message(number);
  Pair& p = pair(m.from, m.to);
  p.messages.push_back(number);
  network_.load(p.route, m.bytes);
  if (p.messages.size() == 1)
    begin_flow(static_cast<double>(m.bytes), std::numeric_limits<double>::infinity(), p.route.links, -1 - number);
}

/// The message has left; its end has still the latency before it.
void Machine::sent(int number) {
  const Message m = message(number);
  Pair& p = pair(m.from, m.to);
  push(now_ + p.route.latency, What::arrival, number);
  p.messages.pop_front();
  if (!p.messages.empty()) {
    const int next = p.messages.front();
    begin_flow(static_cast<double>(message(next).bytes), std::numeric_limits<double>::infinity(), p.route.links,
               -1 - next);
  }
  complete(m.from, m.send_lane, m.send_at);
  wake(m.from);
}

/// A transfer is over; its lane hears of it when those before it are.
void Machine::complete(Rank rank, int lane_number, std::uint64_t position) {
  LaneRun& lane = at(rank).lanes[static_cast<std::size_t>(lane_number)];
  lane.transfers[position - lane.transfers_ended].complete = true;
}

/// Completes transfers in their lanes' orders.
void Machine::poll(Rank rank) {
  RankRun& run = at(rank);
  for (LaneRun& lane : run.lanes) {
    for (; !lane.transfers.empty() && lane.transfers.front().complete; ++lane.transfers_ended) {
      const Instr& in = program(rank).instrs[lane.transfers.front().instr];
      lane.transfers.pop_front();
      run.moved = true;
      if (in.signal >= 0) raise(rank, in.signal);
    }
  }
}

}  // namespace umbel::algos::simulate
