// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Sends, receives and groups of them, with ranks as threads: inside a node with and without a way to read each other's
// memory, between nodes, and both.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "inproc/ranks.hpp"

namespace umbel::test {
namespace {

using namespace std::chrono_literals;
using runtime::Communicator;
using runtime::Message;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::StartsWith;
using Bytes = std::vector<std::uint8_t>;

struct Layout {
  const char* name;
  int ranks;
  const char* placement;
  CmaMode cma = CmaMode::automatic;
};

runtime::CommOptions options_of(const Layout& layout, std::chrono::milliseconds timeout = 60s) {
  runtime::CommOptions options = test_options(layout.placement, timeout);
  options.config->cma = layout.cma;
  return options;
}

Message send(const void* buffer, std::size_t count, Rank peer, DType dtype = DType::uint8) {
  return {.direction = Message::Direction::send,
          .peer = peer,
          .buffer = const_cast<void*>(buffer),
          .count = count,
          .dtype = dtype};
}

Message recv(void* buffer, std::size_t count, Rank peer, DType dtype = DType::uint8) {
  return {.direction = Message::Direction::recv, .peer = peer, .buffer = buffer, .count = count, .dtype = dtype};
}

void together(Communicator& comm, const std::vector<Message>& messages) { comm.exchange(messages); }

/// What `from` sends to `to` as message `n`: no two are alike.
Bytes payload(int from, int to, int n, std::size_t bytes) {
  Bytes data(bytes);
  auto state = static_cast<std::uint32_t>(1 + from + 64 * to + 4096 * n);
  for (std::uint8_t& byte : data) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<std::uint8_t>(state >> 24U);
  }
  return data;
}

constexpr std::uint8_t kCanary = 0x5a;
constexpr std::size_t kCanaries = 8;

/// To be received into: as long as `bytes`, and canaries behind.
Bytes space(std::size_t bytes) { return Bytes(bytes + kCanaries, kCanary); }

void expect_arrived(const Bytes& received, Bytes sent) {
  sent.insert(sent.end(), kCanaries, kCanary);
  EXPECT_TRUE(received == sent) << "of " << sent.size() - kCanaries << " bytes";
}

constexpr std::array<std::size_t, 6> kSizes{0, 1, 255, 4097, 1U << 20U, (5U << 20U) + 3};

class PointToPoint : public testing::TestWithParam<Layout> {};

TEST_P(PointToPoint, ShiftsAroundARing) {
  const Outcome outcome = run_ranks(GetParam().ranks, options_of(GetParam()), [](Communicator& comm, Gathering&) {
    const int p = comm.info().ranks, me = comm.info().rank;
    const int right = (me + 1) % p, left = (me + p - 1) % p;
    for (std::size_t n = 0; n < kSizes.size(); ++n) {
      const Bytes out = payload(me, right, static_cast<int>(n), kSizes[n]);
      Bytes in = space(kSizes[n]);
      together(comm, {send(out.data(), out.size(), right), recv(in.data(), kSizes[n], left)});
      expect_arrived(in, payload(left, me, static_cast<int>(n), kSizes[n]));
    }
  });
  EXPECT_THAT(outcome, Each(""));
}

/// Everybody to everybody, itself included; what is received is asked for in another order than it is sent.
TEST_P(PointToPoint, AllPairsInAGroup) {
  const Outcome outcome = run_ranks(GetParam().ranks, options_of(GetParam()), [](Communicator& comm, Gathering&) {
    const int p = comm.info().ranks, me = comm.info().rank;
    const auto bytes = [](int from, int to) { return kSizes[static_cast<std::size_t>(3 * from + 5 * to) % 5]; };
    std::vector<Bytes> out, in;
    for (int peer = 0; peer < p; ++peer) {
      out.push_back(payload(me, peer, 0, bytes(me, peer)));
      in.push_back(space(bytes(peer, me)));
    }
    comm.group_start();
    for (int peer = 0; peer < p; ++peer) {
      const Bytes& data = out[static_cast<std::size_t>(peer)];
      together(comm, {send(data.data(), data.size(), peer)});
    }
    for (int peer = p - 1; peer >= 0; --peer)
      together(comm, {recv(in[static_cast<std::size_t>(peer)].data(), bytes(peer, me), peer)});
    comm.group_end();
    for (int peer = 0; peer < p; ++peer)
      expect_arrived(in[static_cast<std::size_t>(peer)], payload(peer, me, 0, bytes(peer, me)));
  });
  EXPECT_THAT(outcome, Each(""));
}

TEST_P(PointToPoint, MessagesOfAPairKeepTheirOrder) {
  constexpr std::array<std::size_t, 9> kRow{3, 100'000, 0, 17, 9000, 1, 700'001, 32'768, 12};
  const Outcome outcome = run_ranks(GetParam().ranks, options_of(GetParam()), [&](Communicator& comm, Gathering&) {
    const int p = comm.info().ranks, me = comm.info().rank;
    const int other = p - 1 - me;  // the outermost two, and so on inwards; the one in the middle is its own
    std::vector<Bytes> out, in;
    std::vector<Message> group;
    for (std::size_t n = 0; n < kRow.size(); ++n) {
      out.push_back(payload(me, other, static_cast<int>(n), kRow[n]));
      in.push_back(space(kRow[n]));
      group.push_back(send(out[n].data(), kRow[n], other));
      group.push_back(recv(in[n].data(), kRow[n], other));
    }
    together(comm, group);
    for (std::size_t n = 0; n < kRow.size(); ++n)
      expect_arrived(in[n], payload(other, me, static_cast<int>(n), kRow[n]));
  });
  EXPECT_THAT(outcome, Each(""));
}

/// One-way calls, one after another: the receiver is late, the sender runs ahead as far as it may.
TEST_P(PointToPoint, CallsOneAfterAnother) {
  constexpr int kCalls = 200;
  const Outcome outcome = run_ranks(GetParam().ranks, options_of(GetParam()), [](Communicator& comm, Gathering&) {
    const int p = comm.info().ranks, me = comm.info().rank;
    for (int n = 0; n < kCalls; ++n) {
      const std::size_t bytes = n % 20 == 19 ? 60'000 : static_cast<std::size_t>(n * 7);
      const Bytes out = payload(0, p - 1, n, bytes);
      Bytes in = space(bytes);
      std::vector<Message> messages;
      if (me == 0) messages.push_back(send(out.data(), bytes, p - 1));
      if (me == p - 1) messages.push_back(recv(in.data(), bytes, 0));
      together(comm, messages);
      if (me == p - 1) expect_arrived(in, out);
    }
  });
  EXPECT_THAT(outcome, Each(""));
}

TEST_P(PointToPoint, BesideStartedCollectives) {
  const Outcome outcome = run_ranks(GetParam().ranks, options_of(GetParam()), [](Communicator& comm, Gathering&) {
    const int p = comm.info().ranks, me = comm.info().rank;
    const int right = (me + 1) % p, left = (me + p - 1) % p;
    for (int round = 0; round < 6; ++round) {
      const std::size_t count = round % 2 == 0 ? 5 : 120'000;
      std::vector<std::int32_t> a(count, me + 1), b(count, me + 2);
      const auto sum = [&](std::vector<std::int32_t>& data) {
        return comm.start({.collective = Collective::all_reduce,
                           .send = data.data(),
                           .recv = data.data(),
                           .count = count,
                           .dtype = DType::int32,
                           .op = RedOp::sum});
      };
      const std::size_t bytes = kSizes[static_cast<std::size_t>(round) % 5];
      const Bytes out = payload(me, right, round, bytes);
      Bytes in = space(bytes);
      const auto first = sum(a);
      // Ranks call in different orders: what they wait for goes on all the same.
      if (me % 2 == 0) comm.wait(first);
      together(comm, {send(out.data(), bytes, right), recv(in.data(), bytes, left)});
      const auto second = sum(b);
      comm.wait(second);
      comm.wait(first);
      expect_arrived(in, payload(left, me, round, bytes));
      EXPECT_TRUE(a == std::vector<std::int32_t>(count, p * (p + 1) / 2));
      EXPECT_TRUE(b == std::vector<std::int32_t>(count, p * (p + 1) / 2 + p));
    }
  });
  EXPECT_THAT(outcome, Each(""));
}

/// Three groups and two collectives under way at once, waited for in another order than they were started in.
TEST_P(PointToPoint, GroupsThatReturnAtOnce) {
  constexpr std::array<std::size_t, 3> kBytes{300'000, 40, 2'000'000};
  const Outcome outcome = run_ranks(GetParam().ranks, options_of(GetParam()), [&](Communicator& comm, Gathering&) {
    const int p = comm.info().ranks, me = comm.info().rank;
    const int right = (me + 1) % p, left = (me + p - 1) % p;
    std::vector<Bytes> out, in;
    for (std::size_t n = 0; n < kBytes.size(); ++n) {
      out.push_back(payload(me, right, static_cast<int>(n), kBytes[n]));
      in.push_back(space(kBytes[n]));
    }
    std::vector<runtime::OperationRef> started;
    const auto start_group = [&](std::size_t n) {
      comm.group_start();
      together(comm, {recv(in[n].data(), kBytes[n], left), send(out[n].data(), kBytes[n], right)});
      started.push_back(comm.group_end_start());
    };
    start_group(0);
    started.push_back(comm.start({.collective = Collective::barrier}));
    start_group(1);
    comm.run({.collective = Collective::barrier});
    start_group(2);
    const Bytes last = payload(me, right, 3, 5000);
    Bytes received = space(5000);
    together(comm, {send(last.data(), 5000, right), recv(received.data(), 5000, left)});
    expect_arrived(received, payload(left, me, 3, 5000));
    while (!comm.test(started[3])) std::this_thread::yield();
    for (const auto& operation : started) comm.wait(operation);
    for (std::size_t n = 0; n < kBytes.size(); ++n)
      expect_arrived(in[n], payload(left, me, static_cast<int>(n), kBytes[n]));
  });
  EXPECT_THAT(outcome, Each(""));
}

INSTANTIATE_TEST_SUITE_P(On, PointToPoint,
                         testing::Values(Layout{"one_node", 4, ""}, Layout{"copied", 4, "", CmaMode::off},
                                         Layout{"two_nodes", 4, "2"}, Layout{"uneven", 5, "0,0,0,1,2"},
                                         Layout{"uneven_copied", 3, "0,0,1", CmaMode::off}, Layout{"alone", 1, ""}),
                         [](const auto& layout) { return std::string(layout.param.name); });

/// Two ranks, on one node (with memory that is read, and without) or on two.
class Pair : public testing::TestWithParam<Layout> {};

struct Elements {
  std::size_t count;
  DType dtype;
};

/// Rank 0 sends, rank 1 receives something else; who was through already learns it from its next call.
Outcome differing(const Layout& layout, const Elements& sent, const Elements& received) {
  std::vector<Bytes> buffers(2, Bytes(1U << 20U));  // the failed call's; they outlive the communicators
  return run_ranks(2, options_of(layout, 20s), [&](Communicator& comm, Gathering&) {
    const int me = comm.info().rank;
    void* const buffer = buffers[static_cast<std::size_t>(me)].data();
    const auto start = std::chrono::steady_clock::now();
    const std::string text = outcome_of([&] {
      if (me == 0) together(comm, {send(buffer, sent.count, 1, sent.dtype)});
      if (me == 1) together(comm, {recv(buffer, received.count, 0, received.dtype)});
      together(comm, {me == 0 ? recv(buffer, 1, 1) : send(buffer, 1, 0)});
    });
    EXPECT_LT(std::chrono::steady_clock::now() - start, 3s);  // a second, and a busy machine
    EXPECT_THAT(text, AllOf(StartsWith("Mismatch"), HasSubstr("rank 0 ("), HasSubstr("to rank 1 (")));
    throw MismatchError(text);
  });
}

TEST_P(Pair, DifferentCountsAreAMismatchOnBoth) {
  EXPECT_THAT(differing(GetParam(), {100, DType::fp32}, {200, DType::fp32}),
              Each(AllOf(HasSubstr("sends 100 × fp32"), HasSubstr("receives 200 × fp32"))));
  EXPECT_THAT(differing(GetParam(), {200'000, DType::fp32}, {0, DType::fp32}),
              Each(AllOf(HasSubstr("sends 200000 × fp32"), HasSubstr("receives 0 × fp32"))));
}

TEST_P(Pair, DifferentTypesAreAMismatchOnBoth) {
  EXPECT_THAT(differing(GetParam(), {1000, DType::fp32}, {1000, DType::int32}),
              Each(AllOf(HasSubstr("sends 1000 × fp32"), HasSubstr("receives 1000 × int32"))));
}

TEST_P(Pair, APartnerThatNeverCallsIsNamedAtTheDeadline) {
  constexpr std::size_t kCount = 3'000'000;  // more than a send leaves to the network before its receive is called
  std::vector<Bytes> buffers(2, Bytes(kCount * sizeof(float)));
  for (const bool sends : {true, false}) {
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::string> text(2);
    const Outcome outcome = run_ranks(2, options_of(GetParam(), 700ms), [&](Communicator& comm, Gathering& gathering) {
      const auto me = static_cast<std::size_t>(comm.info().rank);
      const Message mine =
          sends ? send(buffers[me].data(), kCount, 1, DType::fp32) : recv(buffers[me].data(), kCount, 1, DType::fp32);
      comm.all_reduce(buffers[me].data(), buffers[me].data(), 1, DType::uint8, RedOp::sum);
      if (me == 0) text[0] = outcome_of([&] { together(comm, {mine}); });
      gathering.barrier();
      // The one that did not call learns it at its next call.
      if (me == 1) text[1] = outcome_of([&] { together(comm, {recv(buffers[1].data(), 1, 0)}); });
      gathering.barrier();
    });
    EXPECT_THAT(outcome, Each(""));
    EXPECT_THAT(
        text,
        Each(AllOf(StartsWith("Timeout"), HasSubstr("no progress on rank 0 for 0.7 s"),
                   HasSubstr(sends ? "send of 3000000 × fp32 to rank 1 (" : "recv of 3000000 × fp32 from rank 1 ("))));
    EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
  }
}

TEST_P(Pair, APartnerThatHasLeftIsAPeerFailure) {
  std::string text;
  const Outcome outcome = run_threads(2, [&](int rank, Gathering& gathering) {
    auto comm = Communicator::create(gathering.bootstrap(rank), options_of(GetParam(), 20s));
    Bytes data(10);
    // What it sent before it left still arrives.
    if (rank == 1) together(*comm, {send(data.data(), 10, 0)});
    if (rank == 0) together(*comm, {recv(data.data(), 10, 1)});
    if (rank == 1) comm.reset();
    gathering.barrier();
    if (rank == 0) text = outcome_of([&] { together(*comm, {recv(data.data(), 10, 1)}); });
  });
  EXPECT_THAT(outcome, Each(""));
  EXPECT_THAT(text, AllOf(StartsWith("Peer"), HasSubstr("rank 1 ("), HasSubstr("recv of 10 × uint8 from rank 1 (")));
}

TEST_P(Pair, BadArgumentsAreRefusedAndTheCommunicatorStaysUsable) {
  const Outcome outcome = run_ranks(2, options_of(GetParam()), [](Communicator& comm, Gathering&) {
    const int me = comm.info().rank;
    Bytes data(64);
    const auto refused = [&](const std::vector<Message>& messages) {
      return outcome_of([&] { together(comm, messages); });
    };
    EXPECT_THAT(refused({send(data.data(), 1, 2)}), AllOf(StartsWith("Invalid"), HasSubstr("peer 2 is none")));
    EXPECT_THAT(refused({recv(data.data(), 1, -1)}), HasSubstr("peer -1 is none"));
    EXPECT_THAT(refused({recv(nullptr, 3, 1 - me)}), HasSubstr("recv is NULL while count is 3"));
    EXPECT_THAT(refused({send(data.data(), ~std::size_t{0}, 1 - me)}), HasSubstr("more bytes than fit"));
    EXPECT_THAT(refused({send(data.data(), 1, me), recv(data.data(), 1, 1 - me)}), HasSubstr("must meet in one group"));
    EXPECT_THAT(refused({send(data.data(), 1, me), recv(data.data() + 1, 2, me)}),
                HasSubstr("sends 1 × uint8 to itself"));
    EXPECT_THAT(outcome_of([&] { comm.group_end(); }), HasSubstr("no group was started"));
    comm.group_start();
    EXPECT_THAT(outcome_of([&] { comm.group_start(); }), HasSubstr("open already"));
    EXPECT_THAT(outcome_of([&] { comm.run({.collective = Collective::barrier}); }),
                HasSubstr("a collective in a group"));
    EXPECT_THAT(outcome_of([&] { comm.start({.collective = Collective::barrier}); }), StartsWith("Invalid"));
    together(comm, {send(nullptr, 0, 1 - me), recv(nullptr, 0, 1 - me)});
    comm.group_end();
    comm.group_start();
    comm.group_end();
    comm.run({.collective = Collective::barrier});
    together(comm, {send(data.data(), 8, 1 - me), recv(data.data() + 8, 8, 1 - me)});
  });
  EXPECT_THAT(outcome, Each(""));
}

INSTANTIATE_TEST_SUITE_P(On, Pair,
                         testing::Values(Layout{"one_node", 2, ""}, Layout{"copied", 2, "", CmaMode::off},
                                         Layout{"two_nodes", 2, "2"}),
                         [](const auto& layout) { return std::string(layout.param.name); });

}  // namespace
}  // namespace umbel::test
