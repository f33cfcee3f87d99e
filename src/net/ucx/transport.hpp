// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "net/ucx/message.hpp"
#include "net/ucx/worker.hpp"

namespace umbel::net {

struct TransportOptions {
  Worker* worker = nullptr;  ///< must outlive the transport
  int rank = 0;              ///< this rank's own peer number
  int peers = 1;             ///< peer numbers are 0 … peers−1
  /// Names the communicator on the wire: random, the same on all its ranks, never used again.
  std::uint64_t nonce = 0;
  /// How long the destructor waits for messages that UCX still works on before it cuts their connections.
  std::chrono::milliseconds close_timeout{1000};
};

/// A send or receive under way. A plain number; 0 is none.
enum class RequestId : std::uint64_t { none = 0 };

enum class RequestState : std::uint8_t {
  pending,
  done,
  mismatch,  ///< met a message of another call; see Transport::last_mismatch
  failed,    ///< the peer failed, left, or UCX reported an error; see Transport::last_failure
};

enum class PeerState : std::uint8_t {
  unknown,  ///< never connected
  connected,
  left,    ///< said goodbye: it destroyed its transport in good order. No failure, but nothing more will come.
  failed,  ///< its process died, the connection broke, or mark_failed was called
};

/// Messages between the nodes of one communicator: a match table of our own on top of a Worker, which all transports of
/// the process share, and with it the connections.
///
/// Use: make one per communicator on *all* its ranks, exchange address() over the bootstrap, connect() to every partner
/// of this rank, *those it only receives from too* (a rank without an endpoint of its own to a dead peer never hears
/// that it died, and cannot cut short what that peer is writing), then post and progress:
///
///     RequestId r = transport.post_recv(key, summary, buffer, bytes);
///     while (transport.test(r) == RequestState::pending) transport.progress();
///
/// Threads: a transport is used by one thread at a time (any thread). Transports of one worker may be used by different
/// threads at the same time: whatever is shared is locked inside. The thread that progresses the worker moves the
/// messages of all its transports, but never runs another transport's handlers: what is meant for a handler waits until
/// that transport's own progress() or dispatch().
///
/// Messages that arrive before their receive wait inside UCX's own buffer (small ones) or at the sender (rendezvous);
/// nothing is copied twice. Rendezvous needs both sides to call progress().
///
/// Failure: when a peer fails, its receives and sends turn `failed` at their next test(), once and for all; nothing is
/// waited for. The *buffers* of requests that ended `failed`, or were abandoned while pending, may still be read or
/// written by UCX or the NIC until the transport is destroyed: keep them allocated until then. A connection that breaks
/// fails its peer in every transport that uses it, unless the peer has said goodbye there; the next connect() to that
/// address opens a new one.
///
/// Nothing here throws on a peer's account; exceptions are for misuse (InvalidArgument), for UCX refusing to start
/// (UcxError) and for a forked child (Error).
class Transport {
 public:
  /// Called by progress() and dispatch() of this transport, for each control message, with nothing locked. May call
  /// anything but progress(), the destructor and the setting of handlers; must not throw.
  using ControlHandler = std::function<void(int peer, std::uint32_t type, std::span<const std::byte> bytes)>;
  /// Likewise, for a message that arrived without a posted receive (it is kept until one is posted; by the time of the
  /// call that may have happened). Lets the runtime compare the summary with its own call at once.
  using UnexpectedHandler = std::function<void(const MessageKey& key, const CallSummary& summary, std::uint64_t bytes)>;

  static constexpr std::size_t kMaxControlBytes = 4096;
  static constexpr int kMaxWaitingControls = 16;
  /// Control messages that wait for dispatch(); of more than that the oldest are dropped.
  static constexpr std::size_t kMaxMail = 1024;

  /// @throws InvalidArgument, SystemError (too few descriptors).
  explicit Transport(const TransportOptions& options);
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  /// Says goodbye to the connected peers and lets all messages leave; the connections stay. When nothing is under way
  /// that takes no time. Whatever UCX still works on (a rendezvous of a failed call) is waited for until close_timeout;
  /// then the connections in question are cut, which fails those peers in all transports of the worker. Afterwards no
  /// buffer of this transport is read or written any more. Safe after failures and after MPI_Finalize. In a forked
  /// child it does nothing at all.
  ~Transport();

  // --- connections -------------------------------------------------------------------------------------------------

