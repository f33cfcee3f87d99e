// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// What lies in a rank's window, one arena per communicator:
//
//   Header    done counter, failure flag, whose signals are awaited, windows of registered memory, one control line per
//   bank tokens    one per rank: nonzero while that rank may look into this arena mailboxes one per rank: what it sends
//   to the owner outside of collectives pairs     per bank, one per rank: what the owner gives it and takes from it, of
//   calls counted by pairs bank 0    semaphore cells, then slots (`slot_bytes`, what Binding::region_offset counts
//   from) bank 1    …
//
// Operation n (from 1) uses bank n mod kBanks and starts only when every local peer has finished operation n − kBanks.
// The layout is equal on all ranks, so a peer's cell is its window's base plus our own offset.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "kernels/semaphore.hpp"
#include "net/ucx/message.hpp"
#include "runtime/arguments.hpp"
#include "runtime/mailbox.hpp"
#include "runtime/registered.hpp"

namespace umbel::runtime {

inline constexpr int kBanks = 2;
inline constexpr std::size_t kInlineBytes = 256;  ///< of data in a control line
inline constexpr std::size_t kFailureText = 760;

/// What CallSummary::extra holds: the forced algorithm's place in the catalog + 1, 0 for none, and what kind of
/// operator the caller has made.
inline constexpr std::uint8_t kAlgorithmVariant = 0x3f;
inline constexpr std::uint8_t kOrderedVariant = 0x40;  ///< it does not commute
inline constexpr std::uint8_t kScaledVariant = 0x80;   ///< elements are multiplied first

/// One call as its rank published it on entry: the rest of the line, then `seq` (release). Peers read the rest only
/// when `seq` is the number of the call that they are in themselves, which the bank rule keeps in place.
struct alignas(64) ControlLine {
  std::atomic<std::uint64_t> seq{0};
  net::CallSummary summary;
  net::CallSummary previous;            ///< of the call before
  std::byte payload[kInlineBytes + 8];  ///< a short call's data, or UserBuffers
};
static_assert(sizeof(ControlLine) == 320);

/// Where the owner's user buffers are, for local peers that read them.
struct UserBuffers {
  std::uint64_t input = 0;
  std::uint64_t output = 0;
  std::uint32_t input_window = 0;  ///< the one of Header::registered that all of it is in, from 1; 0: in none
  std::uint32_t output_window = 0;
};

enum class FailureKind : std::uint32_t { none, mismatch, timeout, peer, system };

/// Why a communicator failed, as its members tell each other. Plain data.
struct Failure {
  FailureKind kind = FailureKind::none;
  std::int32_t reporter = -1;  ///< the rank that found out
  char text[kFailureText] = {};
};

/// A set of ranks of a communicator, a few bits: may hold others too.
using RankSet = std::uint64_t;
inline constexpr RankSet kAnyRank = ~RankSet{0};
constexpr RankSet set_of(Rank rank) { return RankSet{1} << (static_cast<unsigned>(rank) % 64U); }

/// Written by the first that gets `state` from 0 to 1; readable once it is 2. Any rank of the node may write it.
struct alignas(64) FailureCell {
  std::atomic<std::uint32_t> state{0};
  Failure failure;
};

struct Header {
  std::atomic<std::uint64_t> nonce{0};  ///< of the communicator; stored last (release) when the arena is made
  alignas(64) std::atomic<std::uint64_t> done{0};      ///< the owner's last finished operation
  std::atomic<std::uint32_t> closed{0};                ///< the owner has destroyed the communicator
  alignas(64) std::atomic<std::uint64_t> ping{0};      ///< scratch of the start-up measurement
  alignas(64) std::atomic<RankSet> awaited{kAnyRank};  ///< whose signals may end the owner's sleep
  RegisteredWindows registered;                        ///< that the owner's buffers have been in
  FailureCell failure;
  ControlLine lines[kBanks];
};

/// Sizes of an arena; equal on all ranks.
struct ArenaLayout {
  std::size_t ranks = 1;       ///< of the communicator: tokens, mailboxes, pairs
  std::size_t semaphores = 0;  ///< cells per bank
  std::size_t slot_bytes = 0;  ///< per bank

  /// What a rank shares for a communicator. @param window_bytes UMBEL_WINDOW_BYTES
  static constexpr ArenaLayout of(std::size_t window_bytes, std::size_t ranks) {
    constexpr std::size_t kLeastSlots = 1U << 20U;  // half of the least UMBEL_WINDOW_BYTES; measure() needs most of it
    return {.ranks = ranks,
            .semaphores = std::max<std::size_t>(1024, 64 * ranks),
            .slot_bytes = std::max(kLeastSlots, window_bytes / kBanks)};
  }

  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t up(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }
  constexpr std::size_t cells_bytes() const { return up(semaphores * sizeof(kernels::SemaphoreCell)); }
  constexpr std::size_t bank_bytes() const { return cells_bytes() + up(slot_bytes); }
  static constexpr std::size_t tokens_at() { return up(sizeof(Header)); }
  constexpr std::size_t mailboxes_at() const { return tokens_at() + up(ranks * sizeof(std::uint64_t)); }
  constexpr std::size_t mailbox_capacity() const { return Mailbox::capacity(ranks); }
  constexpr std::size_t mailbox_bytes() const { return sizeof(Mailbox) + mailbox_capacity(); }
  constexpr std::size_t pairs_at() const { return mailboxes_at() + up(ranks * mailbox_bytes()); }
  constexpr std::size_t banks_at() const { return up(pairs_at() + kBanks * ranks * sizeof(PairCounts)); }
  constexpr std::size_t total() const { return banks_at() + kBanks * bank_bytes(); }
};

/// One rank's arena as mapped here.
class Arena {
 public:
  Arena() = default;
  Arena(std::byte* base, const ArenaLayout& layout) : base_(base), layout_(layout) {}

  explicit operator bool() const { return base_ != nullptr; }
  Header& header() const { return *reinterpret_cast<Header*>(base_); }
  std::atomic<std::uint64_t>& token(Rank rank) const {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(base_ + ArenaLayout::tokens_at())[rank];
  }
  /// Of what `sender` sends to the owner.
  Mailbox& mailbox(Rank sender) const {
    return *reinterpret_cast<Mailbox*>(base_ + layout_.mailboxes_at() +
                                       static_cast<std::size_t>(sender) * layout_.mailbox_bytes());
  }
  std::size_t mailbox_capacity() const { return layout_.mailbox_capacity(); }
  ControlLine& line(std::uint64_t seq) const { return header().lines[seq % kBanks]; }
  /// By rank; written before the line, and readable with it.
  PairCounts* pairs(std::uint64_t seq) const {
    return reinterpret_cast<PairCounts*>(base_ + layout_.pairs_at()) + seq % kBanks * layout_.ranks;
  }
  kernels::SemaphoreCell* cells(int bank) const { return reinterpret_cast<kernels::SemaphoreCell*>(bank_base(bank)); }
  std::byte* slots(int bank) const { return bank_base(bank) + layout_.cells_bytes(); }

 private:
  std::byte* bank_base(int bank) const {
    return base_ + layout_.banks_at() + static_cast<std::size_t>(bank) * layout_.bank_bytes();
  }
  std::byte* base_ = nullptr;
  ArenaLayout layout_;
};

}  // namespace umbel::runtime
