// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Transports that work: ranks as threads, connected over the loopback.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>

#include "base/error.hpp"
#include "transport_ranks.hpp"

namespace umbel::net {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using ::testing::HasSubstr;

const std::vector<std::size_t> kSizes = {0, 1, 8, 256, 257, 4096, 65536, 1 << 20, 20 << 20};

TEST(Transport, ExpectedMessagesOfAllSizes) {
  run_transports(2, [](const Bootstrap& b, Transport& transport) {
    const int other = 1 - b.rank;
    std::uint64_t sequence = 0;
    for (const std::size_t bytes : kSizes) {
      const auto out = pattern(bytes, static_cast<unsigned>(b.rank));
      std::vector<unsigned char> in(bytes, 0xee);
      const RequestId recv = transport.post_recv(key_of(other, sequence), call_of(bytes), in.data(), bytes);
      b.barrier();  // both receives are posted: nothing is unexpected
      const RequestId send = transport.post_send(other, key_of(b.rank, sequence), call_of(bytes), out.data(), bytes);
      ASSERT_EQ(finish(transport, recv), RequestState::done) << bytes;
      ASSERT_EQ(finish(transport, send), RequestState::done) << bytes;
      EXPECT_EQ(in, pattern(bytes, static_cast<unsigned>(other))) << bytes;
      ++sequence;
    }
    EXPECT_EQ(transport.requests_in_flight(), 0U);
    EXPECT_EQ(transport.unexpected_messages(), 0U);
  });
}

TEST(Transport, UnexpectedMessagesReceivedBackwards) {
  run_transports(2, [](const Bootstrap& b, Transport& transport) {
    if (b.rank == 0) {
      std::vector<std::vector<unsigned char>> out;
      std::vector<RequestId> sends;
      for (std::size_t i = 0; i < kSizes.size(); ++i) {
        out.push_back(pattern(kSizes[i], static_cast<unsigned>(i)));
        const MessageKey key = key_of(0, 7, static_cast<std::uint32_t>(i));
        sends.push_back(transport.post_send(1, key, call_of(1), out.back().data(), kSizes[i]));
      }
      for (const RequestId send : sends) ASSERT_EQ(finish(transport, send), RequestState::done);
      return;
    }
    ASSERT_TRUE(progress_until(transport, [&] { return transport.unexpected_messages() == kSizes.size(); }));
    std::size_t total = 0;
    transport.for_each_unexpected([&](const MessageKey& key, const CallSummary& summary, std::uint64_t bytes) {
      EXPECT_EQ(key.source, 0);
      EXPECT_EQ(summary, call_of(1));
      total += bytes;
    });
    EXPECT_EQ(total, [] {
      std::size_t sum = 0;
      for (const std::size_t s : kSizes) sum += s;
      return sum;
    }());
    for (std::size_t i = kSizes.size(); i-- > 0;) {
      std::vector<unsigned char> in(kSizes[i]);
      const MessageKey key = key_of(0, 7, static_cast<std::uint32_t>(i));
      const RequestId recv = transport.post_recv(key, call_of(1), in.data(), in.size());
      ASSERT_EQ(finish(transport, recv), RequestState::done) << kSizes[i];
      EXPECT_EQ(in, pattern(kSizes[i], static_cast<unsigned>(i))) << kSizes[i];
    }
    EXPECT_EQ(transport.unexpected_messages(), 0U);
  });
}

TEST(Transport, ThreeRanksExchangeManyMessagesInAnyOrder) {
  constexpr std::uint32_t kMessages = 300;
  run_transports(3, [](const Bootstrap& b, Transport& transport) {
    std::vector<std::vector<std::uint64_t>> in(3, std::vector<std::uint64_t>(kMessages));
    std::vector<std::uint64_t> out(kMessages);
    std::vector<RequestId> requests;
    for (std::uint32_t i = 0; i < kMessages; ++i) out[i] = (static_cast<std::uint64_t>(b.rank) << 32U) | i;
    for (std::uint32_t i = 0; i < kMessages; ++i) {
      for (int peer = 0; peer < 3; ++peer) {
        if (peer == b.rank) continue;
        const std::uint32_t mine = (i * 7) % kMessages;  // in another order than the sends
        requests.push_back(
            transport.post_recv(key_of(peer, 1, mine), call_of(8), &in[static_cast<std::size_t>(peer)][mine], 8));
        requests.push_back(transport.post_send(peer, key_of(b.rank, 1, i), call_of(8), &out[i], 8));
      }
    }
    for (std::size_t i = requests.size(); i-- > 0;) ASSERT_EQ(finish(transport, requests[i]), RequestState::done);
    for (int peer = 0; peer < 3; ++peer) {
      for (std::uint32_t i = 0; peer != b.rank && i < kMessages; ++i) {
        ASSERT_EQ(in[static_cast<std::size_t>(peer)][i], (static_cast<std::uint64_t>(peer) << 32U) | i);
      }
    }
    EXPECT_EQ(transport.requests_in_flight(), 0U);
  });
}

TEST(Transport, DifferingCallsAreAMismatchWithBothValues) {
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{1} << 20U}) {
    for (const bool expected : {true, false}) {
      run_transports(2, [&](const Bootstrap& b, Transport& transport) {
        std::vector<unsigned char> data(bytes, static_cast<unsigned char>(b.rank));
        if (b.rank == 0) {
          b.barrier();
          const RequestId send = transport.post_send(1, key_of(0, 3), call_of(bytes, RedOp::max), data.data(), bytes);
          EXPECT_EQ(finish(transport, send), RequestState::done) << "the sender is let go";
          return;
        }
        RequestId recv = RequestId::none;
        const auto post = [&] {
          recv = transport.post_recv(key_of(0, 3), call_of(bytes, RedOp::min), data.data(), bytes);
        };
        if (expected) post();
        b.barrier();
        if (!expected) {
          ASSERT_TRUE(progress_until(transport, [&] { return transport.unexpected_messages() == 1; }));
          post();
        }
        ASSERT_EQ(finish(transport, recv), RequestState::mismatch);
        ASSERT_TRUE(transport.last_mismatch());
        EXPECT_EQ(transport.last_mismatch()->expected.op, RedOp::min);
        EXPECT_EQ(transport.last_mismatch()->found.op, RedOp::max);
        EXPECT_EQ(transport.last_mismatch()->key.source, 0);
        EXPECT_EQ(data, std::vector<unsigned char>(bytes, 1)) << "nothing was written";
        progress_for(transport, std::chrono::milliseconds(50));  // lets the sender's rendezvous end
      });
    }
  }
}