  /// The worker's address.
  const std::string& address() const noexcept;
  /// Opens an endpoint, or shares the one that there is. Not collective, does not wait; an unreachable peer shows up
  /// later as failed. Once per peer;
  /// does nothing when the peer has left or failed already.
  /// @throws UcxError when no device can reach the address (the message names both sides' devices).
  void connect(int peer, std::string_view address);
  PeerState peer_state(int peer) const noexcept;
  /// Why the peer is not connected, for people; empty while it is.
  std::string failure_text(int peer) const;
  /// Grows by one with each peer that turns `failed`: one comparison tells whether anything happened.
  std::uint32_t failures() const noexcept;
  /// The caller knows better: from now on the peer counts as failed.
  void mark_failed(int peer, std::string_view why);
  /// When anything last arrived from the peer; the time of connect() before that.
  std::chrono::steady_clock::time_point last_heard(int peer) const noexcept;
  /// The `sequence` of the latest message from the peer, control messages aside; 0 before the first.
  std::uint64_t last_sequence(int peer) const noexcept;
  /// Is a send to the peer, or a receive from it, under way? Looks at all requests.
  bool awaits(int peer) const noexcept;

  // --- messages ----------------------------------------------------------------------------------------------------

  /// Starts sending [data, data + bytes). `key.source` is set to this rank. `data` must stay unchanged until the
  /// request is done. Never throws on account of the peer: such a request is `failed`.
  RequestId post_send(int peer, MessageKey key, const CallSummary& summary, const void* data, std::size_t bytes);
  /// Starts receiving the message `key` from peer `key.source`, of exactly `bytes` bytes.
  RequestId post_recv(const MessageKey& key, const CallSummary& summary, void* data, std::size_t bytes);
  /// Does not progress. Any state but `pending` is told once: the request is gone afterwards and its number invalid.
  /// @throws InvalidArgument for a number that is not under way.
  RequestState test(RequestId request);
  /// Gives a request up, whatever its state; its number is invalid afterwards. See "Failure" for its buffer.
  void abandon(RequestId request) noexcept;
  /// abandon() for every receive of that operation that has met no message yet (their buffers are free at once), and
  /// drops the messages of that operation that wait for a receive.
  void forget(std::uint64_t sequence);

  /// Of the latest request that test() told `mismatch` about.
  const std::optional<Mismatch>& last_mismatch() const noexcept;
  /// Of the latest request that test() told `failed` about: `rank 3: connection reset by remote peer`.
  const std::string& last_failure() const noexcept;
  /// It is told of the messages that wait already, too.
  void set_unexpected_handler(UnexpectedHandler handler);
  /// Calls `visit` for each message that waits for its receive (for a call that begins late, and for reports); with
  /// nothing locked.
  void for_each_unexpected(const UnexpectedHandler& visit) const;

  // --- control messages: stall query and answer, abort, heartbeat ---------------------------------------------------

  /// Messages that came before are kept for it.
  void set_control_handler(ControlHandler handler);
  /// Sends a small message; `bytes` are copied, nothing is to be waited for. False when the peer is not connected, and,
  /// unless `urgent`, when kMaxWaitingControls are waiting to go out to it already: it has stopped taking anything.
  /// @param type the caller's own number, below 2³¹.  @param bytes at most kMaxControlBytes.
  bool send_control(int peer, std::uint32_t type, std::span<const std::byte> bytes, bool urgent = false);

  // --- progress and waiting ------------------------------------------------------------------------------------------

  /// Moves everything forward for all transports of the worker (unless another thread is at it), then runs this one's
  /// handlers. Never waits. Returns 0 when nothing has happened: no event, nor has another thread handled one for this
  /// transport since the last call. Not from inside a handler.
  unsigned progress();
  /// Runs the handlers that are due, without touching UCX. Returns how many; 0 inside a handler.
  unsigned dispatch();
  /// Is a handler due? One atomic load; by any thread.
  bool has_mail() const noexcept;
  /// True when everything sent before the *first* of a row of calls has left this process for the kernel or the NIC, so
  /// that the caller may go silent (it does not mean that the peer has taken note). Of control messages only urgent
  /// ones count: a question may be to a peer that has gone silent before the connection stood, and would wait for ever.
  /// Costs a comparison when nothing was sent since the last time, 0.04 µs when all is out. Call with progress() until
  /// true, at the end of each call, after all its requests are done. Failed peers are skipped.
  bool flushed();
  /// Has another thread handled something for this transport since its last progress(), or is a handler due? To be
  /// asked before sleeping, between progress() and Worker::arm(). Any thread.
  bool has_news() const noexcept;

  // --- facts ---------------------------------------------------------------------------------------------------------

  /// The worker's, see there.
  const std::string& device_text() const noexcept;
  /// Requests and unexpected messages under way, for tests and reports.
  std::size_t requests_in_flight() const noexcept;
  std::size_t unexpected_messages() const noexcept;

  class Impl;  // in transport_impl.hpp

 private:
  Worker* worker_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace umbel::net
