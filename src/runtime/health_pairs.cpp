// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Calls that are counted by pairs: does a giver's count agree with the taker's? Nobody but the two knows, so each
// difference shows in another way:
//   a message of another length, or one that nobody expects   to its receiver, at once, or in its next call
//   a bundle whose counts are not those of its receiver       likewise: messages carry a hash of all its counts
//   a giver or taker in the same node                         to whoever of the two ends later (compare_at_end)
//   a message or slot that never comes                        to whoever waits for it, in the stall protocol
#include <algorithm>

#include <fmt/format.h>

#include "runtime/health.hpp"

namespace umbel::runtime {

std::string Health::pair_text(std::uint64_t seq, const net::CallSummary& call, Rank giver, Rank taker,
                              PairCounts of) const {
  return fmt::format("operation {} ({}): {} sends {} elements to {}, which expects {}", seq, call_text(call),
                     members_.name(giver), of.gives, members_.name(taker), of.takes);
}

void Health::fail_pair(Rank giver, Rank taker, PairCounts of) {
  fail(FailureKind::mismatch, pair_text(seq_, summary_, giver, taker, of));
}

std::string Health::bundle_text(std::uint64_t seq, const net::CallSummary& call, Rank sender, PairCounts of) const {
  net::CallSummary plain = call;
  plain.counts = 0;  // of no use to the reader
  return fmt::format(
      "operation {} ({}): a giver and a taker have different counts: {} sends {} elements for its node to {}, which "
      "expects {} or other shares",
      seq, call_text(plain), members_.name(sender), of.gives, members_.name(members_.me), of.takes);
}

void Health::fail_bundle(Rank sender, PairCounts of) {
  fail(FailureKind::mismatch, bundle_text(seq_, summary_, sender, of));
}

/// Whether this rank has told its counts of this call: not while it waits for its bank.
bool Health::pairs_published() const {
  return counted_by_pairs(summary_.collective) && members_.own().line(seq_).seq.load(std::memory_order_relaxed) == seq_;
}

void Health::compare_pair(Rank peer, PairCounts theirs) {
  const PairCounts mine = members_.own().pairs(seq_)[peer];
  if (theirs.gives != mine.takes) fail_pair(peer, members_.me, {.gives = theirs.gives, .takes = mine.takes});
  if (theirs.takes != mine.gives) fail_pair(members_.me, peer, {.gives = mine.gives, .takes = theirs.takes});
}

void Health::compare_at_end() {
  for (Rank rank : members_.shape.peers_of(members_.me)) {
    const Arena& arena = members_.at(rank).arena;
    const ControlLine& line = arena.line(seq_);
    if (rank == members_.me || line.seq.load(std::memory_order_acquire) != seq_) continue;
    if (line.summary == summary_) {
      compare_pair(rank, arena.pairs(seq_)[members_.me]);
    } else {
      note_mismatch(rank, line.summary);
      mismatch();
    }
  }
}

/// A rank that has finished has sent all that it gives, and its connection keeps the order: what has not come a while
/// after that was heard will not come.
void Health::look_at_pairs() {
  constexpr int kLongEnough = 10;  // looks
  for (const RankState& state : states_) {
    if (!state.known || state.rank == members_.me) continue;
    if (state.entered) {
      compare_pair(state.rank, state.pair);
    } else if (state.done >= seq_ && !members_.local(state.rank) && members_.transport->awaits(state.rank) &&
               ++ended_looks_[static_cast<std::size_t>(state.rank)] >= kLongEnough) {
      const PairCounts mine = members_.own().pairs(seq_)[state.rank];
      fail(FailureKind::mismatch,
           fmt::format("operation {} ({}): {} has finished it, but {} still has {} elements to send to it or {} to get "
                       "from it: their counts differ",
                       seq_, call_text(summary_), members_.name(state.rank), members_.name(members_.me), mine.gives,
                       mine.takes));
    }
  }
}

}  // namespace umbel::runtime
