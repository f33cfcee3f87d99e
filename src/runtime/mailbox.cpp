// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/mailbox.hpp"

#include <algorithm>
#include <cstring>

namespace umbel::runtime {
namespace {

/// Larger messages are fetched, where that can be: a system call costs about as much as a second copy of this.
constexpr std::size_t kLargestCopied = 8U << 10U;
constexpr std::size_t kFetchedAtOnce = 1U << 20U;

constexpr std::size_t padded(std::size_t bytes) { return (bytes + kMailboxGrain - 1) / kMailboxGrain * kMailboxGrain; }

/// What of `left` bytes is worth moving through `room` bytes of the pipe: all, or else no less than a quarter of it, so
/// that the two sides do not pass crumbs to each other. One side always has half.
std::size_t piece(std::size_t left, std::size_t room, std::size_t capacity) {
  if (left <= room) return left;
  return room >= capacity / 4 ? room : 0;
}

void copy_in(Mailbox& box, std::size_t capacity, std::uint64_t at, const std::byte* data, std::size_t bytes) {
  if (bytes == 0) return;
  const std::size_t place = at % capacity;
  const std::size_t first = std::min(bytes, capacity - place);
  std::memcpy(box.pipe() + place, data, first);
  if (first != bytes) std::memcpy(box.pipe(), data + first, bytes - first);
}

void copy_out(Mailbox& box, std::size_t capacity, std::uint64_t at, std::byte* data, std::size_t bytes) {
  if (bytes == 0) return;
  const std::size_t place = at % capacity;
  const std::size_t first = std::min(bytes, capacity - place);
  std::memcpy(data, box.pipe() + place, first);
  if (first != bytes) std::memcpy(data + first, box.pipe(), bytes - first);
}

}  // namespace

Passed put_some(Mailbox& box, std::size_t capacity, const net::CallSummary& summary, const std::byte* data,
                std::size_t bytes, bool readable, Passage& passage) {
  const std::uint64_t before = box.written.load(std::memory_order_relaxed);
  std::uint64_t at = before;
  const std::uint64_t end = box.read.load(std::memory_order_acquire) + capacity;
  if (!passage.begun) {
    if (end - at < kMailboxGrain) return Passed::nothing;
    const bool offer = readable && bytes > std::min(kLargestCopied, capacity / 2);
    passage.head = {.summary = summary, .address = offer ? reinterpret_cast<std::uint64_t>(data) : 0};
    passage.begun = true;
    if (offer) ++box.offered;
    std::memcpy(box.pipe() + at % capacity, &passage.head, sizeof(MailHead));
    at += kMailboxGrain;
  }
  const bool offered = passage.head.address != 0;
  if (!offered) {
    const std::size_t now = piece(bytes - passage.moved, end - at, capacity);
    copy_in(box, capacity, at, data + passage.moved, now);
    passage.moved += now;
    at += padded(now);
  }
  if (at != before) box.written.store(at, std::memory_order_release);
  if (offered || passage.moved == bytes) return Passed::all;
  return at != before ? Passed::some : Passed::nothing;
}

Passed take_some(Mailbox& box, std::size_t capacity, const net::CallSummary& expected, std::byte* data,
                 std::size_t bytes, const ReadSender& read_sender, Passage& passage) {
  const std::uint64_t before = box.read.load(std::memory_order_relaxed);
  std::uint64_t at = before;
  const std::uint64_t end = box.written.load(std::memory_order_acquire);
  if (!passage.begun) {
    if (end == at) return Passed::nothing;
    std::memcpy(&passage.head, box.pipe() + at % capacity, sizeof(MailHead));
    passage.begun = true;
    at += kMailboxGrain;
    if (passage.head.summary != expected) return Passed::mismatch;
  }
  const bool offered = passage.head.address != 0;
  const std::size_t left = bytes - passage.moved;
  const std::size_t now = offered ? std::min(left, kFetchedAtOnce) : piece(left, end - at, capacity);
  if (offered) {
    read_sender(passage.head.address + passage.moved, data + passage.moved, now);
  } else {
    copy_out(box, capacity, at, data + passage.moved, now);
    at += padded(now);
  }
  passage.moved += now;
  if (at != before) box.read.store(at, std::memory_order_release);
  if (passage.moved != bytes) return now != 0 || at != before ? Passed::some : Passed::nothing;
  if (offered) box.fetched.store(box.fetched.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  return Passed::all;
}

}  // namespace umbel::runtime
