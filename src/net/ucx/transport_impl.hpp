// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The inside of Transport, in five files: transport.cpp (the public face), messages.cpp (sends, receives, matching),
// peers.cpp (connecting, failing and leaving), controls.cpp (control messages, flush, what handlers are told),
// closing.cpp (the destructor's work).
#pragma once

#include <ucp/api/ucp.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/ucx/match_table.hpp"
#include "net/ucx/pool.hpp"
#include "net/ucx/transport.hpp"
#include "net/ucx/worker_impl.hpp"

namespace umbel::net {

using Clock = std::chrono::steady_clock;

struct ControlHeader {
  std::uint64_t nonce = 0;  // of the communicator
  std::int32_t source = -1;
  std::uint32_t type = 0;
};

// Types of control messages that are our own: "I am destroying my transport", and one that says nothing (see
// flushed()).
inline constexpr std::uint32_t kGoodbye = 1U << 31U;
inline constexpr std::uint32_t kDrain = kGoodbye + 1;

/// Where a request is.
enum class Stage : std::uint8_t {
  free,
  posted,   ///< a receive in the match table; UCX knows nothing of it
  active,   ///< UCX works on it and will call back
  settled,  ///< its state is final; waits for test()
};

struct Request {
  std::uint32_t index = 0;       // in the pool
  std::uint32_t generation = 0;  // counts the uses of this object, so that an old RequestId is noticed
  Request* next = nullptr;
  Transport::Impl* owner = nullptr;
  MessageHeader header;  // sends: on the wire until done; receives: key and summary
  void* data = nullptr;
  std::size_t bytes = 0;
  int peer = -1;
  std::uint64_t sent_before = 0;  // sends by rendezvous: Peer::sent when posted; 0: eager
  Stage stage = Stage::free;
  RequestState state = RequestState::pending;
  bool abandoned = false;  // nobody will test it: free it when UCX calls back
  ucs_status_t status = UCS_OK;
  CallSummary found;  // of a mismatch
  std::uint64_t found_bytes = 0;

  const MessageKey& key() const noexcept { return header.key; }
};

/// A message that came before its receive.
struct Unexpected {
  static constexpr std::size_t kInlineBytes = 256;

  std::uint32_t index = 0;
  Unexpected* next = nullptr;
  MessageHeader header;
  std::size_t bytes = 0;
  void* desc = nullptr;  // UCX's: the data itself, or (rendezvous) a handle to fetch it; null: the data is in `copy`
  bool rendezvous = false;
  std::array<std::byte, kInlineBytes> small;  // tiny messages are copied: a hold on UCX's buffer costs more
  std::vector<std::byte> large;               // where UCX cannot leave its buffer to us

  const MessageKey& key() const noexcept { return header.key; }
};

struct Peer {
  Transport::Impl* owner = nullptr;
  int number = -1;
  Endpoint* endpoint = nullptr;
  PeerState state = PeerState::unknown;
  bool asked_for = false;  // connect() was called
  bool broken = false;     // the connection is closed: nothing may be answered over it
  bool dirty = false;      // something was sent since the last flush
  bool draining = false;   // a drain message is under way
  int controls = 0;        // control messages that UCX has not taken up yet
  std::string text;        // why it is not connected
  Clock::time_point heard{};
  std::uint64_t sequence = 0;  // of the latest message from it
  Clock::time_point left_at{};
  std::uint64_t sent = 0;    // bytes of all messages to it
  std::uint64_t taken = 0;   // of those, what it is known to have received: see Impl::by_rendezvous
  bool asked_taken = false;  // a message by rendezvous is under way
};

struct ControlSend {
  std::uint32_t index = 0;
  ControlSend* next = nullptr;
  Peer* peer = nullptr;
  ControlHeader header;
  std::array<std::byte, Transport::kMaxControlBytes> bytes;
};

/// A control message that waits for its handler.
struct Mail {
  int peer = -1;
  std::uint32_t type = 0;
  std::vector<std::byte> bytes;
};

/// What the other handler is to be told: a message has come before its receive.
struct Note {
  MessageKey key;
  CallSummary summary;
  std::uint64_t bytes = 0;
};

/// Everything but what is atomic or marked as the owner's is touched with the worker's lock held only: UCX calls back
/// in whatever thread progresses the worker.
class Transport::Impl {
 public:
  explicit Impl(const TransportOptions& options);
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() = default;

  /// The worker's lock; none in a forked child, where nobody will ever release it if it was held at the fork.
  std::unique_lock<Turnstile> hold() const;
  Worker::Impl& worker() const noexcept { return worker_; }

