// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Messages from one rank of a node to another: a pipe of bytes in the receiver's arena, one per sender.
//
//   head  payload  head  head  payload …        padded to kMailboxGrain, around and around
//
// A small message lies in the pipe behind its head, so its sender may go on at once; a large one goes through in
// pieces, or, where ranks can read each other's memory, stays where it is: the receiver fetches it and says so.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "net/ucx/message.hpp"

namespace umbel::runtime {

inline constexpr std::size_t kMailboxGrain = 32;

/// Counts since the communicator began; all zeroes is an empty mailbox. What one side wrote before it stored a count
/// (release) is seen by the other that loads it (acquire).
struct Mailbox {
  alignas(64) std::atomic<std::uint64_t> written{0};  ///< by the sender: bytes that it has put in
  std::uint64_t offered = 0;                          ///< the sender's own: messages that are to be fetched
  alignas(64) std::atomic<std::uint64_t> read{0};     ///< by the receiver: bytes that it has taken out
  std::atomic<std::uint64_t> fetched{0};              ///< by the receiver: messages that it has fetched

  std::byte* pipe() { return reinterpret_cast<std::byte*>(this + 1); }

  /// Of the pipe. A rank's mailboxes together take some 256 KiB, or where the communicator has more ranks than that
  /// divides well among, 640 bytes for each.
  static constexpr std::size_t capacity(std::size_t ranks) {
    constexpr std::size_t kTogether = 256U << 10U;
    constexpr std::size_t kLeast = 512;
    constexpr std::size_t kMost = 32U << 10U;
    const std::size_t even = std::bit_floor(kTogether / ranks);
    return even < kLeast ? kLeast : even > kMost ? kMost : even;
  }
};
static_assert(sizeof(Mailbox) == 128);

/// In front of each message.
struct MailHead {
  net::CallSummary summary;
  std::uint64_t address = 0;  ///< of the payload in the sender's memory; 0: it follows
};
static_assert(sizeof(MailHead) == kMailboxGrain);

/// How far one message has come.
struct Passage {
  bool begun = false;  ///< its head is in the pipe, or out of it
  MailHead head{};
  std::size_t moved = 0;  ///< bytes of its payload
};

enum class Passed : std::uint8_t {
  nothing,
  some,
  all,
  mismatch,  ///< the head is another one than was expected; `Passage::head` is what came
};

/// Puts a bounded piece of a message into the pipe. `all`: the message is in it, or offered there; an offered one has
/// arrived when `fetched` has come to `offered`.
/// @param readable  the receiver can read this rank's memory
Passed put_some(Mailbox& box, std::size_t capacity, const net::CallSummary& summary, const std::byte* data,
                std::size_t bytes, bool readable, Passage& passage);

/// Reads the sender's memory.
using ReadSender = std::function<void(std::uint64_t address, std::byte* into, std::size_t bytes)>;

/// Takes a bounded piece of the next message out. @throws what `read_sender` throws
Passed take_some(Mailbox& box, std::size_t capacity, const net::CallSummary& expected, std::byte* data,
                 std::size_t bytes, const ReadSender& read_sender, Passage& passage);

}  // namespace umbel::runtime
