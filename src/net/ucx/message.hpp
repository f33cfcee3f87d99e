// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// What stands in front of every message between nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/collective.hpp"
#include "base/types.hpp"

namespace umbel::net {

/// What a summary names that is no collective: a message from one rank to another.
inline constexpr auto kSendRecv = static_cast<Collective>(0xff);

/// The arguments of a call that must be equal on all ranks: its fingerprint, small enough to travel whole, so that a
/// receiver can say *which* argument differs without asking. In-place is left out on purpose: it may differ per rank.
struct CallSummary {
  /// Elements; where each pair of ranks agrees on a count of its own, 0, or of a message's pair or bundle.
  std::uint64_t count = 0;
  std::int16_t root = -1;  ///< −1 where there is none
  std::uint16_t plan = 0;  ///< a hash of how it is done: ranks that have planned differently must not go on
  Collective collective = Collective::all_reduce;  ///< or kSendRecv
  DType dtype = DType::int8;
  RedOp op = RedOp::sum;
  std::uint8_t extra = 0;  ///< free for the caller (say, an agreed choice); compared like the rest
  /// A hash of the table of counts, where all ranks give the same one, or of those of a message's bundle; else 0.
  std::uint32_t counts = 0;
  std::uint32_t earlier =
      0;  ///< a hash of all calls before: a difference that nobody noticed is noticed one call later

  bool operator==(const CallSummary&) const = default;
};
static_assert(sizeof(CallSummary) == 24);

/// The same call but for what only a pair of ranks, or of nodes, agrees on.
inline bool same_call(CallSummary a, const CallSummary& b) noexcept {
  if (counted_by_pairs(a.collective)) a.count = b.count, a.counts = b.counts;
  return a == b;
}

/// `all_reduce of 1024 × fp32, sum`.
std::string to_text(const CallSummary& summary);

/// What makes a message find its receive. Unique among the messages that are under way at a time; should two be equal
/// nevertheless, they match in the order in which they were posted and arrive.
struct MessageKey {
  std::int32_t source = -1;    ///< the sender's peer number in the transport (its rank in the communicator)
  std::uint64_t sequence = 0;  ///< of the operation
  std::int32_t channel = 0;
  std::uint32_t index = 0;  ///< of the message in its channel

  bool operator==(const MessageKey&) const = default;
};
static_assert(sizeof(MessageKey) == 24);

/// On the wire, in the sender's byte order (one job runs on one kind of machine; the configuration hash includes it).
/// The length is not in it: UCX delivers the length that was sent.
struct MessageHeader {
  std::uint64_t nonce = 0;  ///< of the communicator
  MessageKey key;
  CallSummary summary;
};
static_assert(sizeof(MessageHeader) == 56);

/// A message met its receive but does not belong to the same call.
struct Mismatch {
  MessageKey key;
  CallSummary expected;  ///< this rank's call
  CallSummary found;     ///< the call of rank `key.source`
  std::uint64_t expected_bytes = 0;
  std::uint64_t found_bytes = 0;

  /// The summaries are equal and only the lengths differ: a defect of Umbel or differing configurations, not the
  /// user's.
  bool only_length() const noexcept { return expected == found; }
};

/// Names both ranks' values and what differs.
std::string to_text(const Mismatch& mismatch);

}  // namespace umbel::net