TEST(Transport, DifferingLengthIsAMismatch) {
  run_transports(2, [](const Bootstrap& b, Transport& transport) {
    std::vector<unsigned char> data(100);
    if (b.rank == 0) {
      EXPECT_EQ(finish(transport, transport.post_send(1, key_of(0, 3), call_of(1), data.data(), 60)),
                RequestState::done);
      return;
    }
    EXPECT_EQ(finish(transport, transport.post_recv(key_of(0, 3), call_of(1), data.data(), 100)),
              RequestState::mismatch);
    EXPECT_TRUE(transport.last_mismatch()->only_length());
    EXPECT_EQ(transport.last_mismatch()->expected_bytes, 100U);
    EXPECT_EQ(transport.last_mismatch()->found_bytes, 60U);
  });
}

TEST(Transport, UnexpectedHandlerHearsOfTheMessage) {
  run_transports(2, [](const Bootstrap& b, Transport& transport) {
    std::uint64_t value = 42;
    if (b.rank == 0) {
      EXPECT_EQ(finish(transport, transport.post_send(1, key_of(0, 9), call_of(3), &value, 8)), RequestState::done);
      return;
    }
    MessageKey heard;
    transport.set_unexpected_handler([&](const MessageKey& key, const CallSummary& summary, std::uint64_t bytes) {
      heard = key;
      EXPECT_EQ(summary, call_of(3));
      EXPECT_EQ(bytes, 8U);
    });
    ASSERT_TRUE(progress_until(transport, [&] { return heard == key_of(0, 9); }));
    transport.forget(9);
    EXPECT_EQ(transport.unexpected_messages(), 0U);
  });
}

