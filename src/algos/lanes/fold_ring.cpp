// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/lanes/fold_ring.hpp"

#include <algorithm>

#include "algos/order.hpp"

namespace umbel::algos {

FoldRing::FoldRing(Builder& builder, const FoldRingSetup& setup)
    : b_(builder),
      setup_(setup),
      here_(static_cast<int>(std::ranges::find(setup.members, builder.rank()) - setup.members.begin())),
      memory_(builder.memory_lane()),
      send_(builder.net_lane()),
      recv_(builder.net_lane()),
      first_(builder, memory_, send_, place(here_ + 1)),
      out_(builder, memory_, send_, place(here_ + 1)),
      in_(builder, memory_, recv_, place(here_ - 1)) {}

Rank FoldRing::member(int at) const { return setup_.members[static_cast<std::size_t>(modulo(at, count()))]; }

StreamPlace FoldRing::place(int at) const {
  // Slots of a stream: as many as a rank's messages under way, and one to fold into.
  const int depth = setup_.parts + 1;
  return {.peer = member(at),
          .kind = setup_.kind,
          .region = setup_.region,
          .out_slot = setup_.slot,
          .in_slot = setup_.slot + depth,
          .depth = depth,
          .channel = setup_.channel};
}

/// Whether the own operand comes before the partial sum that is received in step `s`: of members here−1−s to here−1.
bool FoldRing::own_first(int s) const {
  for (int back = 1; back <= s + 1; ++back)
    if (member(here_ - back) < b_.rank()) return false;
  return true;
}

void FoldRing::write(Counter k, const Last& last) {
  const int p = count();
  steps(-1, 1, k, [&](const Range& range) { first_.push(b_.input(range), range, setup_.left); });
  // Steps that fold in the same order are one loop.
  for (int from = 0, to = 0; from < p - 2; from = to) {
    for (to = from + 1; to < p - 2 && own_first(to) == own_first(from);) ++to;
    steps(from, to - from, k, [&](const Range& range) {
      out_.produce(range, [&](const Slice& slot) { fold(range, slot, own_first(from), false); });
    });
  }
  steps(p - 2, 1, k, [&](const Range& range) {
    last(range, [&](const Slice& into) { fold(range, into, own_first(p - 2), true); });
  });
}

/// Steps in which chunk `k` of the share of member here−2−s is worked on.
void FoldRing::steps(int first, int count, Counter k, const std::function<void(const Range&)>& work) {
  const int p = this->count();
  const int forward = setup_.backwards ? -1 : 1;  // along the numbering of blocks
  const int place = setup_.backwards ? p - 1 - here_ : here_;
  b_.repeat(count, [&](Counter t) {
    for (int part = 0; part < setup_.parts; ++part) {
      const int base = (place - forward * (first + 2)) * setup_.share + setup_.first_part + part;
      work(Range{.block = cyclic(t, -forward * setup_.share, base, p * setup_.share), .chunk = counted(k)});
    }
  });
}

void FoldRing::fold(const Range& range, const Slice& into, bool own_first, bool final) {
  const Slice partial = in_.front(range), own = b_.input(range);
  const Slice operands[2] = {own_first ? own : partial, own_first ? partial : own};
  b_.reduce(memory_, into, operands, final);
  in_.pop();
}

std::vector<Schedule::Task> fold_around(Schedule& s, LaneOf& memory, const FoldRingShape& ring, double bytes) {
  const CostTerms& t = s.terms();
  const bool near = ring.one_node;
  std::vector<Schedule::Task> there(static_cast<std::size_t>(ring.parts));
  for (Schedule::Task& part : there)
    part = near ? memory.move(s, 0, t.copy(bytes), bytes, 1).end : s.send(0, 0, bytes, memory.last());
  Schedule::Task before = Schedule::kNone;  // the fold before this one
  for (int step = 0; step < ring.members - 1; ++step) {
    const bool last = step + 1 == ring.members - 1;
    const int flags = last && !ring.hands_on ? 1 : 2;
    for (Schedule::Task& part : there) {
      const auto folded = memory.move(s, 0, t.fold(bytes) + (near ? t.read(bytes) : 0), 2 * bytes, near ? flags : 0);
      s.after(folded.begin, part, near ? t.flight() : 0);
      // What it is folded into is one of `parts` + 1 slots, which the next member has read by then.
      if (near && !last) s.after(folded.begin, before, t.flight() - t.raise());
      before = folded.end;
      part = near || last ? folded.end : s.send(0, 0, bytes, folded.end);
    }
  }
  return there;
}

}  // namespace umbel::algos
