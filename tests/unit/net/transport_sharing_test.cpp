// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Several communicators on one worker: ranks as threads, each with one worker for all its transports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <iterator>

#include "base/error.hpp"
#include "transport_ranks.hpp"

namespace umbel::net {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using ::testing::ElementsAre;

std::size_t descriptors() {
  const std::filesystem::directory_iterator open("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(open), end(open)));
}

/// Both ranks: 8 bytes and a rendezvous in both directions, over a transport that is known to work.
void exchange(Transport& transport, int rank, std::uint64_t sequence, unsigned seed) {
  const int other = 1 - rank;
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{200000}}) {
    const auto index = static_cast<std::uint32_t>(bytes);
    const auto out = pattern(bytes, seed + static_cast<unsigned>(rank));
    std::vector<unsigned char> in(bytes);
    const RequestId recv = transport.post_recv(key_of(other, sequence, index), call_of(bytes), in.data(), bytes);
    const RequestId send = transport.post_send(other, key_of(rank, sequence, index), call_of(bytes), out.data(), bytes);
    ASSERT_EQ(finish(transport, recv), RequestState::done) << transport.last_failure();
    ASSERT_EQ(finish(transport, send), RequestState::done) << transport.last_failure();
    ASSERT_EQ(in, pattern(bytes, seed + static_cast<unsigned>(other)));
  }
}

TEST(TransportSharing, MessagesOfEqualKeysStayInTheirTransport) {
  constexpr std::size_t kTransports = 3;
  const std::array<std::uint64_t, kTransports> nonces{fresh_nonce(), fresh_nonce(), fresh_nonce()};
  run_ranks(2, [&](const Bootstrap& b) {
    const int other = 1 - b.rank;
    std::vector<std::unique_ptr<Transport>> transports;
    std::array<std::vector<std::uint32_t>, kTransports> controls;
    std::array<std::uint64_t, kTransports> out{};
    for (std::size_t t = 0; t < kTransports; ++t) {
      transports.push_back(make_connected(b, nonces[t]));
      transports[t]->set_control_handler(
          [&controls, t](int, std::uint32_t type, std::span<const std::byte>) { controls[t].push_back(type); });
      out[t] = 100 * t + static_cast<std::uint64_t>(b.rank);
      (void)transports[t]->post_send(other, key_of(b.rank, 1), call_of(1), &out[t], 8);
      EXPECT_TRUE(transports[t]->send_control(other, static_cast<std::uint32_t>(t), {}));
    }
    EXPECT_EQ(worker_of(b.rank).connections(), 1U);
    // The last one is received first; progressing any one of them moves all.
    ASSERT_TRUE(progress_until(*transports[1], [&] {
      return transports[0]->unexpected_messages() + transports[2]->unexpected_messages() == 2;
    }));
    for (std::size_t t = kTransports; t-- > 0;) {
      std::uint64_t in = 0;
      const RequestId recv = transports[t]->post_recv(key_of(other, 1), call_of(1), &in, 8);
      EXPECT_EQ(finish(*transports[t], recv), RequestState::done);
      EXPECT_EQ(in, 100 * t + static_cast<std::uint64_t>(other));
      ASSERT_TRUE(progress_until(*transports[t], [&] { return !controls[t].empty(); }));
      EXPECT_THAT(controls[t], ElementsAre(t));
    }
    b.barrier();
  });
}

TEST(TransportSharing, AMismatchInOneLeavesTheOtherWorking) {
  const std::uint64_t odd = fresh_nonce();
  const std::uint64_t even = fresh_nonce();
  run_ranks(2, [&](const Bootstrap& b) {
    const auto bad = make_connected(b, odd);
    const auto good = make_connected(b, even);
    std::uint64_t value = 1;
    std::uint64_t in = 0;
    const RedOp op = b.rank == 0 ? RedOp::min : RedOp::max;
    const RequestId send = bad->post_send(1 - b.rank, key_of(b.rank, 1), call_of(1, op), &value, 8);
    const RequestId recv = bad->post_recv(key_of(1 - b.rank, 1), call_of(1, op), &in, 8);
    exchange(*good, b.rank, 1, 3);
    EXPECT_EQ(finish(*bad, recv), RequestState::mismatch);
    EXPECT_EQ(finish(*bad, send), RequestState::done);
    EXPECT_FALSE(good->last_mismatch());
    exchange(*good, b.rank, 2, 4);
    b.barrier();
  });
}

