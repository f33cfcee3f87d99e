// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/communicator.hpp"
#include "runtime/executor.hpp"
#include "runtime/health.hpp"
#include "runtime/mailbox.hpp"
#include "runtime/members.hpp"
#include "runtime/waiter.hpp"

namespace umbel::runtime {

/// Messages that were started together.
struct Exchange {
  std::vector<Message> messages;         ///< by stream, see PointToPoint
  std::vector<net::RequestId> requests;  ///< of those that go by the transport
  std::size_t streams = 0;               ///< that are not through
  bool done = false;                     ///< all are, and what was sent has left
};
using ExchangeRef = std::shared_ptr<Exchange>;

/// Sends and receives of a rank that go on together, in steps: through mailboxes to and from node-mates, through the
/// transport to and from others. Never waits. Not thread-safe.
///
/// An exchange's messages to one rank are a stream, those from it another. Within a stream, and between the streams of
/// one rank and direction in several exchanges, they go one after another, as both sides have them, so that nothing but
/// their order need say which is which: no operation is numbered here.
class PointToPoint {
 public:
  using Round = Executor::Round;

  /// @param direct  node-mates can read each other's memory
  PointToPoint(Members& members, Health& health, Waiter& waiter, bool direct);
  PointToPoint(const PointToPoint&) = delete;
  PointToPoint& operator=(const PointToPoint&) = delete;
  ~PointToPoint() { abandon(); }

  /// @throws InvalidArgument
  void check(const Message& message) const;
  /// Of messages that are to be started together: those of this rank to itself must meet. @throws InvalidArgument
  void check_group(std::span<const Message> messages) const;

  /// @pre both checks. @throws what fails the communicator
  ExchangeRef start(std::span<const Message> messages);
  /// One round over all that was started; `idle` also when nothing is under way. @throws what fails the communicator
  Round advance();
  /// In a wait in which nothing has moved for so long: are the partners alive, is it time to give up? @throws likewise
  void look(std::chrono::nanoseconds waited);
  /// Gives up all that is under way, after a failure.
  void abandon() noexcept;

 private:
  /// Messages to one rank, or from it: exchange->messages[next … end) are still to go.
  struct Stream {
    ExchangeRef exchange;
    Rank peer = 0;
    bool sends = false;
    std::size_t next = 0;
    std::size_t end = 0;
    Passage passage{};          ///< of the next one, between node-mates
    std::uint64_t offered = 0;  ///< the mailbox's count with the last message that a node-mate is to fetch

    const Message& message() const { return exchange->messages[std::min(next, end - 1)]; }
  };

  void give_to_self(std::span<const Message> messages);
  void begin_streams(const ExchangeRef& exchange);
  void post(const Stream& stream);
  bool step();
  bool step(Stream& stream);
  bool step_mailbox(Stream& stream);
  bool step_transport(Stream& stream);
  bool through(const Stream& stream) const;
  bool progress();
  Mailbox& mailbox_of(const Stream& stream) const;
  template <class Body>
  auto guarded(Body&& body);
  [[noreturn]] void mismatch(const Stream& stream, const net::CallSummary& found);
  std::optional<std::string> loss() const;
  std::string waiting_text() const;
  std::string text_of(const Message& message) const;

  Members& members_;
  Health& health_;
  Waiter& waiter_;
  bool direct_;
  std::vector<Stream> streams_;       ///< that are not through, in the order of their starts
  std::vector<ExchangeRef> leaving_;  ///< all through, but what was sent has not left
  std::uint64_t round_ = 0;
  /// By direction and rank: the last round in which a stream there kept the later ones waiting.
  std::array<std::vector<std::uint64_t>, 2> kept_;
  std::vector<std::uint64_t> sent_;  ///< by rank of another node: messages so far
  std::vector<std::uint64_t> received_;
  std::chrono::nanoseconds next_look_{0};
  std::chrono::nanoseconds last_waited_{0};
};

}  // namespace umbel::runtime
