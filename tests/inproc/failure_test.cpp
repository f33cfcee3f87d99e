// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Calls that do not go as they should, with ranks as threads: the error is of the right class on every rank and names
// the rank that is odd or missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <thread>
#include <tuple>

#include "inproc/ranks.hpp"
#include "runtime/agreement.hpp"

namespace umbel::test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::StartsWith;

class OnNodes : public testing::TestWithParam<const char*> {};

struct Arguments {
  std::size_t count = 100;
  DType dtype = DType::fp32;
  RedOp op = RedOp::sum;
};

/// Four ranks call twice as agreed, then rank 2 with other arguments. The buffers outlive all ranks: those of a failed
/// call may still be read by others, which here share the address space.
Outcome with_odd_rank(const char* nodes, const Arguments& usual, const Arguments& odd) {
  std::vector<std::vector<double>> buffers(4, std::vector<double>(20000, 1.0));
  return run_ranks(4, test_options(nodes, 20s), [&](runtime::Communicator& comm, Gathering&) {
    std::vector<double>& data = buffers[static_cast<std::size_t>(comm.info().rank)];
    for (int k = 0; k < 2; ++k) comm.all_reduce(data.data(), data.data(), 10, DType::fp32, RedOp::sum);
    const Arguments& mine = comm.info().rank == 2 ? odd : usual;
    comm.all_reduce(data.data(), data.data(), mine.count, mine.dtype, mine.op);
    // A rank that got through all the same learns it at its next call.
    comm.all_reduce(data.data(), data.data(), 10, DType::fp32, RedOp::sum);
  });
}

TEST_P(OnNodes, DifferentCountsAreAMismatchOnEveryRank) {
  const Outcome outcome = with_odd_rank(GetParam(), {.count = 5000}, {.count = 5001});
  EXPECT_THAT(outcome, Each(AllOf(StartsWith("Mismatch"), HasSubstr("operation 3"), HasSubstr("rank 2 ("),
                                  HasSubstr("5001"), HasSubstr("5000"))));
}

TEST_P(OnNodes, SmallAgainstLargeIsAMismatchOnEveryRank) {
  const Outcome outcome = with_odd_rank(GetParam(), {.count = 4}, {.count = 20000});
  EXPECT_THAT(outcome, Each(AllOf(StartsWith("Mismatch"), HasSubstr("rank 2 ("), HasSubstr("20000"))));
}

TEST_P(OnNodes, DifferentTypesAreAMismatchOnEveryRank) {
  const Outcome outcome = with_odd_rank(GetParam(), {.count = 1000}, {.count = 1000, .dtype = DType::int32});
  EXPECT_THAT(outcome,
              Each(AllOf(StartsWith("Mismatch"), HasSubstr("rank 2 ("), HasSubstr("int32"), HasSubstr("fp32"))));
}

TEST_P(OnNodes, DifferentOperatorsAreAMismatchOnEveryRank) {
  const Outcome outcome = with_odd_rank(GetParam(), {.count = 3}, {.count = 3, .op = RedOp::max});
  EXPECT_THAT(outcome, Each(AllOf(StartsWith("Mismatch"), HasSubstr("rank 2 ("), HasSubstr("max"), HasSubstr("sum"))));
}

TEST_P(OnNodes, ARankThatNeverCallsIsNamedAtTheDeadline) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::string> text(4);
  const Outcome outcome =
      run_ranks(4, test_options(GetParam(), 1500ms), [&](runtime::Communicator& comm, Gathering& gathering) {
        float x[2000] = {};
        comm.all_reduce(x, x, 2000, DType::fp32, RedOp::sum);
        const int rank = comm.info().rank;
        if (rank != 1)
          text[static_cast<std::size_t>(rank)] =
              outcome_of([&] { comm.all_reduce(x, x, 2000, DType::fp32, RedOp::sum); });
        gathering.barrier();
        // The one that did not call learns it at its next call.
        if (rank == 1) text[1] = outcome_of([&] { comm.all_reduce(x, x, 2000, DType::fp32, RedOp::sum); });
        gathering.barrier();
      });
  EXPECT_THAT(outcome, Each(""));
  EXPECT_THAT(text, Each(AllOf(StartsWith("Timeout"), HasSubstr("Missing: rank 1 ("), HasSubstr("operation 2"))));
  EXPECT_LT(std::chrono::steady_clock::now() - start, 15s);
}