TEST(Transport, ForgettingAnOperationFreesBothSidesOfTheTable) {
  run_transports(2, [](const Bootstrap& b, Transport& transport) {
    std::vector<unsigned char> big(1 << 20);
    if (b.rank == 0) {
      const RequestId send = transport.post_send(1, key_of(0, 1), call_of(1), big.data(), big.size());
      EXPECT_EQ(finish(transport, send), RequestState::done) << "dropped there, not stuck here";
      return;
    }
    const RequestId never = transport.post_recv(key_of(0, 1, 1), call_of(1), big.data(), big.size());
    ASSERT_TRUE(progress_until(transport, [&] { return transport.unexpected_messages() == 1; }));
    transport.forget(2);
    EXPECT_EQ(transport.unexpected_messages(), 1U) << "another operation's";
    transport.forget(1);
    EXPECT_EQ(transport.unexpected_messages(), 0U);
    EXPECT_EQ(transport.requests_in_flight(), 0U);
    EXPECT_THROW((void)transport.test(never), InvalidArgument);
    progress_for(transport, std::chrono::milliseconds(50));
  });
}

TEST(Transport, StrangersAreCountedAndNeverMatched) {
  const std::uint64_t strangers_before = worker_of(0).strangers();
  const auto host = make_transport(0, 2, fresh_nonce());
  const auto stranger = make_transport(1, 2, fresh_nonce());
  stranger->connect(0, host->address());
  host->connect(1, stranger->address());
  constexpr std::size_t kLarge = 4 << 20;  // no eager message, over whatever network
  std::vector<unsigned char> big(kLarge, 9);
  std::vector<unsigned char> in(kLarge, 3);
  const RequestId small = stranger->post_send(0, key_of(1, 1), call_of(1), big.data(), 8);
  const RequestId large = stranger->post_send(0, key_of(1, 2), call_of(1), big.data(), big.size());
  EXPECT_TRUE(stranger->send_control(0, 1, {}));
  const RequestId recv_small = host->post_recv(key_of(1, 1), call_of(1), in.data(), 8);
  const RequestId recv_large = host->post_recv(key_of(1, 2), call_of(1), in.data(), in.size());
  host->set_control_handler([](int, std::uint32_t, std::span<const std::byte>) { FAIL() << "a stranger's control"; });
  ASSERT_TRUE(progress_until(*host, [&] {
    stranger->progress();
    return worker_of(0).strangers() - strangers_before == 3;
  }));
  RequestState state = RequestState::pending;
  ASSERT_TRUE(progress_until(*host, [&] {
    stranger->progress();
    if (state == RequestState::pending) state = stranger->test(large);
    return state != RequestState::pending;
  }));
  EXPECT_EQ(state, RequestState::failed) << "a refused rendezvous tells its sender";
  EXPECT_EQ(finish(*stranger, small), RequestState::done);
  EXPECT_EQ(host->test(recv_small), RequestState::pending);
  EXPECT_EQ(host->test(recv_large), RequestState::pending);
  EXPECT_EQ(in, std::vector<unsigned char>(kLarge, 3));
  EXPECT_EQ(host->unexpected_messages(), 0U);
}

TEST(Transport, ControlMessagesArriveAndMayBeAnsweredInTheHandler) {
  run_transports(2, [](const Bootstrap& b, Transport& transport) {
    const int other = 1 - b.rank;
    std::string got;
    const auto before = transport.last_heard(other);
    transport.set_control_handler([&](int peer, std::uint32_t type, std::span<const std::byte> bytes) {
      EXPECT_EQ(peer, other);
      if (type == 1) EXPECT_TRUE(transport.send_control(peer, 2, bytes));
      if (type == 2) got.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    });
    const std::string text(Transport::kMaxControlBytes, static_cast<char>('a' + b.rank));
    b.barrier();
    EXPECT_TRUE(transport.send_control(other, 1, std::as_bytes(std::span(text))));
    ASSERT_TRUE(progress_until(transport, [&] { return !got.empty(); }));
    EXPECT_EQ(got, text);
    EXPECT_GT(transport.last_heard(other), before);
    const std::string longer = text + "x";
    EXPECT_THROW(transport.send_control(other, 1, std::as_bytes(std::span(longer))), InvalidArgument);
    progress_for(transport, std::chrono::milliseconds(50));  // the other one's question may still come
  });
}

TEST(Transport, ArmedWorkerWakesItsSleeper) {
  run_transports(2, [](const Bootstrap& b, Transport& transport) {
    std::uint64_t value = 5;
    if (b.rank == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      EXPECT_EQ(finish(transport, transport.post_send(1, key_of(0, 1), call_of(1), &value, 8)), RequestState::done);
      return;
    }
    const RequestId recv = transport.post_recv(key_of(0, 1), call_of(1), &value, 8);
    RequestState state = RequestState::pending;
    int sleeps = 0;
    while ((state = transport.test(recv)) == RequestState::pending) {
      if (transport.progress() != 0 || transport.has_news() || !worker_of(1).arm()) continue;
      pollfd ready{worker_of(1).event_fd(), POLLIN, 0};
      ASSERT_EQ(poll(&ready, 1, 10000), 1) << "slept through the message";
      ++sleeps;
    }
    EXPECT_EQ(state, RequestState::done);
    EXPECT_GE(sleeps, 1);
  });
}

