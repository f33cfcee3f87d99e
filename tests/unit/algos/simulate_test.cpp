// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The simulator on programs small enough to work out their times by hand. One element is one byte; seconds are round
// numbers: what is not mentioned is free.
#include "algos/simulate/simulate.hpp"

#include <limits>

#include "algos/simulate/fluid.hpp"
#include "hand_made.hpp"

namespace umbel::algos::simulate {
namespace {

using check::at;
using check::Hand;

constexpr double kFree = 1e-12;

Cluster plain() {
  Cluster c;
  c.flag_s = c.signal_s = c.read_beta = c.direct_beta = c.copy_beta = c.gamma = 0;
  c.cache_bytes = 1e12;
  c.message_s = c.message_cpu_s = 0;
  c.wire_beta = kFree;
  return c;
}

/// A message: 1 at each end, 8 on its way, and a byte a second.
Cluster wired() {
  Cluster c = plain();
  c.message_s = 10;
  c.message_cpu_s = 1;
  c.wire_beta = 1;
  return c;
}

Outcome run_all(const std::vector<Program>& programs, const Shape& shape, const Cluster& cluster,
                std::uint64_t count = 100, const Cut& cut = {}) {
  return run(programs, bind(programs.front(), count, 1, cut), shape, cluster);
}

double seconds(const std::vector<Program>& programs, const Shape& shape, const Cluster& cluster,
               std::uint64_t count = 100, const Cut& cut = {}) {
  const Outcome outcome = run_all(programs, shape, cluster, count, cut);
  EXPECT_EQ(outcome.refused, "");
  return outcome.seconds;
}

Shape nodes(const std::vector<int>& of_rank) { return Shape::from_nodes(of_rank); }

Program sender(Rank rank, int ranks, Rank peer, int times = 1) {
  Hand h(rank, ranks);
  h.lane(LaneKind::net);
  for (int k = 0; k < times; ++k) h.send(h.input(), peer);
  return h.p;
}

Program receiver(Rank rank, int ranks, Rank peer, int times = 1) {
  Hand h(rank, ranks);
  h.lane(LaneKind::net);
  for (int k = 0; k < times; ++k) h.recv(h.output(), peer);
  return h.p;
}

TEST(Simulate, OneMessageOnOneLink) {
  const std::vector<Program> programs{sender(0, 2, 1), receiver(1, 2, 0)};
  const Outcome outcome = run_all(programs, nodes({0, 1}), wired());
  EXPECT_DOUBLE_EQ(outcome.seconds, 1 + 100 + 8 + 1);
  EXPECT_DOUBLE_EQ(outcome.busiest_thread_s, 1);
  EXPECT_DOUBLE_EQ(outcome.busiest_link_s, 100);
  EXPECT_EQ(outcome.messages, 1U);
}

TEST(Simulate, MessagesFromOneRankToAnotherGoOneAfterTheOther) {
  EXPECT_DOUBLE_EQ(seconds({sender(0, 2, 1, 3), receiver(1, 2, 0, 3)}, nodes({0, 1}), wired()), 1 + 300 + 8 + 1);
}

TEST(Simulate, TwoFlowsShareALink) {
  // Two ranks of a node send to two nodes: the first node's rail carries both.
  const std::vector<Program> programs{sender(0, 4, 2), sender(1, 4, 3), receiver(2, 4, 0), receiver(3, 4, 1)};
  Cluster c = wired();
  EXPECT_DOUBLE_EQ(seconds(programs, nodes({0, 0, 1, 2}), c), 1 + 200 + 8 + 1);
  EXPECT_DOUBLE_EQ(seconds(programs, nodes({0, 1, 2, 2}), c), 1 + 200 + 8 + 1);  // or the receivers'
  EXPECT_DOUBLE_EQ(seconds(programs, nodes({0, 1, 2, 3}), c), 1 + 100 + 8 + 1);
  c.rails = 2;
  EXPECT_DOUBLE_EQ(seconds(programs, nodes({0, 0, 1, 1}), c), 1 + 100 + 8 + 1);
}

TEST(Simulate, BothDirectionsOfALinkAreSeparate) {
  std::vector<Program> programs;
  for (Rank rank : {0, 1}) {
    Hand h(rank, 2);
    h.lane(LaneKind::net).send(h.input(), 1 - rank);
    h.lane(LaneKind::net).recv(h.output(), 1 - rank);
    programs.push_back(h.p);
  }
  EXPECT_DOUBLE_EQ(seconds(programs, nodes({0, 1}), wired()), 1 + 100 + 8 + 1);
}

TEST(Simulate, GroupsShareTheirUplinks) {
  const std::vector<std::vector<int>> racks{{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  const std::vector<Program> across{sender(0, 4, 2), sender(1, 4, 3), receiver(2, 4, 0), receiver(3, 4, 1)};
  const std::vector<Program> inside{sender(0, 4, 1), receiver(1, 4, 0), sender(2, 4, 3), receiver(3, 4, 2)};
  Cluster c = wired();
  EXPECT_DOUBLE_EQ(seconds(across, Shape::from_paths(racks), c), 110);
  c.uplinks = {{.alpha = 5, .beta = 2}};
  EXPECT_DOUBLE_EQ(seconds(across, Shape::from_paths(racks), c), 1 + 400 + 8 + 5 + 1);
  EXPECT_DOUBLE_EQ(seconds(inside, Shape::from_paths(racks), c), 110);
}

TEST(Simulate, LongMessagesWaitForTheirReceive) {
  // The receive is posted after 50 seconds of copying.
  Hand late(1, 2);
  const int copied = late.semaphore(1);
  late.lane().copy(late.output(), late.input()).signal(1, copied);
  late.lane(LaneKind::net).wait(copied).recv(late.output(), 0);
  const std::vector<Program> programs{sender(0, 2, 1), late.p};
  Cluster c = wired();
  c.copy_beta = 0.5;
  EXPECT_DOUBLE_EQ(seconds(programs, nodes({0, 1}), c), 110);
  c.eager_bytes = 99;
  EXPECT_DOUBLE_EQ(seconds(programs, nodes({0, 1}), c), 50 + 8 + 100 + 8 + 1);
}

TEST(Simulate, ARingOfFour) {
  std::vector<Program> programs;
  for (Rank rank = 0; rank < 4; ++rank) {
    Hand h(rank, 4);
    const int arrived = h.semaphore(rank, 1);  // the own block is there
    h.lane(LaneKind::net).begin(Trip::constant, 3).wait(arrived).send(h.input(), (rank + 1) % 4).end();
    h.lane(LaneKind::net).begin(Trip::constant, 3).recv(h.output(), (rank + 3) % 4, arrived).end();
    programs.push_back(h.p);
  }
  EXPECT_DOUBLE_EQ(seconds(programs, nodes({0, 1, 2, 3}), wired()), 3 * (1 + 100 + 8 + 1));
}

/// Rank 0 hands `times` blocks to rank 1 through `slots` slots.
std::vector<Program> stream(int slots, unsigned times) {
  Hand writer(0, 2), reader(1, 2);
  for (Hand* h : {&writer, &reader}) h->p.regions = {{.slots = slots}};
  const int free = writer.semaphore(1, slots), filled = reader.semaphore(0);
  writer.lane().begin(Trip::constant, times).wait(free).copy(writer.window(), writer.input());
  writer.signal(1, filled).end();
  reader.lane().begin(Trip::constant, times).wait(filled).copy(reader.output(), at(0, reader.window()));
  reader.signal(0, free).end();
  return {writer.p, reader.p};
}

TEST(Simulate, CreditsBoundWhatIsInFlight) {
  Cluster c = plain();
  c.flag_s = 1;
  c.signal_s = 0.25;
  c.copy_beta = 0.1;  // 10 seconds to write a block, 20 to read it
  c.read_beta = 0.2;
  // One slot: nothing overlaps. 10 + 1 + 20 + 1 a turn, but for the last credit.
  EXPECT_DOUBLE_EQ(seconds(stream(1, 3), Shape::one_node(2), c), 3 * 32 - 0.75);
  // Two: the reader never waits after the first block.
  EXPECT_DOUBLE_EQ(seconds(stream(2, 3), Shape::one_node(2), c), 11 + 3 * 20.25);
}

TEST(Simulate, LoopsRunAsOftenAsTheirTrips) {
  for (const Trip trip : {Trip::chunks, Trip::slice, Trip::constant}) {
    Hand h(0, 1);
    h.p.uses_chunks = true;
    h.lane().begin(trip, 3);
    h.p.instrs.back().src = 0;
    Slice from = h.input(), to = h.output();
    from.chunk.coef[0] = to.chunk.coef[0] = 1;
    h.copy(to, from).end();
    Cluster c = plain();
    c.copy_beta = 1;
    EXPECT_DOUBLE_EQ(seconds({h.p}, Shape::one_node(1), c, 100, {.chunk_bytes = 40}), 100) << static_cast<int>(trip);
    EXPECT_DOUBLE_EQ(seconds({h.p}, Shape::one_node(1), c, 0, {.chunk_bytes = 40}), 0) << static_cast<int>(trip);
  }
}

TEST(Simulate, WhatAByteCosts) {
  Cluster c = plain();
  c.copy_beta = 1;
  c.read_beta = 2;
  c.direct_beta = 3;
  c.gamma = 10;
  const auto costs = [&](auto&& write) {
    Hand h(0, 2);
    h.p.regions = {{.slots = 1}};
    h.lane();
    write(h);
    Program other = Hand(1, 2).p;
    other.regions = h.p.regions;
    return seconds({h.p, other}, Shape::one_node(2), c, 1);
  };
  EXPECT_DOUBLE_EQ(costs([](Hand& h) { h.copy(h.output(), h.input()); }), 1);
  EXPECT_DOUBLE_EQ(costs([](Hand& h) { h.copy(h.output(), at(1, h.window())); }), 2);
  EXPECT_DOUBLE_EQ(costs([](Hand& h) { h.copy(h.output(), at(1, h.input())); }), 3);
  EXPECT_DOUBLE_EQ(costs([](Hand& h) { h.reduce(h.output(), {h.input(), h.window()}); }), 10);
  EXPECT_DOUBLE_EQ(costs([](Hand& h) { h.reduce(h.output(), {h.input(), at(1, h.window()), at(1, h.input())}); }), 25);
  c.cache_bytes = 16;  // the window, a line of 64 bytes, is two doublings more
  EXPECT_DOUBLE_EQ(costs([](Hand& h) { h.copy(h.window(), h.input()); }), 1.3);
  EXPECT_DOUBLE_EQ(costs([](Hand& h) { h.copy(h.output(), at(1, h.window())); }), 2.6);
  EXPECT_DOUBLE_EQ(costs([](Hand& h) { h.copy(h.output(), h.input()); }), 1);
}

TEST(Simulate, LanesOfARankTakeTurnsAndRanksShareCoresAndTheBus) {
  std::vector<Program> programs;
  for (Rank rank : {0, 1}) {
    Hand h(rank, 2);
    h.lane().copy(h.output(), h.input());
    h.lane().copy(h.output(), h.input());
    programs.push_back(h.p);
  }
  Cluster c = plain();
  c.copy_beta = 1;
  const Shape shape = Shape::one_node(2);
  EXPECT_DOUBLE_EQ(seconds(programs, shape, c), 200);
  c.cores_per_node = 1;
  EXPECT_DOUBLE_EQ(seconds(programs, shape, c), 400);
  c.cores_per_node = 0;
  c.memory_beta = 1;  // a copied byte is read and written: 4 bytes a second are wanted
  EXPECT_DOUBLE_EQ(seconds(programs, shape, c), 800);
}

TEST(Simulate, RefusesWhatItCannotDo) {
  const Outcome stuck = run_all({Hand(0, 2).p, receiver(1, 2, 0)}, nodes({0, 1}), wired());
  EXPECT_NE(stuck.refused.find("get stuck: rank 1, lane 0"), std::string::npos) << stuck.refused;
  const auto programs = stream(1, 1000);
  const Outcome many =
      run(programs, bind(programs.front(), 1, 1, {}), Shape::one_node(2), plain(), {.instructions = 99});
  EXPECT_EQ(many.refused, "more than 99 instructions would have to be simulated");
  Cluster c = wired();
  c.signal_s = 1;
  EXPECT_EQ(run_all({Hand(0, 1).p}, Shape::one_node(1), c).refused,
            "signal_s is more than flag_s, of which it is a part");
}

TEST(Fluid, RatesAreMaxMinFair) {
  Fluid fluid;
  const int wide = fluid.add_resource(1), narrow = fluid.add_resource(0.25);
  constexpr double kUnbounded = std::numeric_limits<double>::infinity();
  const std::vector<Fluid::Use> through{{wide, 1}, {narrow, 1}}, alone{{wide, 1}};
  const int slow = fluid.start(0, 100, kUnbounded, through);
  const int fast = fluid.start(0, 75, kUnbounded, alone);
  // The narrow link lets one flow have a quarter; the other takes what is left of the wide one.
  std::vector<Fluid::Forecast> last(2);
  for (const Fluid::Forecast& f : fluid.forecasts()) last[f.flow == slow ? 0 : 1] = f;
  EXPECT_DOUBLE_EQ(last[0].time, 400);
  EXPECT_DOUBLE_EQ(last[1].time, 100);
  EXPECT_EQ(last[1].flow, fast);
  // A third flow halves it; when it is over, the rest goes on as before.
  fluid.clear();
  fluid.start(50, 37.5 / 2, kUnbounded, alone);
  Fluid::Forecast third{};
  for (const Fluid::Forecast& f : fluid.forecasts())
    if (f.flow != fast && f.flow != slow) third = f;
  EXPECT_DOUBLE_EQ(third.time, 100);
  EXPECT_FALSE(fluid.finish(last[1]));  // it has become slower
  fluid.clear();
  EXPECT_TRUE(fluid.finish(third));
  ASSERT_EQ(fluid.forecasts().size(), 1U);
  EXPECT_DOUBLE_EQ(fluid.forecasts().front().time, 100 + (37.5 / 2) / 0.75);
}

}  // namespace
}  // namespace umbel::algos::simulate
