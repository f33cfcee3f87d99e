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

namespace umbel::net {

struct TransportOptions {
  int rank = 0;                 ///< this process's own peer number
  int peers = 1;                ///< peer numbers are 0 … peers−1
  std::uint64_t job_nonce = 0;  ///< the same on all ranks of the job; messages that carry another are refused
  std::string net_devices;      ///< exact names or `^names` (devices.hpp); empty leaves it to UCX
  /// How long the destructor waits for its last messages to leave before it cuts the connections.
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

/// Messages between nodes: one UCX context and worker, an endpoint per peer, a match table of our own.
///
/// Use: make one per process (or per rank, where ranks are threads), exchange address() over the bootstrap, connect()
/// to every partner of this rank, *those it only receives from too* (a rank without an endpoint of its own to a dead
/// peer never hears that it died), then post and progress:
///
///     RequestId r = transport.post_recv(key, summary, buffer, bytes);
///     while (transport.test(r) == RequestState::pending) transport.progress();
///
/// Threads: one at a time (the caller holds a lock around every call); any thread.
///
/// Messages that arrive before their receive wait inside UCX's own buffer (small ones) or at the sender (rendezvous);
/// nothing is copied twice. Rendezvous needs both sides to call progress().
///
/// Failure: when a peer fails, its receives and sends turn `failed` at their next test(), once and for all; nothing is
/// waited for. The *buffers* of requests that ended `failed`, or were abandoned while pending, may still be read or
/// written by UCX or the NIC until the transport is destroyed: keep them allocated until then.
///
/// Nothing here throws on a peer's account; exceptions are for misuse (InvalidArgument), for UCX refusing to start
/// (UcxError) and for a forked child (Error).
class Transport {
 public:
  /// Called inside progress(), for each control message. May post, test and send; must not call progress() or throw.
  using ControlHandler = std::function<void(int peer, std::uint32_t type, std::span<const std::byte> bytes)>;
  /// Called inside progress() for a message that arrived without a posted receive (it is kept until one is posted).
  /// Lets the runtime compare the summary with its own call at once. Must not call this transport, nor throw.
  using UnexpectedHandler = std::function<void(const MessageKey& key, const CallSummary& summary, std::uint64_t bytes)>;

  static constexpr std::size_t kMaxControlBytes = 4096;
  static constexpr int kMaxWaitingControls = 16;

  /// @throws UcxError, InvalidArgument (devices), SystemError.
  explicit Transport(const TransportOptions& options);
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  /// Says goodbye to the connected peers, lets their last messages leave (bounded by close_timeout), closes. Safe after
  /// failures and after MPI_Finalize. In a forked child it does nothing at all.
  ~Transport();

  // --- connections -------------------------------------------------------------------------------------------------

  /// What peers need to connect; opaque bytes to be exchanged.
  const std::string& address() const noexcept;
  /// Opens an endpoint. Not collective, does not wait; an unreachable peer shows up later as failed. Once per peer.
  /// @throws UcxError when no device can reach the address (the message names both sides' devices).
  void connect(int peer, std::string_view address);
  PeerState peer_state(int peer) const noexcept;
  /// Why the peer is not connected, for people; empty while it is.
  const std::string& failure_text(int peer) const noexcept;
  /// Grows by one with each peer that turns `failed`: one comparison tells whether anything happened.
  std::uint32_t failures() const noexcept;
  /// The caller knows better (a pidfd, a missing heartbeat): from now on the peer counts as failed.
  void mark_failed(int peer, std::string_view why);
  /// After a failure of the job: the destructor closes the connections but leaves UCX's worker to the end of the
  /// process. UCX 1.13 aborts the process when a worker is destroyed while a connection request of a peer that is gone
  /// is still unanswered (ucp_request.c, "got REP message"). Implied by a failed peer, and by one that was never heard.
  void leave_behind() noexcept;
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
  /// abandon() for every receive of the communicator that has met no message yet (their buffers are free at once), and
  /// drops the messages of the communicator that wait for a receive.
  void forget_communicator(std::uint32_t communicator);

  /// Of the latest request that test() told `mismatch` about.
  const std::optional<Mismatch>& last_mismatch() const noexcept;
  /// Of the latest request that test() told `failed` about: `rank 3: connection reset by remote peer`.
  const std::string& last_failure() const noexcept;
  void set_unexpected_handler(UnexpectedHandler handler);
  /// Calls `visit` for each message that waits for its receive (for a call that begins late, and for reports).
  void for_each_unexpected(const UnexpectedHandler& visit) const;

  // --- control messages: stall query and answer, abort, heartbeat ---------------------------------------------------

  void set_control_handler(ControlHandler handler);
  /// Sends a small message; `bytes` are copied, nothing is to be waited for. False when the peer is not connected, and,
  /// unless `urgent`, when kMaxWaitingControls are waiting to go out to it already: it has stopped taking anything.
  /// @param type the caller's own number, below 2³¹.  @param bytes at most kMaxControlBytes.
  bool send_control(int peer, std::uint32_t type, std::span<const std::byte> bytes, bool urgent = false);

  // --- progress and waiting ------------------------------------------------------------------------------------------

  /// Moves everything forward, never waits. Returns how many events UCX handled (0: nothing to do).
  /// Not from inside a handler.
  unsigned progress();
  /// True when everything sent before the *first* of a row of calls has left this process for the kernel or the NIC, so
  /// that the caller may go silent (it does not mean that the peer has taken note). Costs a comparison when nothing was
  /// sent since the last time, 0.04 µs when all is out. Call with progress() until true, at the end of each call, after
  /// all its requests are done. Failed peers are skipped.
  bool flushed();
  /// Readable when there may be something to progress, once arm() has returned true. −1 is never returned.
  int event_fd() const noexcept;
  /// Before sleeping on event_fd(): false means there is work, call progress() instead of sleeping.
  bool arm();

  // --- facts
  // -----------------------------------------------------------------------------------------------------------

  /// The devices and transports chosen, and why: one line for people.
  const std::string& device_text() const noexcept;
  /// Messages refused because they carried another job's nonce or nonsense.
  std::uint64_t strangers() const noexcept;
  /// Requests and unexpected messages under way, for tests and reports.
  std::size_t requests_in_flight() const noexcept;
  std::size_t unexpected_messages() const noexcept;

  class Impl;  // in transport_impl.hpp

 private:
  std::unique_ptr<Impl> impl_;
};

/// Version of the UCX library in use, "1.13.1".
std::string ucx_version();

}  // namespace umbel::net