TEST(TransportSharing, OneThatIsDestroyedLeavesTheOtherWorking) {
  const std::uint64_t short_lived = fresh_nonce();
  const std::uint64_t long_lived = fresh_nonce();
  run_ranks(2, [&](const Bootstrap& b) {
    auto first = make_connected(b, short_lived);
    const auto second = make_connected(b, long_lived);
    exchange(*first, b.rank, 1, 5);
    if (b.rank == 1) {
      first.reset();
    } else {
      // the goodbye is noticed by whoever progresses
      ASSERT_TRUE(progress_until(*second, [&] { return first->peer_state(1) == PeerState::left; }));
      EXPECT_EQ(first->failures(), 0U);
      EXPECT_EQ(second->peer_state(1), PeerState::connected);
    }
    exchange(*second, b.rank, 1, 6);
    b.barrier();
  });
}

TEST(TransportSharing, ManyCyclesOpenNothingNew) {
  constexpr int kWarmUp = 10;
  constexpr int kCycles = 500;
  std::vector<std::uint64_t> nonces(kWarmUp + kCycles);
  for (std::uint64_t& nonce : nonces) nonce = fresh_nonce();
  std::size_t before = 0;
  run_ranks(2, [&](const Bootstrap& b) {
    for (std::size_t cycle = 0; cycle < nonces.size(); ++cycle) {
      const auto transport = make_connected(b, nonces[cycle]);
      exchange(*transport, b.rank, 1, static_cast<unsigned>(cycle));
      if (cycle != kWarmUp) continue;
      b.barrier();
      if (b.rank == 0) before = descriptors();
      b.barrier();
    }
    b.barrier();
    EXPECT_EQ(worker_of(b.rank).connections(), 1U);
  });
  EXPECT_EQ(descriptors(), before);
}

TEST(TransportSharing, DestroyingAHealthyOneTakesNoTime) {
  constexpr int kRounds = 20;
  std::vector<std::uint64_t> nonces(kRounds);
  for (std::uint64_t& nonce : nonces) nonce = fresh_nonce();
  run_ranks(2, [&](const Bootstrap& b) {
    auto best = std::chrono::steady_clock::duration::max();
    for (const std::uint64_t nonce : nonces) {
      auto transport = make_connected(b, nonce);
      exchange(*transport, b.rank, 1, 7);
      b.barrier();
      const auto start = std::chrono::steady_clock::now();
      transport.reset();
      best = std::min(best, std::chrono::steady_clock::now() - start);
    }
    RecordProperty(b.rank == 0 ? "destroy_us_rank0" : "destroy_us_rank1",
                   static_cast<int>(std::chrono::duration_cast<std::chrono::microseconds>(best).count()));
    EXPECT_LT(best, std::chrono::milliseconds(5));
  });
}

TEST(TransportSharing, HandlersRunInTheirOwnTransportOnly) {
  const std::uint64_t quiet_nonce = fresh_nonce();
  const std::uint64_t busy_nonce = fresh_nonce();
  run_ranks(2, [&](const Bootstrap& b) {
    const auto quiet = make_connected(b, quiet_nonce);
    const auto busy = make_connected(b, busy_nonce);
    const int other = 1 - b.rank;
    int controls = 0;
    int messages = 0;
    std::uint64_t in = 0;
    std::uint64_t value = 9;
    quiet->set_control_handler([&](int peer, std::uint32_t, std::span<const std::byte>) {
      ++controls;
      EXPECT_FALSE(quiet->has_mail()) << "taken out before it is told";
      EXPECT_EQ(quiet->dispatch(), 0U) << "not again from inside";
      EXPECT_THROW(quiet->progress(), InvalidArgument);
      // What a handler may do:
      const RequestId recv = quiet->post_recv(key_of(peer, 1), call_of(1), &in, 8);
      EXPECT_EQ(quiet->test(recv), RequestState::done);
      EXPECT_EQ(quiet->peer_state(peer), PeerState::connected);
    });
    quiet->set_unexpected_handler([&](const MessageKey& key, const CallSummary& summary, std::uint64_t bytes) {
      ++messages;
      EXPECT_EQ(key, key_of(other, 1));
      EXPECT_EQ(summary, call_of(1));
      EXPECT_EQ(bytes, 8U);
    });
    EXPECT_FALSE(quiet->has_mail());
    b.barrier();  // both have their handlers: what comes before is not told
    const RequestId send = quiet->post_send(other, key_of(b.rank, 1), call_of(1), &value, 8);
    EXPECT_EQ(finish(*busy, busy->post_send(other, key_of(b.rank, 1), call_of(1), &value, 8)), RequestState::done);
    EXPECT_EQ(quiet->test(send), RequestState::done);
    EXPECT_TRUE(quiet->send_control(other, 1, {}));
    ASSERT_TRUE(progress_until(*busy, [&] { return quiet->has_mail() && quiet->unexpected_messages() == 1; }));
    exchange(*busy, b.rank, 2, 8);  // by now all is here
    EXPECT_TRUE(quiet->has_news());
    EXPECT_EQ(controls + messages, 0);
    EXPECT_EQ(quiet->dispatch(), 2U);
    EXPECT_EQ(controls, 1);
    EXPECT_EQ(messages, 1);
    EXPECT_EQ(in, 9U);
    EXPECT_FALSE(quiet->has_mail());
    EXPECT_EQ(quiet->dispatch(), 0U);
    b.barrier();
  });
}