TEST_P(OnNodes, ADestroyedCommunicatorIsAPeerFailure) {
  std::vector<std::string> text(4);
  const Outcome outcome = run_threads(4, [&](int rank, Gathering& gathering) {
    auto comm = runtime::Communicator::create(gathering.bootstrap(rank), test_options(GetParam(), 20s));
    if (rank == 3) comm.reset();
    gathering.barrier();
    float x[2000] = {};
    if (comm)
      text[static_cast<std::size_t>(rank)] = outcome_of([&] { comm->all_reduce(x, x, 2000, DType::fp32, RedOp::sum); });
    gathering.barrier();
  });
  EXPECT_THAT(outcome, Each(""));
  text.pop_back();
  EXPECT_THAT(text, Each(AllOf(StartsWith("Peer"), HasSubstr("rank 3"))));
}

TEST_P(OnNodes, CountsThatChangeWithWhoIsLateAreNoMismatch) {
  const Outcome outcome = run_ranks(4, test_options(GetParam(), 20s), [](runtime::Communicator& comm, Gathering&) {
    float x[64] = {};
    for (std::size_t call = 0; call < 6; ++call) {
      // Longer than the stall protocol waits before it collects who is in the call, and with what arguments.
      if (comm.info().rank == static_cast<int>(3 - call % 3)) std::this_thread::sleep_for(300ms);
      comm.all_reduce(x, x, 8 + call, DType::fp32, RedOp::sum);
    }
  });
  EXPECT_THAT(outcome, Each(""));
}

INSTANTIATE_TEST_SUITE_P(Placements, OnNodes, testing::Values("", "2"),
                         [](const auto& i) { return *i.param == '\0' ? "one_node" : "two_nodes"; });

TEST(Silence, ARankThatIsLateForLongIsNoFailure) {
  runtime::CommOptions options = test_options("0,1,2", 60s);
  options.algorithm = "ring";
  const Outcome outcome = run_ranks(3, options, [](runtime::Communicator& comm, Gathering&) {
    std::vector<float> x(300000, 1.0F);
    comm.all_reduce(x.data(), x.data(), x.size(), DType::fp32, RedOp::sum);
    // Longer than the 10 s after which a silent partner that is inside the call is given up.
    if (comm.info().rank == 2) std::this_thread::sleep_for(12500ms);
    comm.all_reduce(x.data(), x.data(), x.size(), DType::fp32, RedOp::sum);
    EXPECT_EQ(x[0], 9.0F);
  });
  EXPECT_THAT(outcome, Each(""));
}

class WaitModes : public testing::TestWithParam<std::tuple<WaitMode, const char*>> {};

TEST_P(WaitModes, CallsWorkAndTheDeadlineIsKept) {
  const auto [mode, nodes] = GetParam();
  runtime::CommOptions options = test_options(nodes, 700ms);
  options.config->wait = mode;
  std::vector<std::string> text(3);
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = run_ranks(3, options, [&](runtime::Communicator& comm, Gathering& gathering) {
    std::vector<float> x(3000);
    for (int call = 0; call < 20; ++call) {
      std::ranges::fill(x, 1.0F);
      comm.all_reduce(x.data(), x.data(), call % 2 == 0 ? 3 : x.size(), DType::fp32, RedOp::sum);
      EXPECT_EQ(x[0], 3.0F);
    }
    const int rank = comm.info().rank;
    if (rank != 2)
      text[static_cast<std::size_t>(rank)] =
          outcome_of([&] { comm.all_reduce(x.data(), x.data(), x.size(), DType::fp32, RedOp::sum); });
    gathering.barrier();
  });
  EXPECT_THAT(outcome, Each(""));
  text.pop_back();
  EXPECT_THAT(text, Each(AllOf(StartsWith("Timeout"), HasSubstr("Missing: rank 2 ("))));
  EXPECT_LT(std::chrono::steady_clock::now() - start, 15s);
}

std::string name_of_mode(const testing::TestParamInfo<std::tuple<WaitMode, const char*>>& info) {
  constexpr const char* kNames[] = {"automatic", "spin", "yield", "sleep"};
  const auto [mode, nodes] = info.param;
  return std::string(kNames[static_cast<int>(mode)]) + (*nodes == '\0' ? "_one_node" : "_two_nodes");
}

INSTANTIATE_TEST_SUITE_P(Modes, WaitModes,
                         testing::Combine(testing::Values(WaitMode::automatic, WaitMode::spin, WaitMode::yield,
                                                          WaitMode::sleep),
                                          testing::Values("", "2")),
                         name_of_mode);

TEST(Creation, ABadPlacementIsAnErrorOnEveryRank) {
  const Outcome outcome = run_ranks(3, test_options("0,1"), [](runtime::Communicator&, Gathering&) {});
  EXPECT_THAT(outcome, Each(AllOf(StartsWith("Invalid"), HasSubstr("2 entries for 3 ranks"))));
}

