// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Peers that leave, die or stop. The peer that dies is a process of its own: a thread cannot be killed. It is forked,
// so this program itself must never make a transport: every test runs in a fresh child (in_fresh_process).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "base/error.hpp"
#include "doomed_peer.hpp"

namespace umbel::net {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using ::testing::HasSubstr;

TEST(TransportFailure, KilledPeerIsReportedToAReceiver) {
  in_fresh_process([] {
    DoomedPeer peer;
    const auto transport = make_transport(0, 2);
    peer.connect_with(*transport);
    std::uint64_t value = 0;
    const RequestId recv = transport->post_recv(key_of(1, 1), call_of(1), &value, 8);
    EXPECT_EQ(transport->failures(), 0U);
    peer.send_signal(SIGKILL);
    EXPECT_EQ(finish(*transport, recv, std::chrono::seconds(5)), RequestState::failed);
    EXPECT_EQ(transport->peer_state(1), PeerState::failed);
    EXPECT_EQ(transport->failures(), 1U);
    EXPECT_THAT(transport->last_failure(), HasSubstr("rank 1: "));
    EXPECT_FALSE(transport->failure_text(1).empty());
    // Whatever is posted from now on fails at once, and nothing hangs.
    EXPECT_EQ(transport->test(transport->post_send(1, key_of(0, 2), call_of(1), &value, 8)), RequestState::failed);
    EXPECT_EQ(transport->test(transport->post_recv(key_of(1, 2), call_of(1), &value, 8)), RequestState::failed);
    EXPECT_FALSE(transport->send_control(1, 1, {}));
    EXPECT_TRUE(transport->flushed());
    EXPECT_EQ(transport->requests_in_flight(), 0U);
  });
}

TEST(TransportFailure, KilledPeerEndsALargeSend) {
  in_fresh_process([] {
    DoomedPeer peer;
    const auto transport = make_transport(0, 2);
    peer.connect_with(*transport);
    std::vector<unsigned char> big(32 << 20);
    const RequestId send = transport->post_send(1, key_of(0, 1), call_of(1), big.data(), big.size());
    progress_for(*transport, std::chrono::milliseconds(20));
    EXPECT_EQ(transport->test(send), RequestState::pending) << "no receive is posted there";
    peer.send_signal(SIGKILL);
    EXPECT_EQ(finish(*transport, send, std::chrono::seconds(5)), RequestState::failed);
    const auto start = std::chrono::steady_clock::now();
    EXPECT_TRUE(progress_until(
        *transport, [&] { return transport->flushed(); }, std::chrono::seconds(1)));
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  });
}

TEST(TransportFailure, StoppedPeerDoesNotHoldUpTheEnd) {
  in_fresh_process([] {
    DoomedPeer peer;
    auto transport = make_transport(0, 2);
    peer.connect_with(*transport);
    peer.send_signal(SIGSTOP);
    std::vector<unsigned char> big(32 << 20);
    const RequestId send = transport->post_send(1, key_of(0, 1), call_of(1), big.data(), big.size());
    const auto silent_since = transport->last_heard(1);
    progress_for(*transport, std::chrono::milliseconds(100));
    EXPECT_EQ(transport->last_heard(1), silent_since) << "a stopped peer raises no error, only silence";
    EXPECT_EQ(transport->peer_state(1), PeerState::connected);
    transport->mark_failed(1, "no heartbeat for 30 s");
    EXPECT_EQ(transport->test(send), RequestState::failed);
    EXPECT_EQ(transport->last_failure(), "rank 1: no heartbeat for 30 s");
    EXPECT_EQ(transport->failures(), 1U);
    const auto start = std::chrono::steady_clock::now();
    transport.reset();
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(4));
  });
}

TEST(TransportFailure, StoppedPeerWithoutAVerdictDoesNotHoldUpTheEndEither) {
  in_fresh_process([] {
    DoomedPeer peer;
    auto transport = make_transport(0, 2);
    peer.connect_with(*transport);
    peer.send_signal(SIGSTOP);
    std::vector<unsigned char> big(8 << 20);
    for (std::uint32_t i = 0; i < 2000; ++i) {  // more than the sockets take
      (void)transport->post_send(1, key_of(0, 1, i), call_of(1), big.data(), 4096);
    }
    progress_for(*transport, std::chrono::milliseconds(20));
    const auto start = std::chrono::steady_clock::now();
    transport.reset();
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(4));
  });
}

