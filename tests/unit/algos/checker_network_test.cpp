// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The checker on programs between nodes.
#include "hand_made.hpp"

namespace umbel::algos::check {
namespace {

const Shape kApart = Shape::from_nodes(std::vector{0, 1});

struct Spoil {
  bool no_sent = false;     ///< overwrites what may still be on its way
  bool no_arrived = false;  ///< reads before the message is there
  bool more = false;        ///< a message that nobody takes
  bool shorter = false;     ///< takes less than is sent
  bool same_lane = false;   ///< receives only after its own send is through
};

/// Each of two ranks sends its input to the other, which receives into its window.
std::vector<Program> exchange(const Spoil& spoil = {}) {
  std::vector<Program> programs;
  for (Rank rank = 0; rank < 2; ++rank) {
    const Rank peer = 1 - rank;
    const Spoil s = rank == 0 || spoil.same_lane ? spoil : Spoil{};
    Hand h(rank, 2, 2);
    const int sent = h.semaphore(rank), arrived = h.semaphore(rank), through = h.semaphore(rank);
    h.p.regions = {{.slots = 1, .blocks = 2}};
    Slice in = h.input(), out = h.output(), slot = h.window();
    in.blocks = out.blocks = slot.blocks = 2;
    h.lane();
    if (!s.no_sent) h.wait(sent);
    if (!s.no_arrived) h.wait(arrived);
    if (s.no_arrived)
      h.reduce(out, {in, slot});
    else
      h.reduce(out, {rank == 0 ? in : slot, rank == 0 ? slot : in});
    if (s.no_arrived) h.wait(arrived);
    if (s.no_sent) h.wait(sent);
    if (s.same_lane) {
      h.signal(rank, through);
    }
    h.lane(LaneKind::net).send(in, peer, sent);
    if (s.more) h.send(in, peer);
    if (!s.same_lane) h.lane(LaneKind::net);
    if (s.shorter) slot.blocks = 1;
    h.recv(slot, peer, arrived);
    programs.push_back(h.p);
  }
  return programs;
}

TEST(CheckerNetwork, FindsNothingInARightProgram) {
  for (const std::uint64_t in_place : {0U, 1U, 2U, 3U}) expect_right(find(kApart, exchange(), false, in_place));
  const auto programs = exchange();
  const Operation once{.programs = programs, .count = 6};
  const Report report = run({.shape = kApart}, std::span(&once, 1));
  EXPECT_EQ(report.steps, 1);
  EXPECT_EQ(report.sent, 6U);
}

TEST(CheckerNetwork, FindsASourceOverwrittenOnItsWay) {
  expect_fault(find(kApart, exchange({.no_sent = true}), false, 1), Fault::race, "send");
  expect_right(find(kApart, exchange({.no_sent = true}), false, 0));  // out-of-place the source stays
}

TEST(CheckerNetwork, FindsAReadBeforeArrival) {
  expect_fault(find(kApart, exchange({.no_arrived = true}), false), Fault::race, "recv");
}

TEST(CheckerNetwork, FindsUnmatchedMessages) {
  expect_fault(find(kApart, exchange({.more = true}), false), Fault::unmatched, "has no partner");
  expect_fault(find(kApart, exchange({.shorter = true}), false), Fault::unmatched, "sends 4 elements");
}

TEST(CheckerNetwork, MessagesStayBetweenNodes) {
  expect_fault(find(Shape::one_node(2), exchange(), false), Fault::ownership, "a message within a node");
}

/// Each rank sends, waits until the send is through, then posts its receive.
TEST(CheckerNetwork, FindsDeadlockOfSynchronousSends) {
  std::vector<Program> programs;
  for (Rank rank = 0; rank < 2; ++rank) {
    Hand h(rank, 2);
    const int sent = h.semaphore(rank), arrived = h.semaphore(rank);
    h.p.regions = {{.slots = 1}};
    h.lane().wait(arrived).reduce(h.output(), {rank == 0 ? h.input() : h.window(), rank == 0 ? h.window() : h.input()});
    h.lane(LaneKind::net).send(h.input(), 1 - rank, sent);
    if (rank == 0) h.lane(LaneKind::net);
    if (rank == 1) h.wait(sent);
    h.recv(h.window(), 1 - rank, arrived);
    if (rank == 0) h.lane().wait(sent);
    programs.push_back(h.p);
  }
  expect_right(find(kApart, programs, false));  // one of them is ready to receive
  Hand h(0, 2);
  const int sent = h.semaphore(0), arrived = h.semaphore(0);
  h.p.regions = {{.slots = 1}};
  h.lane().wait(arrived).reduce(h.output(), {h.input(), h.window()});
  h.lane(LaneKind::net).send(h.input(), 1, sent).wait(sent).recv(h.window(), 1, arrived);
  programs[0] = h.p;
  expect_fault(find(kApart, programs, false), Fault::deadlock, "waits");
}

/// Rank 0 hears from rank 1 what became of its message; that is no proof that its send is through.
TEST(CheckerNetwork, AnAnswerDoesNotFreeTheSource) {
  for (const bool waits : {true, false}) {
    Hand zero(0, 2), one(1, 2);
    const int sent = zero.semaphore(0), back = zero.semaphore(0);
    zero.p.regions = one.p.regions = {{.slots = 1}};
    zero.lane();
    if (waits) zero.wait(sent);
    zero.wait(back).copy(zero.output(), zero.window());
    if (!waits) zero.wait(sent);
    zero.lane(LaneKind::net).send(zero.input(), 1, sent);
    zero.lane(LaneKind::net).recv(zero.window(), 1, back);
    const int arrived = one.semaphore(1), folded = one.semaphore(1);
    one.lane().wait(arrived).reduce(one.output(), {one.window(), one.input()}).signal(1, folded);
    one.lane(LaneKind::net).recv(one.window(), 0, arrived);
    one.lane(LaneKind::net).wait(folded).send(one.output(), 0);
    const auto finding = find(kApart, {zero.p, one.p}, false, 1);
    if (waits)
      expect_right(finding);
    else
      expect_fault(finding, Fault::race, "send");
  }
}

/// Two messages into one slot: the second must be posted only when the first has been read.
TEST(CheckerNetwork, FindsAReceiveIntoASlotInUse) {
  for (const int credits : {1, 2}) {
    std::vector<Program> programs;
    for (Rank rank = 0; rank < 2; ++rank) {
      Hand h(rank, 2, 2);
      const int arrived = h.semaphore(rank), free = h.semaphore(rank, credits);
      h.p.regions = {{.slots = 1}};
      h.lane();
      for (int block = 0; block < 2; ++block) {
        const Slice in = h.input(block), slot = h.window(0, block);
        h.wait(arrived).reduce(h.output(block), {rank == 0 ? in : slot, rank == 0 ? slot : in}).signal(rank, free);
      }
      h.lane(LaneKind::net).send(h.input(0), 1 - rank).send(h.input(1), 1 - rank);
      h.lane(LaneKind::net);
      for (int block = 0; block < 2; ++block) h.wait(free).recv(h.window(0, block), 1 - rank, arrived);
      programs.push_back(h.p);
    }
    const auto finding = find(kApart, programs, false);
    if (credits == 1)
      expect_right(finding);
    else
      expect_fault(finding, Fault::race, "window");
  }
}

}  // namespace
}  // namespace umbel::algos::check
