// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The inside of Transport, in four files: transport.cpp (the public face, progress, flush), messages.cpp (sends,
// receives, matching), peers.cpp (endpoints, failure, control messages), closing.cpp (the destructor's work).
#pragma once

#include <ucp/api/ucp.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "net/ucx/match_table.hpp"
#include "net/ucx/pool.hpp"
#include "net/ucx/transport.hpp"
#include "net/ucx/worker.hpp"

namespace umbel::net {

using Clock = std::chrono::steady_clock;

// Numbers of our active messages.
inline constexpr unsigned kMessageAm = 0;
inline constexpr unsigned kControlAm = 1;

struct ControlHeader {
  std::uint64_t job_nonce = 0;
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
  ucp_ep_h endpoint = nullptr;
  PeerState state = PeerState::unknown;
  bool spoke = false;     // something has come from it: so its connection to us stands
  bool broken = false;    // UCX has closed the connection: nothing may be answered over it
  bool dirty = false;     // something was sent since the last flush
  bool draining = false;  // a drain message is under way
  int controls = 0;       // control messages that UCX has not taken up yet
  std::string text;       // why it is not connected
  Clock::time_point heard{};
  std::uint64_t sequence = 0;  // of the latest message from it
  Clock::time_point left_at{};
};

struct ControlSend {
  std::uint32_t index = 0;
  ControlSend* next = nullptr;
  Peer* peer = nullptr;
  ControlHeader header;
  std::array<std::byte, Transport::kMaxControlBytes> bytes;
};

class Transport::Impl {
 public:
  explicit Impl(const TransportOptions& options);
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl();

  // peers.cpp
  void connect(int peer, std::string_view address);
  Peer& peer(int number);
  const Peer* find_peer(int number) const noexcept;
  void mark_failed(Peer& peer, std::string why);
  bool send_control(Peer& peer, std::uint32_t type, std::span<const std::byte> bytes, bool urgent);

  // messages.cpp
  RequestId post_send(int peer, const MessageKey& key, const CallSummary& summary, const void* data, std::size_t bytes);
  RequestId post_recv(const MessageKey& key, const CallSummary& summary, void* data, std::size_t bytes);
  RequestState test(RequestId id);
  void abandon(RequestId id) noexcept;
  void forget_communicator(std::uint32_t communicator);
  bool awaits(int peer) noexcept;

  // transport.cpp
  bool flushed();
  Worker& worker() noexcept { return worker_; }

  TransportOptions options;
  MatchTable<Unexpected> unexpected;
  std::uint32_t failures = 0;
  bool left_behind = false;  ///< Transport::leave_behind
  std::uint64_t strangers = 0;
  std::optional<Mismatch> last_mismatch;
  std::string last_failure;
  ControlHandler control_handler;
  UnexpectedHandler unexpected_handler;
  Pool<Request> requests;
  bool progressing = false;

 private:
  // peers.cpp
  static void on_endpoint_error(void* arg, ucp_ep_h endpoint, ucs_status_t status);
  static ucs_status_t on_control(void* arg, const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                                 const ucp_am_recv_param_t* param);
  static void on_control_sent(void* request, ucs_status_t status, void* user_data);
  ucp_ep_h open_endpoint(Peer& peer, std::string_view address);
  void note_goodbye(Peer& peer);
  void hear(Peer& peer);
  Peer* known_sender(std::uint64_t nonce, std::int32_t source) noexcept;
  void used(Peer& peer);
  enum class Posted : std::uint8_t { gone, waits, refused };
  Posted post_control(Peer& peer, std::uint32_t type, std::span<const std::byte> bytes);
  void start_drain(Peer& peer);
  void end_drain(Peer& peer) noexcept;

  // messages.cpp
  static ucs_status_t on_message(void* arg, const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                                 const ucp_am_recv_param_t* param);
  static void on_sent(void* request, ucs_status_t status, void* user_data);
  static void on_received(void* request, ucs_status_t status, std::size_t bytes, void* user_data);
  Request* new_request(int peer, const MessageKey& key, const CallSummary& summary);
  RequestId id_of(const Request& request) const noexcept;
  Request* find(RequestId id) noexcept;
  void retire(Request* request) noexcept;
  void settle(Request* request, ucs_status_t status) noexcept;
  bool hopeless(const Request& request) const;
  bool fits(Request* request, const MessageHeader& header, std::size_t bytes);
  void fetch(Request* request, void* desc);
  ucs_status_t keep(const MessageHeader& header, void* data, std::size_t bytes, const ucp_am_recv_param_t* param);
  void deliver(Request* request, Unexpected* message);
  void drop(Unexpected* message) noexcept;
  void tell_failure(const Request& request);

  // transport.cpp
  bool nothing_outstanding();
  void register_handler(unsigned id, ucp_am_recv_callback_t handler);

  // closing.cpp
  void say_goodbye() noexcept;
  bool controls_out() const noexcept;
  bool all_spoke() const noexcept;
  void close_endpoints() noexcept;
  void quiet_down() noexcept;
  template <class Done>
  void progress_until(Done done, Clock::time_point deadline) noexcept;

  std::vector<Peer> peers_;
  MatchTable<Request> posted_;
  Pool<Unexpected> unexpected_pool_;
  Pool<ControlSend> control_sends_;
  std::vector<Peer*> dirty_;
  int draining_ = 0;              // peers whose drain message is under way
  bool worker_flushing_ = false;  // UCX has a flush of the worker in hand
  bool closing_ = false;
  int open_endpoints_ = 0;  // while closing: those that UCX has not closed yet
  Worker worker_;           // the last member: it goes first, while what its callbacks point to is still there
};

}  // namespace umbel::net
