// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Recursive doubling among a list of members, piece by piece: what `recursive_doubling` does with all ranks and
// `hierarchical_leader` with one rank a node.
#pragma once

#include <span>
#include <vector>

#include "algos/builder.hpp"
#include "algos/canonical.hpp"
#include "algos/stream.hpp"

namespace umbel::algos::all_reduce {

/// A member's part in an exchange among 2^rounds active members and those left over. The first 2·extra members go in
/// pairs: the even one is active and stands for both.
struct PairedRole {
  int rounds = 0;
  int number = -1;  ///< among the active ones; −1: not active
  int pair = -1;    ///< index of the other one of the pair; −1: none
  bool active() const { return number >= 0; }

  static PairedRole of(int index, int members);
  /// Index of active member `number`.
  static int member(int number, int members);
};

/// One of the values that a member's operand is the fold of.
struct Operand {
  Rank lowest = 0;  ///< of the ranks that it stands for
  Slice slice{};
};

struct DoublingSetup {
  std::vector<Rank> members;  ///< in the order of the lowest rank that each stands for
  int here = 0;
  int kind = 0;    ///< one kind of semaphores
  int region = 0;  ///< of pieces
  int slot = 0;    ///< first of doubling_slots()
  int depth = 1;
  int channel = 0;
  bool goes_on = false;  ///< the memory lane uses the output after the exchange, and so waits for it
};

int doubling_slots(int members, int depth);

/// Messages of an active member, and elements that it sends, ÷ n; the busiest has one of a pair.
struct DoublingTraffic {
  int steps = 0;
  int sent = 0;
};
DoublingTraffic doubling_traffic(int members);
/// Messages that member `index` sends.
int doubling_sent(int index, int members);

/// What comes of the members' operands, each a list that its member folds; in the order of `members`.
Span doubling_span(const std::vector<std::vector<Span>>& members);
/// The same for one operand each.
Span doubling_span(const std::vector<Span>& members);
/// Whether some two ranks that differ in `bit` of their number, and exchange in that round, are on different nodes.
bool round_leaves_nodes(const Shape& shape, int bit);
/// Whether the two ranks of every pair are on one node.
bool pairs_share_nodes(const Shape& shape);

/// Writes one member's lanes. exchange() is to be called once, in a loop over pieces.
class Doubling {
 public:
  Doubling(Builder& builder, LaneRef memory, const DoublingSetup& setup);

  /// Reduces the members' operands into the output. The own operand is the fold of `own`, in order, and is free to be
  /// overwritten by the output once it has been read here.
  void exchange(Counter piece, std::span<const Operand> own);

 private:
  void exchange_passive(const Range& piece, std::span<const Operand> own);
  void exchange_active(Counter i, const Range& piece, std::span<const Operand> own);
  Rank rank_of(int index) const { return setup_.members[static_cast<std::size_t>(index)]; }
  bool local(int index) const { return b_.shape().same_node(b_.rank(), rank_of(index)); }
  Slice slot(int row, Rank of, const Range& piece, Counter i) const;
  int partner(int round) const;
  /// Shows a slot to a partner: a flag, or a message.
  void show(int index, const Slice& slot);
  /// What the partner shows in `row`.
  Slice see(int index, int row, const Range& piece, Counter i);
  void seen(int index);
  void fold(const Slice& dst, std::span<const Slice> operands);

  Builder& b_;
  DoublingSetup setup_;
  PairedRole role_;
  LaneRef memory_, send_, recv_;
  int remote_rounds_ = 0;
  Flag ready_{};
  Flag sent_{};
  Flag landed_{};
  Pool pool_{};
};

}  // namespace umbel::algos::all_reduce