TEST(Transport, FlushCostsNothingWhenNothingWasSent) {
  run_transports(2, [](const Bootstrap& b, Transport& transport) {
    EXPECT_TRUE(transport.flushed());
    const std::uint64_t value = 1;
    std::uint64_t in = 0;
    const RequestId send = transport.post_send(1 - b.rank, key_of(b.rank, 1), call_of(1), &value, 8);
    const RequestId recv = transport.post_recv(key_of(1 - b.rank, 1), call_of(1), &in, 8);
    EXPECT_TRUE(progress_until(transport, [&] { return transport.flushed(); }));
    EXPECT_TRUE(transport.flushed());
    EXPECT_EQ(finish(transport, send), RequestState::done);
    EXPECT_EQ(finish(transport, recv), RequestState::done);
  });
}

// What ranks that wait for long ask each other must not keep one in its call when its own wait is over: where both
// connect at the same time, one connection stands only when the other rank makes progress.
TEST(Transport, FlushDoesNotWaitForQuestionsOnAConnectionThatDoesNotStandYet) {
  for (int turn = 0; turn < 10; ++turn) {
    run_transports(2, [](const Bootstrap& b, Transport& transport) {
      EXPECT_TRUE(transport.send_control(1 - b.rank, 1, {}));
      if (b.rank == 0)
        EXPECT_TRUE(progress_until(
            transport, [&] { return transport.flushed(); }, std::chrono::seconds(2)));
      b.barrier();  // rank 1 makes no progress before
    });
  }
}

TEST(Transport, FlushDoesNotWaitForAPeerThatIsBusyElsewhere) {
  run_transports(2, [](const Bootstrap& b, Transport& transport) {
    // Both directions are in use, so that both connections stand.
    std::vector<unsigned char> data(4096);
    std::vector<unsigned char> in(4096);
    const RequestId recv = transport.post_recv(key_of(1 - b.rank, 1), call_of(1), in.data(), in.size());
    const RequestId send = transport.post_send(1 - b.rank, key_of(b.rank, 1), call_of(1), data.data(), data.size());
    EXPECT_EQ(finish(transport, send), RequestState::done);
    EXPECT_EQ(finish(transport, recv), RequestState::done);
    progress_for(transport, std::chrono::milliseconds(50));
    b.barrier();  // rank 1 makes no progress between here and the next barrier
    if (b.rank == 0) {
      const RequestId last = transport.post_send(1, key_of(0, 2), call_of(1), data.data(), data.size());
      EXPECT_EQ(finish(transport, last), RequestState::done);
      EXPECT_TRUE(progress_until(
          transport, [&] { return transport.flushed(); }, std::chrono::seconds(2)));
    }
    b.barrier();
    if (b.rank == 1) {
      const RequestId last = transport.post_recv(key_of(0, 2), call_of(1), in.data(), in.size());
      EXPECT_EQ(finish(transport, last), RequestState::done);
    }
  });
}

TEST(Transport, FlushWaitsForWhatTheSocketDoesNotTake) {
  constexpr std::uint32_t kMessages = 4000;  // 16 MB: more than the kernel buffers between two sockets
  run_transports(2, [](const Bootstrap& b, Transport& transport) {
    std::vector<unsigned char> data(4000);  // too small for a rendezvous
    const RequestId recv = transport.post_recv(key_of(1 - b.rank, 1), call_of(1), data.data(), 8);
    const RequestId send = transport.post_send(1 - b.rank, key_of(b.rank, 1), call_of(1), data.data(), 8);
    EXPECT_EQ(finish(transport, send), RequestState::done);
    EXPECT_EQ(finish(transport, recv), RequestState::done);
    progress_for(transport, std::chrono::milliseconds(50));
    b.barrier();
    std::vector<RequestId> sends;
    for (std::uint32_t i = 0; b.rank == 0 && i < kMessages; ++i) {
      sends.push_back(transport.post_send(1, key_of(0, 2, i), call_of(1), data.data(), data.size()));
    }
    if (b.rank == 0) {
      EXPECT_FALSE(progress_until(
          transport, [&] { return transport.flushed(); }, std::chrono::milliseconds(200)));
    }
    b.barrier();
    if (b.rank == 1) {
      EXPECT_TRUE(progress_until(transport, [&] { return transport.unexpected_messages() == kMessages; }));
      transport.forget(2);
      return;
    }
    EXPECT_TRUE(progress_until(transport, [&] { return transport.flushed(); }));
    for (const RequestId request : sends) EXPECT_EQ(finish(transport, request), RequestState::done);
  });
}

