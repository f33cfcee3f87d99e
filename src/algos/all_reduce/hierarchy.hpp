// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// What the hierarchical algorithms share: inside each node a reduce-scatter before, and an all-gather after, the
// exchange between nodes.
//
// The data is cut in `shards` shards, as many as the smallest node has ranks. In every node each shard has an owner; a
// shard's owners exchange over the network, all shards at the same time, so every rank drives a share of the node's
// link. On a node with more ranks than shards the ranks left over own nothing: they contribute and receive.
//
// Lanes, which meet by semaphores only and so overlap, unit by unit (a unit is what moves at a time: a chunk of a
// block, or a piece's run of blocks):
//   show     copies the input's units of the others' shards into window slots, one stream per owner
//   fold     an owner folds its node's operands of a unit into its output: the unit is `partial`
//            (… the exchange takes partial units and raises `done` for finished ones …)
//   publish  an owner shows a finished unit to its node-mates in a window slot
//   gather   everybody copies the others' finished units into its output
// With `direct` there are no slots: owners fold their mates' inputs in place and mates copy from the owners' outputs;
// ranks start when all mates of the node have `entered`, and an owner ends when all have `left`.
// A node with one rank has none of these lanes; the exchange then takes the input.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "algos/algorithm.hpp"
#include "algos/builder.hpp"
#include "algos/stream.hpp"

namespace umbel::algos::all_reduce {

class Hierarchy {
 public:
  /// Semaphore kinds 0 … kKinds−1 are its own; exchanges between nodes need none.
  static constexpr int kKinds = 6;
  /// The elements of a shard's current unit.
  using Unit = std::function<Range(int shard)>;

  /// @param unit_blocks  blocks that a unit spans
  Hierarchy(Builder& builder, const Spec& spec, int unit_blocks);

  static int shards(const Shape& shape) { return shape.smallest_node(); }

  /// The shard that this rank owns; −1: none.
  int shard() const { return shard_; }
  bool owns() const { return shard_ >= 0; }
  bool alone() const { return mates_.empty(); }
  /// Where an exchange finds its operands.
  Buffer own() const { return alone() ? Buffer::input : Buffer::output; }
  /// A flag for partial or finished units; none where they are not signalled.
  Flag make_flag() { return alone() || !owns() ? Flag{} : b_.flag(); }

  /// The next unit of every shard: shown by this rank, and folded if it is its own; then `partial`.
  void contribute(const Unit& unit, Raise partial);
  /// The next finished unit of every shard: published, when `done`, if it is its own; and gathered.
  void distribute(const Unit& unit, Wait done);
  /// To be called last.
  void finish();

 private:
  void open_streams();

  Builder& b_;
  bool direct_;
  int depth_;
  int shards_, shard_;
  std::vector<Rank> mates_;         // ascending, without this rank
  std::vector<Rank> other_owners_;  // of the node, without this rank
  LaneRef show_, fold_, publish_, gather_;
  int region_ = -1;
  std::vector<Outbox> shown_;         // by other owner
  std::vector<Inbox> contributions_;  // by mate
  std::optional<Fanout> published_;
  std::vector<Inbox> results_;  // by other owner
};

/// Seconds that the phases inside a node take for `bytes` of the whole buffer, in `units` units.
double inner_cost(const CostQuery& query, double bytes, double units);

}  // namespace umbel::algos::all_reduce
