// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/tasks.hpp"

#include <algorithm>
#include <utility>

#include "algos/builder.hpp"

namespace umbel::runtime {
namespace {

using algos::Builder;
using algos::Counter;
using algos::Flag;
using algos::LaneRef;

constexpr std::uint64_t kMessageBytes = 8;
constexpr int kRoundTrips = 4;  ///< before node-mates are told: about as long as they would wait in a call
constexpr std::uint64_t kCarBytes = 64U << 10U;  ///< of a stream
constexpr int kCarsInFlight = 8;
/// A megabyte and a half: what a shaper and buffers let through at once.
constexpr int kLeastCars = 24;

bool everywhere(const Shape&, bool) { return true; }
bool with_mates(const Shape& shape, bool) { return shape.largest_node() > 1; }
bool with_direct(const Shape& shape, bool direct) { return direct && with_mates(shape, direct); }
bool with_nodes(const Shape& shape, bool) { return shape.nodes() > 1; }

Builder of_memory(Rank rank, const Shape& shape, int kinds) {
  return Builder(rank, shape, {.collective = Collective::all_reduce, .blocks = static_cast<int>(kTaskInput)}, kinds);
}

/// The input's part for this turn: one after another, as a call reads its input.
Slice input_part(const Builder& b, Counter turn) {
  return b.input({.block = algos::cyclic(turn, 1, 0, static_cast<int>(kTaskInput))});
}
Slice output_part(const Builder& b, Rank of) { return b.output({}, of); }
Slice slot(const Builder& b, Rank of, int region) { return b.window({}, of, region, {}); }

TaskProgram copies(Rank rank, const Shape& shape, int repetitions) {
  Builder b = of_memory(rank, shape, 0);
  const LaneRef lane = b.memory_lane();
  const int region = b.region(1);
  b.repeat(repetitions, [&](Counter turn) { b.copy(lane, slot(b, rank, region), input_part(b, turn)); });
  return {b.finish(), true};
}

TaskProgram folds(Rank rank, const Shape& shape, int repetitions) {
  Builder b = of_memory(rank, shape, 0);
  const LaneRef lane = b.memory_lane();
  const int region = b.region(1);
  b.copy(lane, slot(b, rank, region), b.input({}));  // numbers: what else is in the window may be slow to add
  b.repeat(repetitions, [&](Counter turn) {
    b.reduce(lane, output_part(b, rank), {slot(b, rank, region), input_part(b, turn)}, true);
  });
  return {b.finish(), true};
}

/// Each rank writes, and tells the neighbour that reads it, which allows the next. As many bytes are copied, and ranks
/// wait as often for each other, where nobody reads: what differs is where they come from.
/// @param window  where it writes: its window, or its output
/// @param read  the neighbour copies what it has written, not its own input
TaskProgram hand_on(Rank rank, const Shape& shape, int repetitions, bool window, bool read) {
  constexpr int kWritten = 0, kRead = 1;
  Builder b = of_memory(rank, shape, 2);
  const LaneRef lane = b.memory_lane();
  const int region = b.region(1);
  const auto mates = shape.peers_of(rank);
  const std::size_t count = mates.size(), at = static_cast<std::size_t>(shape.local_index(rank));
  if (count < 2) return {b.finish(), false};
  const Rank source = mates[(at + 1) % count], reader = mates[(at + count - 1) % count];
  const auto written = [&](Rank of) { return window ? slot(b, of, region) : output_part(b, of); };
  b.repeat(repetitions, [&](Counter turn) {
    b.copy(lane, written(rank), input_part(b, turn));
    b.signal(lane, b.tell(kWritten, reader));
    b.wait(lane, b.hear(kWritten, source));
    b.copy(lane, window ? output_part(b, rank) : slot(b, rank, region), read ? written(source) : input_part(b, turn));
    b.signal(lane, b.tell(kRead, source));
    b.wait(lane, b.hear(kRead, reader));
  });
  return {b.finish(), true};
}

TaskProgram write_window(Rank rank, const Shape& shape, int repetitions) {
  return hand_on(rank, shape, repetitions, true, false);
}
TaskProgram read_window(Rank rank, const Shape& shape, int repetitions) {
  return hand_on(rank, shape, repetitions, true, true);
}
TaskProgram write_user(Rank rank, const Shape& shape, int repetitions) {
  return hand_on(rank, shape, repetitions, false, false);
}
TaskProgram read_user(Rank rank, const Shape& shape, int repetitions) {
  return hand_on(rank, shape, repetitions, false, true);
}

/// The first of a node's ranks without a partner waits for the node's first one.
TaskProgram flags(Rank rank, const Shape& shape, int repetitions) {
  constexpr int kFlag = 0, kEnd = 1;
  Builder b = of_memory(rank, shape, 2);
  const LaneRef lane = b.memory_lane();
  const auto mates = shape.peers_of(rank);
  const std::size_t count = mates.size(), at = static_cast<std::size_t>(shape.local_index(rank)), other = at ^ 1U;
  if (count < 2) return {b.finish(), false};
  if (other == count) {
    b.wait(lane, b.hear(kEnd, mates.front()));
    return {b.finish(), false};
  }
  b.repeat(repetitions, [&](Counter) {
    if (at < other) b.signal(lane, b.tell(kFlag, mates[other]));
    b.wait(lane, b.hear(kFlag, mates[other]));
    if (at > other) b.signal(lane, b.tell(kFlag, mates[other]));
  });
  if (at == 0 && count % 2 == 1) b.signal(lane, b.tell(kEnd, mates.back()));
  return {b.finish(), true};
}

Builder of_messages(Rank rank, const Shape& shape) {
  return Builder(rank, shape, {.collective = Collective::all_reduce}, 1);
}

/// A rank that waits for the first one of its node, so many times.
TaskProgram waits_for_first(Builder b, Rank first, int times) {
  const LaneRef lane = b.memory_lane();
  b.repeat(times, [&](Counter) { b.wait(lane, b.hear(0, first)); });
  return {b.finish(), false};
}

void tell_mates(Builder& b, LaneRef lane) {
  for (const Rank mate : b.shape().peers_of(b.rank()))
    if (mate != b.rank()) b.signal(lane, b.tell(0, mate));
}

TaskProgram messages(Rank rank, const Shape& shape, int repetitions) {
  Builder b = of_messages(rank, shape);
  const Rank first = shape.peers_of(rank).front();
  const int node = shape.node_of(rank), other = node ^ 1;
  if (other >= shape.nodes()) return {b.finish(), false};
  if (rank != first) return waits_for_first(std::move(b), first, repetitions);
  const Rank peer = shape.node_ranks(other).front();
  const int region = b.region(1);
  const LaneRef out = b.net_lane(), in = b.net_lane();
  const Flag arrived = b.flag(node < other ? 1 : 0);  // one of the two begins
  b.repeat(repetitions, [&](Counter) {
    b.repeat(kRoundTrips, [&](Counter) {
      b.wait(out, arrived.wait);
      b.send(out, b.input({}), peer, 0);
      b.recv(in, slot(b, rank, region), peer, 0, arrived.raise);
    });
    tell_mates(b, out);
  });
  return {b.finish(), true};
}

TaskProgram stream(Rank rank, const Shape& shape, int repetitions) {
  Builder b = of_messages(rank, shape);
  const Rank first = shape.peers_of(rank).front();
  if (rank != first) return waits_for_first(std::move(b), first, 1);
  const int node = shape.node_of(rank), nodes = shape.nodes();
  const Rank next = shape.node_ranks((node + 1) % nodes).front();
  const Rank last = shape.node_ranks((node + nodes - 1) % nodes).front();
  const int region = b.region(kCarsInFlight);
  const LaneRef out = b.net_lane(), in = b.net_lane();
  const Flag sent = b.flag(kCarsInFlight), received = b.flag(kCarsInFlight);
  b.repeat(repetitions, [&](Counter turn) {
    b.wait(out, sent.wait);
    b.send(out, b.input({}), next, 0, sent.raise);
    b.wait(in, received.wait);
    b.recv(in, b.window({}, rank, region, {.depth = kCarsInFlight, .index = algos::counted(turn)}), last, 0,
           received.raise);
  });
  tell_mates(b, in);
  return {b.finish(), true};
}

}  // namespace

const std::array<Task, kTaskCount> kTasks{{
    {TaskName::flags, with_mates, flags, kTaskInput* kTaskBytes},
    {TaskName::copies, everywhere, copies, kTaskInput* kTaskBytes},
    {TaskName::folds, everywhere, folds, kTaskInput* kTaskBytes},
    {TaskName::write_window, with_mates, write_window, kTaskInput* kTaskBytes},
    {TaskName::read_window, with_mates, read_window, kTaskInput* kTaskBytes},
    {TaskName::write_user, with_direct, write_user, kTaskInput* kTaskBytes},
    {TaskName::read_user, with_direct, read_user, kTaskInput* kTaskBytes},
    {TaskName::messages, with_nodes, messages, kMessageBytes},
    {TaskName::posts, with_nodes, stream, kMessageBytes, kLeastCars},
    {TaskName::stream, with_nodes, stream, kCarBytes, kLeastCars},
}};

Figures figures_of(const TaskTimes& times, double ranks_per_core) {
  const auto of = [&](TaskName name) { return times[static_cast<std::size_t>(name)]; };
  const double bytes = static_cast<double>(kTaskBytes) * std::max(1.0, ranks_per_core);
  // In the place of a copy from the input: that, and how much longer it takes.
  const auto reading = [&](TaskName read, TaskName write) {
    return of(read) == 0 ? 0 : (of(TaskName::copies) + of(read) - of(write)) / bytes;
  };
  return {of(TaskName::flags) / 2 / std::max(1.0, ranks_per_core),
          reading(TaskName::read_window, TaskName::write_window),
          reading(TaskName::read_user, TaskName::write_user),
          of(TaskName::copies) / bytes,
          of(TaskName::folds) / bytes,
          of(TaskName::messages) / (2 * kRoundTrips),
          of(TaskName::posts),
          of(TaskName::stream) / static_cast<double>(kCarBytes)};
}

}  // namespace umbel::runtime
