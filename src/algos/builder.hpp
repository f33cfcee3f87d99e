// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// What algorithms write programs with. Lanes are written side by side: a loop opens on all of them at once, so an
// algorithm reads like one thread's code although its parts land on different lanes; a lane with nothing in a loop
// does not get the loop.
//
// Semaphores between ranks are numbered by convention, so that a builder needs to look at no other rank's program:
// number = kind · (ranks of the node) + (signaller's index in its node). Semaphores between a rank's own lanes come
// after this table. Entries of the table that an algorithm leaves unused name their own rank and are never signalled.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "base/program.hpp"
#include "base/shape.hpp"

namespace umbel::algos {

struct LaneRef {
  int index = -1;
  explicit operator bool() const { return index >= 0; }
};

/// A semaphore of this rank, for its waiting lane.
struct Wait {
  int sem = -1;
  explicit operator bool() const { return sem >= 0; }
};

/// A semaphore somewhere on this node, for its signalling lane or transfer.
struct Raise {
  int signal = -1;
  explicit operator bool() const { return signal >= 0; }
};

/// A semaphore between two lanes of this rank.
struct Flag {
  Wait wait;
  Raise raise;
  explicit operator bool() const { return static_cast<bool>(wait); }
};

/// The counter of an open loop.
struct Counter {
  int level = 0;
};

inline Index fixed(int value) { return {.base = value}; }
/// base + coef · counter
Index counted(Counter counter, int coef = 1, int base = 0);
/// ((base + coef · counter) mod modulus) + offset
Index cyclic(Counter counter, int coef, int base, int modulus, int offset = 0);

/// Which elements: run of `blocks` blocks from `block`, in a piece, one chunk of it.
struct Range {
  Index block{};
  int blocks = 1;
  Index chunk{};
  Index piece{};
  Buffer lengths = Buffer::input;  ///< of a window slice: whose shares it is as long as (Slice::lengths)
};

/// The shares of `ranks`, a block each, in runs of consecutive ranks.
std::vector<Range> runs_of(std::vector<Rank> ranks);

/// Shares of several ranks that travel as one (Slice::bundle), as this rank's program names them.
struct BundleRef {
  int begin = 0;
  int items = 0;
};

/// What of a bundle's shares from number `item` on lies in one of its chunks.
struct BundlePart {
  BundleRef bundle{};
  int item = 0;
  int items = 1;
  Counter chunk{};
};

/// What is called and how its data is cut; equal on all ranks.
struct Cutting {
  Collective collective = Collective::all_reduce;
  Rank root = 0;
  int blocks = 1;  ///< of a piece; of a ranked collective, of a share
  int chunk_blocks = 1;
  bool pieces = false;
  bool chunks = false;
  std::vector<Rank> order{};  ///< ranked: whose share comes at each place of the numbering of blocks; empty: the ranks'
};

/// Where the partial results of a fold as a tree lie; no slots: folded left to right.
struct FoldSlots {
  int region = -1;
  int first = 0;
  explicit operator bool() const { return region >= 0; }
};
/// Slots for a fold of `operands`; none when left to right is the same tree.
int fold_slots(int operands);

class Builder {
 public:
  /// @param kinds  kinds of semaphores between ranks of a node
  Builder(Rank rank, const Shape& shape, Cutting cutting, int kinds);

  Rank rank() const { return program_.rank; }
  const Shape& shape() const { return shape_; }

  LaneRef memory_lane() { return lane(LaneKind::memory); }
  LaneRef net_lane() { return lane(LaneKind::net); }
  /// The same on all ranks: regions are numbered in the order of the calls.
  int region(int slots, int blocks = 1, bool image = false);

  /// Slots for folds of at most `operands` as a tree, if that is wanted and makes a difference.
  FoldSlots fold_region(bool wanted, int operands, int blocks = 1);

  /// The semaphore of `kind` on which this rank hears the node-mate `signaller`.
  Wait hear(int kind, Rank signaller, int initial = 0);
  /// The semaphore of `kind` on which the node-mate `listener` hears this rank.
  Raise tell(int kind, Rank listener);
  /// A new semaphore between two of this rank's lanes.
  Flag flag(int initial = 0);