TEST(Creation, AnErrorOfOneRankIsAnErrorOnEveryRank) {
  const Outcome outcome = run_threads(3, [](int rank, Gathering& gathering) {
    runtime::CommOptions options = test_options();
    if (rank == 1) options.algorithm = "magic";
    runtime::Communicator::create(gathering.bootstrap(rank), options);
  });
  EXPECT_THAT(outcome, Each(AllOf(StartsWith("Invalid"), HasSubstr("magic"))));
  EXPECT_THAT(outcome[0], HasSubstr("rank 1"));
}

/// The gathering's bootstrap, but the transport's address of rank 1 arrives broken.
net::Bootstrap with_a_broken_address(Gathering& gathering, int rank) {
  net::Bootstrap bootstrap = gathering.bootstrap(rank);
  bootstrap.allgather = [&gathering, rank](const void* send, void* recv, std::size_t bytes) {
    gathering.allgather(rank, send, recv, bytes);
    std::uint64_t length = 0;  // an address says first how long its larger part is; nothing else that is gathered does
    if (bytes >= sizeof(length)) std::memcpy(&length, static_cast<std::byte*>(recv) + bytes, sizeof(length));
    if (length > 20 && length < bytes) std::memset(static_cast<std::byte*>(recv) + bytes, 0, sizeof(length));
  };
  return bootstrap;
}

TEST(Creation, ANetworkThatOneRankCannotMeasureIsAnErrorOnEveryRank) {
  const Outcome outcome = run_threads(2, [](int rank, Gathering& gathering) {
    const auto bootstrap = rank == 0 ? with_a_broken_address(gathering, rank) : gathering.bootstrap(rank);
    runtime::Communicator::create(bootstrap, test_options("2"));
  });
  EXPECT_THAT(outcome, Each(AllOf(StartsWith("Invalid"), HasSubstr("not an address"))));
  EXPECT_THAT(outcome[1], HasSubstr("rank 0 could not measure the network"));
}

TEST(Creation, DifferentVersionsAreNamed) {
  const Outcome outcome = run_threads(3, [](int rank, Gathering& gathering) {
    runtime::shake_hands(gathering.bootstrap(rank), rank == 2 ? "1.2.4" : "1.2.3", "");
  });
  EXPECT_THAT(outcome, Each(AllOf(StartsWith("Invalid"), HasSubstr("rank 2"), HasSubstr("1.2.3"), HasSubstr("1.2.4"))));
}

TEST(Creation, DifferentConfigurationsAreNamed) {
  const Outcome outcome = run_threads(3, [](int rank, Gathering& gathering) {
    runtime::CommOptions options = test_options();
    if (rank == 2) options.config->window_bytes *= 2;
    runtime::Communicator::create(gathering.bootstrap(rank), options);
  });
  EXPECT_THAT(outcome,
              Each(AllOf(StartsWith("Invalid"), HasSubstr("UMBEL_WINDOW_BYTES"), HasSubstr("2M"), HasSubstr("4M"))));
}

TEST(Creation, ARankClaimedTwiceIsNamed) {
  const Outcome outcome = run_threads(3, [](int rank, Gathering& gathering) {
    net::Bootstrap bootstrap = gathering.bootstrap(rank);
    if (rank == 2) bootstrap.rank = 1;
    runtime::Communicator::create(bootstrap, test_options());
  });
  EXPECT_THAT(outcome, Each(AllOf(StartsWith("Invalid"), HasSubstr("rank 1 is claimed twice"))));
}

TEST(Arguments, BadOnesAreRefusedAndTheCommunicatorStaysUsable) {
  const Outcome outcome = run_ranks(2, test_options(), [](runtime::Communicator& comm, Gathering&) {
    float x[8] = {};
    EXPECT_THAT(outcome_of([&] { comm.all_reduce(nullptr, x, 4, DType::fp32, RedOp::sum); }), StartsWith("Invalid"));
    EXPECT_THAT(outcome_of([&] { comm.all_reduce(x, x + 1, 4, DType::fp32, RedOp::sum); }), HasSubstr("overlap"));
    EXPECT_THAT(outcome_of([&] { comm.all_reduce(x, x, ~std::size_t{0}, DType::fp32, RedOp::sum); }),
                HasSubstr("more bytes than fit"));
    comm.all_reduce(nullptr, nullptr, 0, DType::fp32, RedOp::sum);
    comm.all_reduce(x, x + 4, 4, DType::fp32, RedOp::sum);
  });
  EXPECT_THAT(outcome, Each(""));
}

}  // namespace
}  // namespace umbel::test