TEST(TransportFailure, ControlMessagesToAStoppedPeerDoNotPileUp) {
  in_fresh_process([] {
    DoomedPeer peer;
    const auto transport = make_transport(0, 2);
    peer.connect_with(*transport);
    peer.send_signal(SIGSTOP);
    const std::vector<std::byte> bytes(Transport::kMaxControlBytes);
    int taken = 0;  // what the sockets hold (some MiB), and few more
    while (taken < 20000 && transport->send_control(1, 1, bytes)) {
      ++taken;
      transport->progress();
    }
    EXPECT_LT(taken, 20000);
    EXPECT_TRUE(transport->send_control(1, 1, bytes, true));
  });
}

void leave_while_the_other_stays(const Bootstrap& b) {
  auto transport = make_connected(b, kNonce);
  std::uint64_t value = 5;
  const RequestId send = transport->post_send(1 - b.rank, key_of(b.rank, 1), call_of(1), &value, 8);
  EXPECT_EQ(finish(*transport, send), RequestState::done);
  if (b.rank == 1) {
    EXPECT_EQ(finish(*transport, transport->post_recv(key_of(0, 1), call_of(1), &value, 8)), RequestState::done);
    transport.reset();
    b.barrier();
    b.barrier();
    return;
  }
  b.barrier();
  ASSERT_TRUE(progress_until(*transport, [&] { return transport->peer_state(1) == PeerState::left; }));
  EXPECT_EQ(transport->failures(), 0U);
  // What it sent before it left is there.
  std::uint64_t last = 0;
  EXPECT_EQ(finish(*transport, transport->post_recv(key_of(1, 1), call_of(1), &last, 8)), RequestState::done);
  EXPECT_EQ(last, 5U);
  const RequestId never = transport->post_recv(key_of(1, 2), call_of(1), &last, 8);
  EXPECT_EQ(finish(*transport, never, std::chrono::seconds(5)), RequestState::failed);
  EXPECT_THAT(transport->last_failure(), HasSubstr("left"));
  progress_for(*transport, std::chrono::milliseconds(100));
  EXPECT_EQ(transport->failures(), 0U) << "closing its connection is no failure either";
  b.barrier();
}

TEST(TransportFailure, APeerThatLeavesIsNoFailureButItsRequestsEnd) {
  in_fresh_process([] { run_ranks(2, leave_while_the_other_stays); });
}

void send_and_go(const Bootstrap& b, std::uint64_t nonce) {
  auto transport = make_connected(b, nonce);
  std::vector<unsigned char> data = pattern(4096, 3);
  if (b.rank == 1) {
    const RequestId send = transport->post_send(0, key_of(1, 1), call_of(1), data.data(), data.size());
    EXPECT_EQ(finish(*transport, send), RequestState::done);
    transport.reset();  // at once: the data may still be on its way
    b.barrier();
    return;
  }
  std::vector<unsigned char> in(4096);
  const RequestId recv = transport->post_recv(key_of(1, 1), call_of(1), in.data(), in.size());
  EXPECT_EQ(finish(*transport, recv), RequestState::done);
  EXPECT_EQ(in, data);
  b.barrier();
}

TEST(TransportFailure, LastMessageArrivesThoughItsSenderIsGone) {
  in_fresh_process([] {
    for (int round = 0; round < 5; ++round) {
      const std::uint64_t nonce = fresh_nonce();
      run_ranks(2, [&](const Bootstrap& b) { send_and_go(b, nonce); });
    }
  });
}

TEST(TransportFailure, ConnectedAndClosedAtOnce) {
  in_fresh_process([] {
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t nonce = fresh_nonce();
      run_ranks(4, [&](const Bootstrap& b) {
        const auto transport = make_connected(b, nonce);
        progress_for(*transport, std::chrono::milliseconds((b.rank * 3 + round) % 4));
      });
    }
  });
}

}  // namespace
}  // namespace umbel::net
