// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// One member of a ring around which blocks travel and are folded, one finished at each member: what the ring
// reduce-scatter does, and the first half of `reduce_scatter_gather`. reduce_scatter/ring.cpp tells the idea.
//
// Partial sums lie in window slots, which bound what may be under way: chunks are the outermost loop, and a chunk goes
// all around before the next one starts. A member's share is cut in parts that follow one another, so that one is
// folded while others travel; one slot more than there are parts keeps a full ring moving.
#pragma once

#include <functional>
#include <vector>

#include "algos/builder.hpp"
#include "algos/schedule.hpp"
#include "algos/stream.hpp"

namespace umbel::algos {

struct FoldRingSetup {
  std::vector<Rank> members;  ///< around the ring
  bool backwards = false;     ///< against the numbering of blocks
  int parts = 1;              ///< blocks of each member's share that this ring carries
  int first_part = 0;         ///< of a share
  int share = 1;              ///< blocks of a share; the first member's are the first ones, or, backwards, the last
  int kind = 0;               ///< two kinds of semaphores
  int region = 0;
  int slot = 0;  ///< first of fold_ring_slots()
  int channel = 0;
  Raise left{};  ///< optional: raised when a part of the own operand that goes out first has been read
};

constexpr int fold_ring_slots(int parts) { return 2 * (parts + 1); }

class FoldRing {
 public:
  using Fold = std::function<void(const Slice& into)>;
  using Last = std::function<void(const Range& range, const Fold& fold)>;

  FoldRing(Builder& builder, const FoldRingSetup& setup);

  LaneRef memory() const { return memory_; }
  bool sends_afar() const { return !first_.local(); }

  /// Folds chunk `k`. `last` is given each part of the own share, and the last fold of it to put somewhere.
  void write(Counter k, const Last& last);

 private:
  int count() const { return static_cast<int>(setup_.members.size()); }
  Rank member(int at) const;
  StreamPlace place(int at) const;
  bool own_first(int step) const;
  void steps(int first, int count, Counter k, const std::function<void(const Range&)>& work);
  void fold(const Range& range, const Slice& into, bool own_first, bool final);

  Builder& b_;
  FoldRingSetup setup_;
  int here_;
  LaneRef memory_, send_, recv_;
  Outbox first_, out_;  // the same stream: what is sent from the input, and from slots
  Inbox in_;
};

/// A ring as its cost sees it. Either all members share a node, or none shares one.
struct FoldRingShape {
  int members = 2;
  int parts = 1;
  bool one_node = true;
  bool hands_on = false;  ///< the own share, once folded, is shown to somebody
};

/// Adds a member's tasks for a chunk of every part, of `bytes` each, all around the ring. Every member does the same at
/// the same time, and rank 0 stands for all: what it shows is what it is shown. @return the last fold of each part
std::vector<Schedule::Task> fold_around(Schedule& schedule, LaneOf& memory, const FoldRingShape& ring, double bytes);

}  // namespace umbel::algos