  // peers.cpp
  void connect(int peer, std::string_view address);
  Peer& peer(int number);
  const Peer* find_peer(int number) const noexcept;
  /// The sender of a message; null when there is no such peer.
  Peer* sender(std::int32_t source) noexcept;
  void mark_failed(Peer& peer, std::string_view why);
  /// The peer's connection is no more.
  void lose(Peer& peer, std::string_view why) noexcept;

  // messages.cpp
  /// What UCX is to tell the sender of a message that nobody wants: only a rendezvous has a way back.
  static ucs_status_t refusal(const ucp_am_recv_param_t* param) noexcept;
  ucs_status_t take_in(Peer& from, const MessageHeader& header, void* data, std::size_t bytes,
                       const ucp_am_recv_param_t* param);
  RequestId post_send(int peer, const MessageKey& key, const CallSummary& summary, const void* data, std::size_t bytes);
  RequestId post_recv(const MessageKey& key, const CallSummary& summary, void* data, std::size_t bytes);
  RequestState test(RequestId id);
  void abandon(RequestId id) noexcept;
  void forget(std::uint64_t sequence);
  bool awaits(int peer) noexcept;

  // controls.cpp
  bool send_control(Peer& peer, std::uint32_t type, std::span<const std::byte> bytes, bool urgent);
  void take_in_control(Peer& from, std::uint32_t type, std::span<const std::byte> bytes);
  bool flushed();
  void note(const MessageHeader& header, std::size_t bytes);
  void note_waiting();
  void count_mail() noexcept;
  unsigned dispatch();  // takes the lock itself

  // closing.cpp
  /// Takes the lock itself.
  static void close(std::unique_ptr<Impl> transport) noexcept;
  /// Has UCX given back everything that points here?
  bool idle() const noexcept { return active_ == 0 && control_sends_.in_use() == 0; }

  const TransportOptions options;
  MatchTable<Unexpected> unexpected;
  Pool<Request> requests;
  ControlHandler control_handler;         // set with the lock held, called by the owner without
  UnexpectedHandler unexpected_handler;   // likewise
  std::optional<Mismatch> last_mismatch;  // the owner's
  std::string last_failure;               // the owner's
  bool dispatching = false;               // the owner's
  std::atomic<std::uint32_t> failures{0};
  std::atomic<std::size_t> mail{0};  ///< handlers that are due
  std::atomic<bool> news{false};     ///< something has come of a progress of the worker since that of this transport
  Impl* next_kept = nullptr;         ///< Worker::Impl::keep

 private:
  // peers.cpp
  void note_goodbye(Peer& peer) noexcept;

  // messages.cpp
  static void on_sent(void* request, ucs_status_t status, void* user_data);
  static void on_received(void* request, ucs_status_t status, std::size_t bytes, void* user_data);
  Request* new_request(int peer, const MessageKey& key, const CallSummary& summary);
  RequestId id_of(const Request& request) const noexcept;
  Request* find(RequestId id) noexcept;
  void retire(Request* request) noexcept;
  void settle(Request* request, ucs_status_t status) noexcept;
  void started(Request* request, ucs_status_ptr_t handle) noexcept;
  void ended(Request* request, ucs_status_t status) noexcept;
  bool hopeless(const Request& request) const;
  bool fits(Request* request, const MessageHeader& header, std::size_t bytes);
  void fetch(Request* request, void* desc);
  bool by_rendezvous(const Peer& to, std::size_t bytes) const noexcept;
  void note_taken(const Request& request) noexcept;
  ucs_status_t keep(const MessageHeader& header, void* data, std::size_t bytes, const ucp_am_recv_param_t* param);
  void deliver(Request* request, Unexpected* message);
  void drop(Unexpected* message) noexcept;
  void tell_failure(const Request& request);

  // controls.cpp
  static void on_control_sent(void* request, ucs_status_t status, void* user_data);
  void used(Peer& peer);
  enum class Posted : std::uint8_t { gone, waits, refused };
  Posted post_control(Peer& peer, std::uint32_t type, std::span<const std::byte> bytes);
  void start_drain(Peer& peer);
  void end_drain(Peer& peer) noexcept;

  // closing.cpp
  void say_goodbye() noexcept;
  bool controls_out() const noexcept;
  void cut_the_rest() noexcept;
  template <class Done>
  void progress_until(Done done, Clock::time_point deadline);

  Worker::Impl& worker_;
  std::vector<Peer> peers_;
  MatchTable<Request> posted_;
  Pool<Unexpected> unexpected_pool_;
  Pool<ControlSend> control_sends_;
  std::deque<Mail> mails_;
  std::vector<Note> notes_;
  std::vector<Note> telling_;  // the owner's: notes that are being told
  std::vector<Peer*> dirty_;
  std::size_t active_ = 0;  // requests that UCX works on
  int draining_ = 0;        // peers whose drain message is under way
  bool closing_ = false;
};

}  // namespace umbel::net