  template <class Body>
  void repeat(int times, Body&& body) {
    if (times > 0) loop(Trip::constant, times, body);
  }
  template <class Body>
  void each_piece(Body&& body) {
    loop(Trip::pieces, 1, body);
  }
  template <class Body>
  void each_chunk(Body&& body) {
    loop(Trip::chunks, 1, body);
  }
  /// For each chunk that `range` has in the shares of `lengths`, by whatever its length is (Trip::slice).
  template <class Body>
  void each_chunk_of(const Range& range, Buffer lengths, Body&& body) {
    const Counter counter = open(Trip::slice, 1, add(slice(lengths, rank(), range)));
    body(counter);
    close();
  }

  Slice input(const Range& range) const { return input(range, rank()); }
  Slice input(const Range& range, Rank of) const { return slice(Buffer::input, of, range); }
  Slice output(const Range& range) const { return output(range, rank()); }
  Slice output(const Range& range, Rank of) const { return slice(Buffer::output, of, range); }
  Slice window(const Range& range, Rank of, int region, SlotRef slot) const;

  /// A bundle of `items`. @pre the collective is cut in one block a share, and in chunks
  BundleRef bundle(const std::vector<BundleItem>& items);
  /// For each chunk of a bundle.
  template <class Body>
  void each_chunk_of(BundleRef bundle, Body&& body) {
    Slice all = slice(Buffer::window, rank(), {});
    all.bundle = bundle.begin;
    all.items = bundle.items;
    const Counter counter = open(Trip::slice, 1, add(all));
    body(counter);
    close();
  }
  /// A part of one share, in the place of `share` of this rank's buffer.
  Slice bundled(const BundlePart& part, Buffer buffer, Rank share) const;
  /// A part in a slot, which holds the whole chunk.
  Slice bundled(const BundlePart& part, Rank of, int region, SlotRef slot) const;

  void copy(LaneRef lane, const Slice& dst, const Slice& src);
  void reduce(LaneRef lane, const Slice& dst, std::span<const Slice> sources, bool final = false);
  void reduce(LaneRef lane, const Slice& dst, std::initializer_list<Slice> sources, bool final = false) {
    reduce(lane, dst, std::span<const Slice>(sources.begin(), sources.size()), final);
  }
  /// A reduce as a balanced tree whose left parts are powers of two, by way of fold_slots() slots of this rank's window
  /// that only `lane` uses.
  void fold_as_tree(LaneRef lane, const Range& range, const Slice& dst, std::span<const Slice> sources, bool final,
                    const FoldSlots& slots);
  void signal(LaneRef lane, Raise raise);
  void wait(LaneRef lane, Wait wait, int times = 1);
  void send(LaneRef lane, const Slice& src, Rank peer, int channel, Raise then = {});
  void recv(LaneRef lane, const Slice& dst, Rank peer, int channel, Raise then = {});

  Program finish();

 private:
  struct OpenLane {
    LaneKind kind = LaneKind::memory;
    std::vector<Instr> instrs;
    std::vector<std::uint32_t> loops;  // starts of the open loops
  };

  template <class Body>
  void loop(Trip trip, int times, Body&& body) {
    const Counter counter = open(trip, times);
    body(counter);
    close();
  }
  Counter open(Trip trip, int times, std::uint32_t slice = 0);
  void close();
  LaneRef lane(LaneKind kind);
  Slice slice(Buffer buffer, Rank of, const Range& range) const;
  std::uint32_t add(const Slice& slice);
  Slice partial(LaneRef lane, const Range& range, std::span<const Slice> sources, const FoldSlots& slots);
  void emit(LaneRef lane, const Instr& instr);
  int signal_index(SignalTarget target);

  const Shape& shape_;
  Program program_;
  std::vector<OpenLane> lanes_;
  int depth_ = 0;
};

/// What one rank does when it is alone.
Program alone(const Shape& shape, Collective collective = Collective::all_reduce);

}  // namespace umbel::algos
