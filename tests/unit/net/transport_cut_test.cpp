// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Connections that several communicators share, when they break or have to be cut.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "base/error.hpp"
#include "doomed_peer.hpp"

namespace umbel::net {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

/// The next communicator of both ranks connects anew, and works.
void expect_connects(const Bootstrap& b, std::uint64_t nonce) {
  const auto next = make_connected(b, nonce);
  std::uint64_t value = 5;
  std::uint64_t in = 0;
  const RequestId send = next->post_send(1 - b.rank, key_of(b.rank, 1), call_of(1), &value, 8);
  EXPECT_EQ(finish(*next, next->post_recv(key_of(1 - b.rank, 1), call_of(1), &in, 8)), RequestState::done);
  EXPECT_EQ(finish(*next, send), RequestState::done);
  EXPECT_EQ(in, 5U);
  b.barrier();
}
using ::testing::HasSubstr;

using Clock = std::chrono::steady_clock;

/// Does the peer still answer?
bool answers(Transport& transport) {
  bool heard = false;
  transport.set_control_handler([&](int, std::uint32_t type, std::span<const std::byte>) { heard = type == 8; });
  const bool sent = transport.send_control(1, 7, {});
  progress_until(
      transport, [&] { return heard; }, std::chrono::seconds(5));
  transport.set_control_handler({});
  return sent && heard;
}

TEST(TransportCut, AllThatShareAKilledPeerHearOfIt) {
  in_fresh_process([] {
    DoomedPeer doomed({1, 2});
    DoomedPeer third({3});
    const auto first = make_transport(0, 2, 1);
    const auto second = make_transport(0, 2, 2);
    const auto other = make_transport(0, 2, 3);
    doomed.connect_with(*first);
    doomed.connect_with(*second);
    third.connect_with(*other);
    EXPECT_EQ(worker_of(0).connections(), 2U);
    EXPECT_TRUE(answers(*first) && answers(*second) && answers(*other));
    std::uint64_t value = 0;
    const RequestId recv = first->post_recv(key_of(1, 1), call_of(1), &value, 8);
    doomed.send_signal(SIGKILL);
    // Nobody progresses the second one: it hears of it all the same.
    EXPECT_EQ(finish(*first, recv, std::chrono::seconds(5)), RequestState::failed);
    for (Transport* transport : {first.get(), second.get()}) {
      EXPECT_EQ(transport->peer_state(1), PeerState::failed);
      EXPECT_EQ(transport->failures(), 1U);
      EXPECT_FALSE(transport->failure_text(1).empty());
    }
    EXPECT_EQ(other->failures(), 0U);
    EXPECT_TRUE(answers(*other));
    EXPECT_EQ(worker_of(0).connections(), 1U) << "the broken one is given up";
  });
}

/// Rank 1 offers a large message and falls silent; rank 0 begins to fetch it, gives up and destroys its transport.
void abandon_a_rendezvous(const Bootstrap& b, const std::vector<std::uint64_t>& nonces) {
  constexpr std::size_t kBytes = 4 << 20;
  auto transport = make_connected(b, nonces[0]);
  const auto bystander = make_connected(b, nonces[1]);
  std::vector<unsigned char> data(kBytes, static_cast<unsigned char>(b.rank));
  if (b.rank == 1) {
    const RequestId send = transport->post_send(0, key_of(1, 1), call_of(1), data.data(), data.size());
    ASSERT_TRUE(progress_until(*transport, [&] { return transport->flushed(); }));
    b.barrier();  // rank 0 takes the offer, then goes
    b.barrier();
    // Done or failed: what UCX has taken may have left for a socket where it is dropped.
    EXPECT_NE(finish(*transport, send, std::chrono::seconds(5)), RequestState::pending);
    progress_for(*transport, std::chrono::milliseconds(200));
    EXPECT_EQ(bystander->peer_state(0), PeerState::failed) << "it shares the connection";
    b.barrier();
  } else {
    ASSERT_TRUE(progress_until(*transport, [&] { return transport->unexpected_messages() == 1; }));
    b.barrier();
    const RequestId recv = transport->post_recv(key_of(1, 1), call_of(1), data.data(), data.size());
    EXPECT_EQ(transport->test(recv), RequestState::pending);
    progress_for(*transport, std::chrono::milliseconds(20));
    transport->abandon(recv);
    const auto start = Clock::now();
    transport.reset();
    EXPECT_LT(Clock::now() - start, std::chrono::seconds(3));
    std::fill(data.begin(), data.end(), static_cast<unsigned char>(7));  // ours again
    EXPECT_EQ(bystander->peer_state(1), PeerState::failed);
    EXPECT_THAT(bystander->failure_text(1), HasSubstr("cut the connection"));
    b.barrier();
    progress_for(*bystander, std::chrono::milliseconds(300));
    b.barrier();
    EXPECT_EQ(std::count(data.begin(), data.end(), 7), static_cast<std::ptrdiff_t>(kBytes)) << "written after the end";
  }
  expect_connects(b, nonces[2]);
  EXPECT_EQ(worker_of(b.rank).connections(), 1U);
  b.barrier();
}

TEST(TransportCut, NothingIsWrittenAfterTheEnd) {
  in_fresh_process([] {
    const std::vector<std::uint64_t> nonces{1, 2, 3};
    run_ranks(2, [&](const Bootstrap& b) { abandon_a_rendezvous(b, nonces); });
  });
}

/// Rank 0 connects to one that never looks at it and sends; then it goes, and nothing may read its data any more.
void leave_half_open(const Bootstrap& b, const std::vector<std::uint64_t>& nonces) {
  auto transport = make_transport(b.rank, 2, nonces[0]);
  const auto addresses = all_gather_bytes(b, transport->address());
  if (b.rank == 0) {
    std::vector<unsigned char> data(4 << 20);
    transport->connect(1, addresses[1]);
    (void)transport->post_send(1, key_of(0, 1), call_of(1), data.data(), data.size());
    const auto start = Clock::now();
    transport.reset();
    EXPECT_LT(Clock::now() - start, std::chrono::seconds(3));
    b.barrier();
    for (const auto end = Clock::now() + std::chrono::milliseconds(200); Clock::now() < end;) worker_of(0).progress();
  } else {
    b.barrier();
    progress_for(*transport, std::chrono::milliseconds(200));
    EXPECT_EQ(transport->failures(), 0U) << "it never connected";
  }
  b.barrier();
  transport.reset();
  expect_connects(b, nonces[1]);
  b.barrier();
}

TEST(TransportCut, AHalfOpenConnectionCanBeCut) {
  in_fresh_process([] {
    const std::vector<std::uint64_t> nonces{1, 2};
    run_ranks(2, [&](const Bootstrap& b) { leave_half_open(b, nonces); });
  });
}

TEST(TransportCut, ControlsThatAStoppedPeerDoesNotTakeCutNothing) {
  in_fresh_process([] {
    DoomedPeer peer({1, 2});
    auto first = make_transport(0, 2, 1);
    const auto second = make_transport(0, 2, 2);
    peer.connect_with(*first);
    peer.connect_with(*second);
    peer.send_signal(SIGSTOP);
    const std::vector<std::byte> bytes(Transport::kMaxControlBytes);
    while (first->send_control(1, 1, bytes)) first->progress();
    const auto start = Clock::now();
    first.reset();
    EXPECT_LT(Clock::now() - start, std::chrono::seconds(3));
    EXPECT_EQ(second->peer_state(1), PeerState::connected) << second->failure_text(1);
    // What was still to be sent has outlived its transport, and leaves when it can.
    peer.send_signal(SIGCONT);
    EXPECT_TRUE(answers(*second));
    EXPECT_EQ(second->failures(), 0U);
  });
}

TEST(TransportCut, AConnectionMayBreakWhenNobodyUsesIt) {
  in_fresh_process([] {
    DoomedPeer peer({1});
    auto first = make_transport(0, 2, 1);
    const auto second = make_transport(0, 2, 2);
    peer.connect_with(*first);
    first.reset();
    EXPECT_EQ(worker_of(0).connections(), 1U);
    peer.send_signal(SIGKILL);
    EXPECT_TRUE(progress_until(*second, [] { return worker_of(0).connections() == 0; }));
    EXPECT_EQ(second->failures(), 0U);
  });
}

}  // namespace
}  // namespace umbel::net
