// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "net/ucx/transport.hpp"
#include "thread_ranks.hpp"

namespace umbel::net::test {

inline constexpr std::uint64_t kNonce = 0x1234567890abcdefULL;
inline constexpr std::chrono::seconds kPatience{20};

/// Progresses until `done` holds; false when that takes longer than anything here should.
inline bool progress_until(Transport& transport, const std::function<bool()>& done,
                           std::chrono::milliseconds patience = kPatience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    if (transport.progress() == 0) std::this_thread::yield();
  }
  return true;
}

/// Progresses until the request has ended; `pending` when it does not.
inline RequestState finish(Transport& transport, RequestId request, std::chrono::milliseconds patience = kPatience) {
  RequestState state = RequestState::pending;
  progress_until(
      transport, [&] { return (state = transport.test(request)) != RequestState::pending; }, patience);
  return state;
}

/// Goes on progressing for a while, whatever comes.
inline void progress_for(Transport& transport, std::chrono::milliseconds time) {
  progress_until(
      transport, [] { return false; }, time);
}

/// The worker that all transports of this rank share, for good.
inline Worker& worker_of(int rank) {
  static std::mutex mutex;
  static std::map<int, std::unique_ptr<Worker>> workers;
  const std::scoped_lock lock(mutex);
  std::unique_ptr<Worker>& worker = workers[rank];
  if (!worker) worker = std::make_unique<Worker>("");
  return *worker;
}

/// One that no transport of this process had.
inline std::uint64_t fresh_nonce() {
  static std::atomic<std::uint64_t> next{kNonce};
  return ++next;
}

inline std::unique_ptr<Transport> make_transport(int rank, int peers, std::uint64_t nonce = kNonce) {
  TransportOptions options;
  options.worker = &worker_of(rank);
  options.rank = rank;
  options.peers = peers;
  options.nonce = nonce;
  return std::make_unique<Transport>(options);
}

/// All ranks at once: a transport that is connected to all others.
inline std::unique_ptr<Transport> make_connected(const Bootstrap& b, std::uint64_t nonce) {
  auto transport = make_transport(b.rank, b.size, nonce);
  const std::vector<std::string> addresses = all_gather_bytes(b, transport->address());
  for (int peer = 0; peer < b.size; ++peer) {
    if (peer != b.rank) transport->connect(peer, addresses[static_cast<std::size_t>(peer)]);
  }
  return transport;
}

/// A transport per rank, each in its thread, all connected; the threads meet before transports are destroyed.
inline void run_transports(int size, const std::function<void(const Bootstrap&, Transport&)>& body) {
  const std::uint64_t nonce = fresh_nonce();
  run_ranks(size, [&](const Bootstrap& b) {
    const auto transport = make_connected(b, nonce);
    body(b, *transport);
    EXPECT_TRUE(progress_until(*transport, [&] { return transport->flushed(); }));
    b.barrier();
  });
}

inline MessageKey key_of(int source, std::uint64_t sequence, std::uint32_t index = 0) {
  MessageKey key;
  key.source = source;
  key.sequence = sequence;
  key.index = index;
  return key;
}

inline CallSummary call_of(std::uint64_t count, RedOp op = RedOp::sum) {
  CallSummary summary;
  summary.count = count;
  summary.op = op;
  return summary;
}

inline std::vector<unsigned char> pattern(std::size_t bytes, unsigned seed) {
  std::vector<unsigned char> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<unsigned char>((i * 31 + i / 251 + seed) & 0xffU);
  return data;
}

}  // namespace umbel::net::test
