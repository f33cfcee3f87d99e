// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Peers that leave, die or stop. The peer that dies is a process of its own: a thread cannot be killed. It is forked,
// so this program itself must never make a transport: every test runs in a fresh child (in_fresh_process).
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>

#include "base/error.hpp"
#include "transport_ranks.hpp"

namespace umbel::net {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using ::testing::HasSubstr;

void write_text(int fd, const std::string& text) {
  const std::uint64_t bytes = text.size();
  if (write(fd, &bytes, sizeof bytes) != static_cast<ssize_t>(sizeof bytes) ||
      write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    _exit(4);
  }
}

std::string read_text(int fd) {
  std::uint64_t bytes = 0;
  if (read(fd, &bytes, sizeof bytes) != static_cast<ssize_t>(sizeof bytes)) return {};
  std::string text(bytes, '\0');
  std::size_t got = 0;
  while (got < bytes) {
    const ssize_t part = read(fd, text.data() + got, bytes - got);
    if (part <= 0) return {};
    got += static_cast<std::size_t>(part);
  }
  return text;
}

/// A process that holds peer 1 and progresses until it is killed. To be made before the first transport.
class DoomedPeer {
 public:
  DoomedPeer() {
    if (pipe2(to_.data(), O_CLOEXEC) != 0 || pipe2(from_.data(), O_CLOEXEC) != 0) std::abort();
    pid_ = fork();
    if (pid_ == 0) live();
  }
  DoomedPeer(const DoomedPeer&) = delete;
  DoomedPeer& operator=(const DoomedPeer&) = delete;
  ~DoomedPeer() {
    send_signal(SIGCONT);
    send_signal(SIGKILL);
    waitpid(pid_, nullptr, 0);
    for (const int fd : {to_[0], to_[1], from_[0], from_[1]}) close(fd);
  }

  void connect_with(Transport& transport) {
    write_text(to_[1], transport.address());
    transport.connect(1, read_text(from_[0]));
    std::uint64_t hello = 0;
    const RequestId recv = transport.post_recv(key_of(1, 0), call_of(1), &hello, sizeof hello);
    ASSERT_EQ(finish(transport, recv), RequestState::done);
    ASSERT_EQ(hello, 77U);
  }
  void send_signal(int signal) const { kill(pid_, signal); }

 private:
  [[noreturn]] void live() const {
    const auto transport = make_transport(1, 2);
    write_text(from_[1], transport->address());
    transport->connect(0, read_text(to_[0]));
    const std::uint64_t hello = 77;
    (void)transport->post_send(0, key_of(1, 0), call_of(1), &hello, sizeof hello);
    while (true) transport->progress();
  }

  pid_t pid_ = -1;
  std::array<int, 2> to_{};
  std::array<int, 2> from_{};
};

/// Runs `body` in a fresh process, so that it may fork before it makes transports. Its failures fail this test.
void in_fresh_process(const std::function<void()>& body) {
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    int result = 2;
    try {
      body();
      result = testing::Test::HasFailure() ? 1 : 0;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "exception: %s\n", error.what());
    }
    std::fflush(nullptr);
    _exit(result);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "see above; wait status " << status;
}

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
  auto transport = make_transport(b.rank, 2);
  const auto addresses = all_gather_bytes(b, transport->address());
  transport->connect(1 - b.rank, addresses[static_cast<std::size_t>(1 - b.rank)]);
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

void send_and_go(const Bootstrap& b) {
  auto transport = make_transport(b.rank, 2);
  const auto addresses = all_gather_bytes(b, transport->address());
  transport->connect(1 - b.rank, addresses[static_cast<std::size_t>(1 - b.rank)]);
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
    for (int round = 0; round < 5; ++round) run_ranks(2, send_and_go);
  });
}

/// UCX 1.13 aborts when a worker is destroyed while a peer's connection is half open.
TEST(TransportFailure, ConnectedAndClosedAtOnce) {
  in_fresh_process([] {
    for (int round = 0; round < 10; ++round) {
      run_ranks(4, [round](const Bootstrap& b) {
        auto transport = make_transport(b.rank, 4);
        const auto addresses = all_gather_bytes(b, transport->address());
        for (int peer = 0; peer < 4; ++peer) {
          if (peer != b.rank) transport->connect(peer, addresses[static_cast<std::size_t>(peer)]);
        }
        progress_for(*transport, std::chrono::milliseconds((b.rank * 3 + round) % 4));
      });
    }
  });
}

}  // namespace
}  // namespace umbel::net
