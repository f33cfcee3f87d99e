// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Operations that were started: several under way, waited for in any order, tested, left to the progress thread; and
// communicators made of communicators. Ranks as threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "inproc/ranks.hpp"

namespace umbel::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;

void expect_all_right(const Outcome& outcome) {
  for (std::size_t rank = 0; rank < outcome.size(); ++rank) EXPECT_EQ(outcome[rank], "") << "rank " << rank;
}

void demand(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

runtime::CallArgs sum_of(const std::vector<float>& send, std::vector<float>& recv) {
  return {.collective = Collective::all_reduce,
          .send = send.data(),
          .recv = recv.data(),
          .count = recv.size(),
          .dtype = DType::fp32,
          .op = RedOp::sum};
}

class Operations : public testing::TestWithParam<const char*> {};

TEST_P(Operations, ManyUnderWayAreWaitedForInAnyOrder) {
  constexpr int kRanks = 4;
  expect_all_right(run_ranks(kRanks, test_options(GetParam()), [](runtime::Communicator& comm, Gathering&) {
    constexpr std::size_t kOperations = 24;
    std::mt19937 random(static_cast<unsigned>(comm.info().rank) + 17);
    std::vector<std::vector<float>> send, recv;
    std::vector<runtime::OperationRef> started;
    for (std::size_t n = 0; n < kOperations; ++n) {
      const std::size_t count = n % 3 == 0 ? 5 : 3000 * n;
      send.emplace_back(count, static_cast<float>(n + static_cast<std::size_t>(comm.info().rank)));
      recv.emplace_back(count, -1.0F);
    }
    for (std::size_t n = 0; n < kOperations; ++n) {
      started.push_back(comm.start(sum_of(send[n], recv[n])));
      if (n == 7) {  // a blocking call in between takes its turn
        float one = 1, all = 0;
        comm.all_reduce(&one, &all, 1, DType::fp32, RedOp::sum);
        demand(all == kRanks && started[6]->done, "a blocking call overtook what was started before");
      }
    }
    std::vector<std::size_t> order(kOperations);
    for (std::size_t n = 0; n < kOperations; ++n) order[n] = n;
    std::ranges::shuffle(order, random);
    for (const std::size_t n : order) {
      comm.wait(started[n]);
      const float expected = static_cast<float>(kRanks * n + kRanks * (kRanks - 1) / 2);
      demand(std::ranges::all_of(recv[n], [&](float x) { return x == expected; }), "a wrong sum");
      demand(started[n]->info.algorithm != nullptr, "no word of what ran");
    }
  }));
}

TEST_P(Operations, TestsAloneBringThemToTheirEnd) {
  expect_all_right(run_ranks(3, test_options(GetParam()), [](runtime::Communicator& comm, Gathering&) {
    std::vector<float> a(100'000, 1.0F), b(100'000), c(7, 2.0F), d(7);
    const auto first = comm.start(sum_of(a, b)), second = comm.start(sum_of(c, d));
    const auto deadline = std::chrono::steady_clock::now() + 30s;
    bool one = false, two = false;
    while (!(one && two) && std::chrono::steady_clock::now() < deadline) {
      one = comm.test(first);
      two = comm.test(second);
      std::this_thread::yield();
    }
    demand(one && two && b.back() == 3 && d.back() == 6, "not done, or wrong");
    demand(comm.test(first), "a second look says otherwise");
  }));
}

TEST_P(Operations, TheProgressThreadNeedsNobody) {
  auto options = test_options(GetParam());
  options.config->progress_thread = true;
  expect_all_right(run_ranks(3, options, [](runtime::Communicator& comm, Gathering& gathering) {
    for (int turn = 0; turn < 5; ++turn) {
      std::vector<float> a(50'000, 1.0F), b(50'000);
      const auto operation = comm.start(sum_of(a, b));
      gathering.barrier();  // outside of the library
      const auto deadline = std::chrono::steady_clock::now() + 30s;
      while (!operation->done && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(1ms);
      demand(operation->done, "not done without a call");
      comm.wait(operation);
      demand(b.back() == 3, "a wrong sum");
      gathering.barrier();
    }
  }));
}

TEST_P(Operations, AFailureEndsAllOfThem) {
  const Outcome outcome =
      run_ranks(2, test_options(GetParam(), 400ms), [](runtime::Communicator& comm, Gathering& gathering) {
        std::vector<float> a(1000, 1.0F), b(1000), c(1000);
        const bool absent = comm.info().rank == 1;
        if (!absent) {
          const auto first = comm.start(sum_of(a, b)), second = comm.start(sum_of(a, c));
          const std::string text = outcome_of([&] { comm.wait(second); });
          EXPECT_THAT(text, StartsWith("Timeout"));
          EXPECT_TRUE(first->done && second->done);
          EXPECT_EQ(outcome_of([&] { comm.wait(first); }), text);
          EXPECT_THAT(outcome_of([&] { comm.start(sum_of(a, b)); }), StartsWith("Timeout"));
        }
        gathering.barrier();
      });
  expect_all_right(outcome);
}

TEST_P(Operations, WrongArgumentsStartNothing) {
  expect_all_right(run_ranks(2, test_options(GetParam()), [](runtime::Communicator& comm, Gathering&) {
    std::vector<float> a(10, 1.0F), b(10);
    EXPECT_THAT(outcome_of([&] {
                  comm.start({.collective = Collective::broadcast, .send = a.data(), .recv = b.data(), .root = 2});
                }),
                HasSubstr("root 2"));
    comm.set_algorithm("one_shot");
    const auto refused = comm.start(sum_of(a, b));
    const std::string text = outcome_of([&] { comm.wait(refused); });
    if (comm.info().nodes > 1)
      EXPECT_THAT(text, StartsWith("Unsupported"));
    else
      EXPECT_EQ(text, "");
    comm.set_algorithm("auto");
    comm.wait(comm.start(sum_of(a, b)));
    EXPECT_EQ(b.back(), 2);
  }));
}

TEST_P(Operations, PartsOfACommunicator) {
  expect_all_right(run_ranks(5, test_options(GetParam()), [](runtime::Communicator& comm, Gathering&) {
    const Rank me = comm.info().rank;
    // odd and even ranks, numbered from the last to the first; rank 4 in none
    const auto part = comm.split(me == 4 ? -1 : me % 2, -me);
    demand((part == nullptr) == (me == 4), "in a part without a color, or in none with one");
    const auto again = comm.split(0, me);
    demand(again->info().ranks == 5 && again->info().rank == me, "a duplicate of other ranks");
    demand(again->shape() == comm.shape(), "a duplicate on other nodes");
    for (int turn = 0; turn < 3; ++turn) {
      float mine = static_cast<float>(me), sum = 0;
      if (part) {
        demand(part->info().ranks == 2 && part->info().rank == (me < 2 ? 1 : 0), "another order than that of the keys");
        part->all_reduce(&mine, &sum, 1, DType::fp32, RedOp::sum);
        demand(sum == (me % 2 == 0 ? 2.0F : 4.0F), "a wrong sum in a part");
      }
      again->all_reduce(&mine, &sum, 1, DType::fp32, RedOp::sum);
      demand(sum == 10, "a wrong sum in the duplicate");
      comm.all_reduce(&mine, &sum, 1, DType::fp32, RedOp::sum);
      demand(sum == 10, "a wrong sum");
    }
  }));
}

TEST_P(Operations, OnDifferentCommunicatorsInDifferentOrders) {
  expect_all_right(run_ranks(4, test_options(GetParam()), [](runtime::Communicator& comm, Gathering&) {
    std::vector<std::unique_ptr<runtime::Communicator>> own;
    std::vector<std::vector<float>> send, recv;
    for (int n = 0; n < 3; ++n) {
      own.push_back(comm.split(0, comm.info().rank));
      send.emplace_back(20'000);
      recv.emplace_back(20'000);
    }
    for (int turn = 0; turn < 4; ++turn) {
      std::vector<runtime::OperationRef> started(own.size());
      for (std::size_t k = 0; k < own.size(); ++k) {  // each rank begins with another one
        const std::size_t n = (k + static_cast<std::size_t>(comm.info().rank)) % own.size();
        std::ranges::fill(send[n], static_cast<float>(turn * 10 + static_cast<int>(n)));
        started[n] = own[n]->start(sum_of(send[n], recv[n]));
      }
      for (std::size_t n = 0; n < own.size(); ++n) {
        own[n]->wait(started[n]);
        demand(recv[n].front() == static_cast<float>(4 * (turn * 10 + static_cast<int>(n))), "stale data");
      }
    }
  }));
}

INSTANTIATE_TEST_SUITE_P(On, Operations, testing::Values("", "2"),
                         [](const auto& i) { return *i.param == '\0' ? "one_node" : "two_nodes"; });

}  // namespace
}  // namespace umbel::test