TEST(Transport, ALatePeerIsNotFlooded) {
  constexpr std::uint32_t kMessages = 64;
  constexpr std::size_t kBytes = 512 << 10;  // eager
  run_transports(2, [](const Bootstrap& b, Transport& transport) {
    std::vector<unsigned char> data(kBytes, static_cast<unsigned char>(7 + b.rank));
    std::vector<RequestId> sends;
    for (std::uint32_t i = 0; b.rank == 0 && i < kMessages; ++i)
      sends.push_back(transport.post_send(1, key_of(0, 1, i), call_of(1), data.data(), data.size()));
    progress_for(transport, std::chrono::milliseconds(300));
    b.barrier();
    if (b.rank == 0) {
      const auto gone =
          std::ranges::count_if(sends, [&](RequestId send) { return transport.test(send) == RequestState::done; });
      EXPECT_GE(gone, 4) << "some go ahead of their receives";
      EXPECT_LE(gone, 20) << "of 32 MiB no more than a part";
      progress_until(
          transport, [&] { return transport.requests_in_flight() == 0; }, std::chrono::seconds(1));
      b.barrier();
      EXPECT_TRUE(progress_until(transport, [&] { return transport.flushed(); }));
      return;
    }
    for (std::uint32_t i = 0; i < kMessages; ++i) {
      const RequestId recv = transport.post_recv(key_of(0, 1, i), call_of(1), data.data(), data.size());
      EXPECT_EQ(finish(transport, recv), RequestState::done);
    }
    EXPECT_EQ(data, std::vector<unsigned char>(kBytes, 7));
    b.barrier();
  });
}

TEST(Transport, AnOldRequestNumberIsNoticed) {
  run_transports(2, [](const Bootstrap& b, Transport& transport) {
    std::uint64_t value = 1;
    const RequestId recv = transport.post_recv(key_of(1 - b.rank, 1), call_of(1), &value, 8);
    EXPECT_EQ(transport.test(recv), RequestState::pending);
    transport.abandon(recv);
    EXPECT_EQ(transport.requests_in_flight(), 0U);
    EXPECT_THROW((void)transport.test(recv), InvalidArgument);
    const RequestId next = transport.post_recv(key_of(1 - b.rank, 1), call_of(1), &value, 8);
    EXPECT_NE(next, recv);
    EXPECT_THROW((void)transport.test(recv), InvalidArgument);
    transport.abandon(next);
    transport.abandon(next);
    EXPECT_THROW((void)transport.test(RequestId::none), InvalidArgument);
  });
}

TEST(Transport, MisuseIsRefused) {
  EXPECT_THROW(make_transport(2, 2), InvalidArgument);
  EXPECT_THROW(Transport{TransportOptions{}}, InvalidArgument) << "no worker";
  const auto transport = make_transport(0, 2);
  EXPECT_THROW(make_transport(0, 2), InvalidArgument) << "two communicators of one nonce";
  EXPECT_THROW(transport->connect(0, transport->address()), InvalidArgument);
  EXPECT_THROW(transport->connect(2, transport->address()), InvalidArgument);
  EXPECT_THROW(transport->connect(1, "nonsense"), InvalidArgument);
  EXPECT_EQ(transport->peer_state(1), PeerState::unknown);
  EXPECT_FALSE(transport->send_control(1, 1, {}));
  EXPECT_THROW(Worker("nosuch0"), InvalidArgument);
  EXPECT_THAT(transport->device_text(), HasSubstr("UCX 1."));
}

TEST(Transport, DevicesAreTakenByExactNameAndPrinted) {
  const Worker worker("lo");
  EXPECT_THAT(worker.device_text(), HasSubstr("devices: lo (as asked)"));
}

}  // namespace
}  // namespace umbel::net