TEST(TransportSharing, ProgressTellsWhatAnotherOneHasMoved) {
  const std::uint64_t one = fresh_nonce();
  const std::uint64_t two = fresh_nonce();
  run_ranks(2, [&](const Bootstrap& b) {
    const auto quiet = make_connected(b, one);
    const auto busy = make_connected(b, two);
    std::uint64_t in = 0;
    const std::uint64_t value = 4;
    const RequestId recv = quiet->post_recv(key_of(1 - b.rank, 1), call_of(1), &in, 8);
    while (quiet->progress() != 0) {
    }
    b.barrier();
    const RequestId send = quiet->post_send(1 - b.rank, key_of(b.rank, 1), call_of(1), &value, 8);
    ASSERT_TRUE(progress_until(*busy, [&] { return in == 4; }));
    b.barrier();  // nothing is on its way any more
    while (busy->progress() != 0) {
    }
    EXPECT_TRUE(quiet->has_news());
    EXPECT_NE(quiet->progress(), 0U);
    EXPECT_EQ(quiet->test(recv), RequestState::done);
    EXPECT_EQ(finish(*quiet, send), RequestState::done);
    b.barrier();
  });
}

TEST(TransportSharing, MailIsKeptForItsHandlerAndBounded) {
  constexpr std::uint32_t kSent = 3000;
  run_transports(2, [](const Bootstrap& b, Transport& transport) {
    if (b.rank == 0) {
      for (std::uint32_t i = 0; i < kSent; ++i) {
        ASSERT_TRUE(progress_until(transport, [&] { return transport.send_control(1, i, {}); }));
      }
      std::uint64_t value = 1;
      EXPECT_EQ(finish(transport, transport.post_send(1, key_of(0, 1), call_of(1), &value, 8)), RequestState::done);
      return;
    }
    ASSERT_TRUE(progress_until(transport, [&] { return transport.unexpected_messages() == 1; }));
    EXPECT_FALSE(transport.has_mail()) << "there is nobody to tell";
    std::vector<std::uint32_t> heard;
    transport.set_control_handler([&](int, std::uint32_t type, std::span<const std::byte>) { heard.push_back(type); });
    EXPECT_TRUE(transport.has_mail());
    EXPECT_EQ(transport.dispatch(), Transport::kMaxMail);
    EXPECT_EQ(heard.front(), kSent - Transport::kMaxMail);
    EXPECT_EQ(heard.back(), kSent - 1);
  });
}

/// One thread per rank and communicator, all at once: what ThreadSanitizer is to look at.
void exchange_in_a_thread(const Bootstrap& b, std::uint64_t nonce, unsigned seed) {
  constexpr std::uint64_t kRounds = 40;
  const auto transport = make_connected(b, nonce);
  std::uint64_t controls = 0;
  std::uint64_t wrong = 0;
  transport->set_control_handler([&](int, std::uint32_t type, std::span<const std::byte>) {
    ++controls;
    if (type != seed) ++wrong;
  });
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    EXPECT_TRUE(transport->send_control(1 - b.rank, seed, {}));
    exchange(*transport, b.rank, round, seed);
    (void)transport->failures();
    (void)transport->last_heard(1 - b.rank);
    EXPECT_EQ(transport->peer_state(1 - b.rank), PeerState::connected);
    if (transport->has_mail()) (void)transport->dispatch();
    (void)worker_of(b.rank).arm();
  }
  EXPECT_TRUE(progress_until(*transport, [&] { return controls == kRounds; }));
  EXPECT_TRUE(progress_until(*transport, [&] { return transport->flushed(); }));
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(transport->requests_in_flight(), 0U);
  b.barrier();
}

TEST(TransportSharing, ThreadsExchangeAtOnceOnOneWorker) {
  constexpr unsigned kCommunicators = 3;
  for (int round = 0; round < 2; ++round) {
    std::vector<std::thread> communicators;
    for (unsigned c = 0; c < kCommunicators; ++c) {
      communicators.emplace_back([c, nonce = fresh_nonce()] {
        run_ranks(2, [&](const Bootstrap& b) { exchange_in_a_thread(b, nonce, 100 * c); });
      });
    }
    for (std::thread& thread : communicators) thread.join();
  }
  EXPECT_EQ(worker_of(0).connections(), 1U);
}

}  // namespace
}  // namespace umbel::net
