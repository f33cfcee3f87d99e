// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The checker on programs within a node: one that is right, and that program spoiled in one way at a time.
#include "algos/check/prove.hpp"
#include "hand_made.hpp"

namespace umbel::algos::check {
namespace {

const Shape kPair = Shape::one_node(2);

/// What to spoil in the exchange below.
struct Spoil {
  bool no_ready = false;  ///< reads the peer's input without hearing that it is there
  bool no_done = false;   ///< returns while the peer may still read
  bool swapped = false;   ///< operands in the wrong order
  bool twice = false;     ///< the own operand twice
  bool not_final = false;
  bool half = false;         ///< leaves half of the output out
  bool other_block = false;  ///< combines different elements
  bool extra_signal = false;
  bool lost_signal = false;
};

/// Each of two ranks reads the other's input: wait until it is there, reduce, say that it has been read.
std::vector<Program> exchange(const Spoil& spoil = {}, Rank spoiled = 0) {
  std::vector<Program> programs;
  for (Rank rank = 0; rank < 2; ++rank) {
    const Rank peer = 1 - rank;
    const Spoil s = rank == spoiled ? spoil : Spoil{};
    const Spoil theirs = rank == spoiled ? Spoil{} : spoil;
    Hand h(rank, 2, 2);
    const int ready = h.semaphore(peer), done = h.semaphore(peer);
    h.lane();
    if (!theirs.no_ready && !s.lost_signal) h.signal(peer, ready);
    if (s.extra_signal) h.signal(peer, done);
    if (!s.no_ready) h.wait(ready);
    for (int block = 0; block < (s.half ? 1 : 2); ++block) {
      Slice low = at(0, h.input(block)), high = at(1, h.input(s.other_block ? 1 - block : block));
      if (s.swapped) std::swap(low, high);
      if (s.twice) high = low;
      h.reduce(h.output(block), {low, high}, !s.not_final);
    }
    if (!theirs.no_done) h.signal(peer, done);
    if (!s.no_done) h.wait(done);
    programs.push_back(h.p);
  }
  return programs;
}

TEST(Checker, FindsNothingInARightProgram) {
  const auto programs = exchange();
  expect_right(find(kPair, programs));
  const Operation once{.programs = programs, .count = 6};
  const Report report = run({.shape = kPair, .direct = true}, std::span(&once, 1));
  EXPECT_EQ(report.steps, 1);
  EXPECT_EQ(report.sent, 6U);
  EXPECT_EQ(report.elements, 12U);
  EXPECT_EQ(report.instructions, 12U);
  EXPECT_TRUE(report.canonical);
}

TEST(Checker, HoldsAnAlgorithmToWhatItSaysOfItsOrder) {
  const Shape shape = Shape::one_node(5);
  Algorithm modest = *algos::find(Collective::all_reduce, "reduce_broadcast"),
            boastful = *algos::find(Collective::all_reduce, "ring");
  EXPECT_FALSE(prove(modest, shape, {}, Effort::quick).finding);
  EXPECT_FALSE(prove(boastful, shape, {}, Effort::quick).finding);
  modest.canonical = [](const Shape&, const Spec&) { return false; };
  boastful.canonical = [](const Shape&, const Spec&) { return true; };
  expect_fault(prove(modest, shape, {}, Effort::quick).finding, Fault::canonical, "unsaid");
  expect_fault(prove(boastful, shape, {}, Effort::quick).finding, Fault::canonical, "should be");
}

TEST(Checker, RightForEveryCountEvenNone) {
  for (std::uint64_t count = 0; count < 9; ++count) expect_right(find(kPair, exchange(), true, 0, 3, count));
}

TEST(Checker, FindsAReadBeforeTheCallerWrote) {
  expect_fault(find(kPair, exchange({.no_ready = true})), Fault::race, "caller");
}

TEST(Checker, FindsAMissingClosing) {
  expect_fault(find(kPair, exchange({.no_done = true}), true, 0, 1), Fault::race, "caller");
}

TEST(Checker, FindsTheInPlaceHazard) {
  for (const std::uint64_t in_place : {1U, 2U, 3U})
    expect_fault(find(kPair, exchange(), true, in_place), Fault::race, "reduce");
}

TEST(Checker, FindsWrongOperands) {
  expect_fault(find(kPair, exchange({.twice = true})), Fault::result, "rank 0 contributes twice");
  expect_fault(find(kPair, exchange({.swapped = true})), Fault::order, "lower rank first");
  expect_fault(find(kPair, exchange({.other_block = true})), Fault::value, "combines element");
}

TEST(Checker, FindsWrongRoundingPoints) {
  expect_fault(find(kPair, exchange({.not_final = true})), Fault::result, "");
  // A copy of something final, folded again.
  Hand h(0, 1);
  h.lane().reduce(h.output(), {h.input()}).reduce(h.output(), {h.output()});
  expect_fault(find(Shape::one_node(1), {h.p}), Fault::result, "last fold already");
}

TEST(Checker, FindsAnOutputThatIsNotWritten) {
  expect_fault(find(kPair, exchange({.half = true})), Fault::result, "never written");
}

TEST(Checker, FindsUnbalancedSemaphores) {
  expect_fault(find(kPair, exchange({.extra_signal = true}), true, 0, 1),
               Fault::race);  // let the peer return too early
  expect_fault(find(kPair, exchange({.lost_signal = true})), Fault::deadlock,
               "rank 1, lane 0, instruction 1 \"wait   s0");
  Hand h(0, 1);
  const int spare = h.semaphore(0);
  h.lane().copy(h.output(), h.input()).signal(0, spare);
  expect_fault(find(Shape::one_node(1), {h.p}), Fault::semaphore, "gets 1 signals and consumes 0");
}

TEST(Checker, CreditsMayBeLeftOverButNotMore) {
  for (const int returned : {0, 1, 2}) {
    Hand h(0, 1);
    const int free = h.semaphore(0, 2), filled = h.semaphore(0);
    h.p.regions = {{.slots = 2}};
    h.lane().wait(free).copy(h.window(), h.input()).signal(0, filled);
    h.lane().wait(filled).copy(h.output(), h.window());
    for (int k = 0; k < returned; ++k) h.signal(0, free);
    const auto finding = find(Shape::one_node(1), {h.p});
    if (returned == 2)
      expect_fault(finding, Fault::semaphore);
    else
      expect_right(finding);
  }
}

TEST(Checker, PeersBuffersNeedDirectAccess) {
  expect_fault(find(kPair, exchange(), false), Fault::ownership, "cannot be reached");
  expect_fault(find(Shape::from_nodes(std::vector{0, 1}), exchange()), Fault::ownership, "node");
}

TEST(Checker, BuffersAreWrittenByTheirOwnerAndInputsByNobody) {
  auto programs = exchange();
  programs[0].slices[programs[0].instrs[2].dst].buffer = Buffer::input;
  expect_fault(find(kPair, programs), Fault::ownership, "writes an input");
  programs = exchange();
  programs[0].slices[programs[0].instrs[2].dst].rank = 1;
  expect_fault(find(kPair, programs), Fault::ownership, "writes a peer's memory");
}

TEST(Checker, ASemaphoreHasOneSignallingAndOneWaitingLane) {
  auto programs = exchange();
  const Program right = programs[0];
  programs[0].lanes.push_back({.kind = LaneKind::memory, .begin = 6, .end = 7});
  programs[0].instrs.push_back({.op = OpCode::wait, .sem = 0});
  expect_fault(find(kPair, programs), Fault::ownership, "two waiting sides");
  programs[0] = right;
  programs[0].lanes.push_back({.kind = LaneKind::memory, .begin = 6, .end = 7});
  programs[0].instrs.push_back({.op = OpCode::signal, .signal = 0});
  expect_fault(find(kPair, programs), Fault::ownership, "two signalling sides");
}

TEST(Checker, FindsBlocksAndSlotsOutOfBounds) {
  auto programs = exchange();
  programs[0].slices[0].block.base = 2;
  expect_fault(find(kPair, programs), Fault::bounds, "blocks 2 to 2 of 2");
  Hand h(0, 1);
  h.p.regions = {{.slots = 1}};
  h.lane().copy(h.window(1), h.input()).copy(h.output(), h.window(1));
  expect_fault(find(Shape::one_node(1), {h.p}), Fault::bounds, "slots outside");
  // A slot for one block cannot take two.
  Hand wide(0, 1, 2);
  wide.p.regions = {{.slots = 2}};
  Slice both = wide.input(), slot = wide.window();
  both.blocks = slot.blocks = 2;
  wide.lane().copy(slot, both).copy(wide.output(0), wide.input(0)).copy(wide.output(1), wide.input(1));
  expect_fault(find(Shape::one_node(1), {wide.p}), Fault::bounds, "4 elements in a slot of 2");
}

TEST(Checker, FindsReadsOfWhatNobodyWrote) {
  Hand h(0, 1);
  h.p.regions = {{.slots = 1}};
  h.lane().copy(h.output(), h.window());
  expect_fault(find(Shape::one_node(1), {h.p}), Fault::value, "nobody has written");
}

TEST(Checker, FindsUnequalLengthsAndPartialOverlap) {
  Hand h(0, 1, 3);
  Slice two = h.output();
  two.blocks = 2;
  h.lane().copy(two, h.input());
  expect_fault(find(Shape::one_node(1), {h.p}, true, 0, 1, 6), Fault::bounds, "2 elements into 4");
  Hand overlap(0, 1, 3);
  Slice low = overlap.output(0), high = overlap.output(1), whole = overlap.input();
  low.blocks = high.blocks = 2;
  whole.blocks = 3;
  Slice all = overlap.output();
  all.blocks = 3;
  overlap.lane().copy(all, whole).copy(high, low);
  expect_fault(find(Shape::one_node(1), {overlap.p}, true, 0, 1, 6), Fault::bounds, "overlap in part");
}

TEST(Checker, FindsMalformedLoops) {
  Hand h(0, 1);
  h.lane().begin(Trip::constant, 2).copy(h.output(), h.input()).end();
  expect_right(find(Shape::one_node(1), {h.p}));
  Program wrong = h.p;
  wrong.instrs[2].jump = 1;
  expect_fault(find(Shape::one_node(1), {wrong}), Fault::malformed, "loop");
  wrong = h.p;
  wrong.instrs[0].trip = Trip::chunks;
  expect_fault(find(Shape::one_node(1), {wrong}), Fault::malformed, "without chunks");
  wrong = h.p;
  wrong.slices[0].block.coef[1] = 1;
  expect_fault(find(Shape::one_node(1), {wrong}), Fault::malformed, "not around");
  Hand deep(0, 1);
  deep.lane();
  for (int l = 0; l <= kMaxLoopDepth; ++l) deep.begin(Trip::constant, 1);
  for (int l = 0; l <= kMaxLoopDepth; ++l) deep.end();
  expect_fault(find(Shape::one_node(1), {deep.p}), Fault::malformed, "too deep");
}

TEST(Checker, RanksMustAgreeOnHowDataIsCut) {
  auto programs = exchange();
  programs[1].chunk_blocks = 2;
  expect_fault(find(kPair, programs), Fault::malformed, "differ from rank 0's");
}

/// Each rank copies its input into its window and reads the other's. `rounds` times over the same slots, without
/// hearing that the other has read them.
std::vector<Program> through_windows(unsigned rounds, int slots, bool acknowledged) {
  std::vector<Program> programs;
  for (Rank rank = 0; rank < 2; ++rank) {
    Hand h(rank, 2);
    const int filled = h.semaphore(1 - rank), read = h.semaphore(1 - rank);
    h.p.regions = {{.slots = slots}};
    Slice own = h.window();
    own.slot = {.depth = slots, .index = {.coef = {1}}};
    h.lane().begin(Trip::constant, rounds).copy(own, h.input()).signal(1 - rank, filled).wait(filled);
    h.reduce(h.output(), {at(0, own), at(1, own)});
    if (acknowledged) h.signal(1 - rank, read).wait(read);
    h.end();
    programs.push_back(h.p);
  }
  return programs;
}

TEST(Checker, BanksKeepWindowsOfConsecutiveCallsApart) {
  // Nobody says that a slot has been read, but a bank comes round again only when the local peers are through with it.
  expect_right(find(kPair, through_windows(1, 1, false), false, 0, 5));
}

TEST(Checker, FindsAReusedSlot) {
  expect_fault(find(kPair, through_windows(2, 1, false), false), Fault::race, "window");
  expect_right(find(kPair, through_windows(2, 2, false), false));
  expect_right(find(kPair, through_windows(2, 1, true), false));
  // Two slots and a rank that is two rounds ahead: it cannot be, it waits for the other in every round.
  expect_right(find(kPair, through_windows(4, 2, false), false));
}

TEST(Checker, SlotsByTurnNeedAWaitFirst) {
  auto programs = through_windows(1, 1, false);
  programs[0].slices[programs[0].instrs[1].dst].slot.sem = 0;
  expect_fault(find(kPair, programs, false), Fault::bounds, "before the first wait");
  programs[0].slices[programs[0].instrs[1].dst].slot.sem = 1;
  expect_fault(find(kPair, programs, false), Fault::malformed, "does not wait");
}

}  // namespace
}  // namespace umbel::algos::check
