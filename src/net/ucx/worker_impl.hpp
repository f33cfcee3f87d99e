// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The inside of Worker, in two files: worker.cpp (the public face, progress, which transport a message is for) and
// endpoints.cpp (connections, which all transports share).
#pragma once

#include <ucp/api/ucp.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "net/ucx/setup.hpp"
#include "net/ucx/transport.hpp"
#include "net/ucx/worker.hpp"

namespace umbel::net {

struct Peer;

// Numbers of our active messages.
inline constexpr unsigned kMessageAm = 0;
inline constexpr unsigned kControlAm = 1;
inline constexpr unsigned kCutAm = 2;  // no header; the data is the address of the sender's worker

/// A mutex at which those who have something to do go before those who only look whether there is something: a thread
/// that polls in a loop would otherwise hardly ever let another one in.
class Turnstile {
 public:
  void lock() {
    if (mutex_.try_lock()) return;
    waiting_.fetch_add(1, std::memory_order_relaxed);
    mutex_.lock();
    waiting_.fetch_sub(1, std::memory_order_relaxed);
  }
  bool try_lock() { return waiting_.load(std::memory_order_relaxed) == 0 && mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
  std::atomic<int> waiting_{0};
};

/// A connection to the worker of a peer.
struct Endpoint {
  Worker::Impl* owner = nullptr;
  std::string address;  // as UCX has it
  ucp_ep_h handle = nullptr;
  std::vector<Peer*> users;  // of all transports
  bool closing = false;
  bool closed = false;
};

/// Everything but the lock itself and what is atomic is touched with the lock held only.
class Worker::Impl {
 public:
  explicit Impl(UcxObjects objects);
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  ucp_worker_h ucx() const noexcept { return objects.worker.get(); }

  // worker.cpp
  /// @throws InvalidArgument when there is a transport with that nonce already.
  void add(Transport::Impl& transport);
  void remove(const Transport::Impl& transport) noexcept;
  /// Takes a transport whose owner has gone while UCX still has requests of it: freed when UCX has called back.
  void keep(std::unique_ptr<Transport::Impl> transport) noexcept;
  unsigned progress();
  /// Has everything that any transport sent left this process? False when in doubt.
  bool nothing_outstanding();

  // endpoints.cpp
  /// @throws UcxError, InvalidArgument.
  void connect(Peer& user, std::string_view address);
  void disconnect(Peer& user) noexcept;
  /// Closes the connection now and by force, as if it had broken, and tells the peer so if it can be told at once. Not
  /// from inside a callback of UCX.
  void cut(Endpoint& endpoint, std::string_view why) noexcept;

  const UcxObjects objects;
  const std::string ucx_address;  ///< the part of the address that is UCX's
  Turnstile turnstile;
  std::list<Endpoint> endpoints;
  std::atomic<std::uint64_t> strangers{0};
  Impl* next_left = nullptr;  ///< of those whose owners have gone

 private:
  static ucs_status_t on_message(void* arg, const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                                 const ucp_am_recv_param_t* param);
  static ucs_status_t on_control(void* arg, const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                                 const ucp_am_recv_param_t* param);
  static ucs_status_t on_cut(void* arg, const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                             const ucp_am_recv_param_t* param);
  static void on_endpoint_error(void* arg, ucp_ep_h endpoint, ucs_status_t status);
  void register_handler(unsigned id, ucp_am_recv_callback_t handler);
  Transport::Impl* find(std::uint64_t nonce) noexcept;
  void free_idle() noexcept;
  ucp_ep_h open(Endpoint& endpoint, const PeerAddress& address, int rank);
  void tell_cut(const Endpoint& endpoint) noexcept;
  void give_up(Endpoint& endpoint, std::string_view why) noexcept;
  void close_broken() noexcept;

  std::unordered_map<std::uint64_t, Transport::Impl*> transports_;  // by nonce
  Transport::Impl* latest_ = nullptr;                               // of those: the one found last
  Transport::Impl* kept_ = nullptr;                                 // see keep()
  std::list<Endpoint> broken_;                                      // to be closed, or being closed
  bool flushing_ = false;                                           // UCX has a flush of the worker in hand
};

}  // namespace umbel::net
