// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Recursive halving and doubling among a list of members, piece by piece: what `halving_doubling` does with all ranks
// and `hierarchical_hd` with the owners of a shard.
#pragma once

#include <vector>

#include "algos/all_reduce/doubling.hpp"

namespace umbel::algos::all_reduce {

struct HalvingSetup {
  std::vector<Rank> members;  ///< in the order of the lowest rank that each stands for
  int here = 0;
  int first_block = 0;         ///< the members reduce halving_blocks() blocks from here
  Buffer own = Buffer::input;  ///< where the own operand lies
  int kind = 0;                ///< one kind of semaphores
  int arrivals = 0;            ///< region: `depth` slots of all the blocks, for what arrives over a net
  int first_arrival = 0;       ///< the first of these slots
  int images = -1;  ///< region: kHalvingImages slots laid out like a piece; −1 when no two members share a node
  int depth = 1;
  int channel = 0;
  Wait partial{};  ///< optional: signalled when a piece of the own operand is there
  Raise done{};    ///< optional: to raise when a piece of the result is in the output
};

inline constexpr int kHalvingImages = 3;
/// Blocks that `members` members cut their data in: the largest power of two.
int halving_blocks(int members);
/// Blocks of an arrival slot.
int halving_arrival_blocks(int members);

/// Writes one member's lanes. exchange() is to be called once, in a loop over pieces.
class Halving {
 public:
  Halving(Builder& builder, const HalvingSetup& setup);
  void exchange(Counter piece);

 private:
  /// A round of the reduce-scatter: what is given to the partner, and what is kept and folded.
  struct Round {
    int partner = 0;
    int give = 0, keep = 0;  // first blocks
    int blocks = 0;          // of each
    bool lower = false;      // the own operand comes first
  };

  void exchange_passive(Counter i);
  void reduce_scatter(Counter i, Buffer own);
  void all_gather(Counter i);
  Range range(int first, int blocks, Counter i) const;
  Range everything(Counter i) const { return range(setup_.first_block, blocks_, i); }
  Slice at(Buffer buffer, const Range& range) const {
    return buffer == Buffer::input ? b_.input(range) : b_.output(range);
  }
  Slice image(int slot, const Range& range, Rank of) const {
    return b_.window(range, of, setup_.images, {.base = slot});
  }
  Rank rank_of(int index) const { return setup_.members[static_cast<std::size_t>(index)]; }
  bool local(int index) const { return b_.shape().same_node(b_.rank(), rank_of(index)); }
  /// Shows or sends `src` to a member; a node-mate reads it from image slot `slot`.
  void give(int index, const Slice& src, const Range& range, int slot, Raise sent);
  Slice see(int index, const Range& range, int slot);
  void seen(int index);

  Builder& b_;
  HalvingSetup setup_;
  PairedRole role_;
  int blocks_;
  LaneRef memory_, send_, recv_;
  std::vector<Round> rounds_;
  int remote_rounds_ = 0;
  Flag ready_{}, sent_{}, landed_{};
  Pool pool_{};
};

}  // namespace umbel::algos::all_reduce
