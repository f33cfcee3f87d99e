// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Several communicators of one process, with ranks as threads: at once, in turn, in any order, from several threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <thread>

#include "inproc/ranks.hpp"

namespace umbel::test {
namespace {

using namespace std::chrono_literals;
using runtime::Communicator;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::StartsWith;

class Communicators : public testing::TestWithParam<const char*> {};

std::unique_ptr<Communicator> make(Gathering& gathering, int rank, const runtime::CommOptions& options) {
  return Communicator::create(gathering.bootstrap(rank), options);
}

/// Every rank adds its number plus `base`; the sum is known.
void expect_sum(Communicator& comm, std::size_t count, std::int64_t base) {
  std::vector<std::int64_t> values(count, base + comm.info().rank);
  comm.all_reduce(values.data(), values.data(), count, DType::int64, RedOp::sum);
  const std::int64_t p = comm.info().ranks;
  EXPECT_THAT(values, Each(p * base + p * (p - 1) / 2));
}

TEST_P(Communicators, SeveralAtOnceInAnyOrderOfDestruction) {
  const Outcome outcome = run_threads(4, [&](int rank, Gathering& gathering) {
    std::vector<std::unique_ptr<Communicator>> comms;
    for (int k = 0; k < 4; ++k) comms.push_back(make(gathering, rank, test_options(GetParam())));
    for (int round = 0; round < 5; ++round)
      for (std::size_t k = 0; k < comms.size(); ++k)
        expect_sum(*comms[(k + static_cast<std::size_t>(round)) % comms.size()], 3000, 100 * static_cast<int>(k));
    comms[static_cast<std::size_t>(rank) % 4].reset();  // each rank begins with another one
    gathering.barrier();
    comms.clear();
  });
  EXPECT_THAT(outcome, Each(""));
}

TEST_P(Communicators, SubsetsShareTheConnectionsOfTheWhole) {
  std::array<Gathering, 2> halves{Gathering(2), Gathering(2)};
  const Outcome outcome = run_threads(4, [&](int rank, Gathering& gathering) {
    const auto whole = make(gathering, rank, test_options(GetParam()));
    // {0, 2} and {1, 3}: over the nodes of "2"
    const auto half =
        make(halves[static_cast<std::size_t>(rank % 2)], rank / 2, test_options(whole->info().nodes > 1 ? "0,1" : "1"));
    for (int k = 0; k < 10; ++k) {
      expect_sum(*half, 5000, rank % 2);
      expect_sum(*whole, 5000, 7);
    }
  });
  EXPECT_THAT(outcome, Each(""));
}

TEST_P(Communicators, TwoThreadsOfARankEachWithItsOwn) {
  std::array<Gathering, 2> worlds{Gathering(3), Gathering(3)};
  std::vector<std::thread> threads;
  std::array<std::string, 6> texts;
  for (int rank = 0; rank < 3; ++rank)
    for (int which = 0; which < 2; ++which)
      threads.emplace_back([&, rank, which] {
        texts[static_cast<std::size_t>(2 * rank + which)] = outcome_of([&] {
          const auto comm = make(worlds[static_cast<std::size_t>(which)], rank, test_options(GetParam()));
          for (int k = 0; k < 100; ++k) expect_sum(*comm, static_cast<std::size_t>(1 + 97 * k), which);
        });
      });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(texts, Each(""));
}

TEST_P(Communicators, FailureOfOneLeavesTheOthers) {
  const Outcome outcome = run_threads(3, [&](int rank, Gathering& gathering) {
    const auto good = make(gathering, rank, test_options(GetParam()));
    const auto bad = make(gathering, rank, test_options(GetParam()));
    std::vector<float> data(9000, 1.0F);
    const std::string text = outcome_of(
        [&] { bad->all_reduce(data.data(), data.data(), rank == 1 ? 8000U : 9000U, DType::fp32, RedOp::sum); });
    EXPECT_THAT(text, AllOf(StartsWith("Mismatch"), HasSubstr("rank 1 (")));
    expect_sum(*good, 4000, 3);
    gathering.barrier();  // the buffers of a failed call are off limits until it is destroyed
  });
  EXPECT_THAT(outcome, Each(""));
}

/// Ranks 0 and 1 of two nodes wait for each other in different communicators. Each is asked about the one that it is
/// not in, answers, and so both reports say where the other is not.
TEST(Communicators, WhoWaitsInOneAnswersForTheOthers) {
  std::vector<std::vector<float>> data(2, std::vector<float>(50000, 1.0F));
  const Outcome outcome = run_threads(2, [&](int rank, Gathering& gathering) {
    const auto first = make(gathering, rank, test_options("2", 1500ms));
    const auto second = make(gathering, rank, test_options("2", 1500ms));
    std::vector<float>& mine = data[static_cast<std::size_t>(rank)];
    const std::string text = outcome_of([&] {
      (rank == 0 ? *first : *second).all_reduce(mine.data(), mine.data(), mine.size(), DType::fp32, RedOp::sum);
    });
    EXPECT_THAT(text, AllOf(StartsWith("Timeout"), HasSubstr("has not called it")));
    gathering.barrier();
  });
  EXPECT_THAT(outcome, Each(""));
}

std::size_t descriptors() {
  const std::filesystem::directory_iterator open("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(open), end(open)));
}

std::size_t mappings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t lines = 0;
  for (std::string line; std::getline(maps, line);) lines += line.find("umbel-window") != std::string::npos ? 1 : 0;
  return lines;
}

TEST_P(Communicators, CyclesLeakNoDescriptorsAndNoMappings) {
  std::array<std::size_t, 2> before{};
  std::array<std::size_t, 2> after{};
  const Outcome outcome = run_threads(2, [&](int rank, Gathering& gathering) {
    for (int k = 0; k < 60; ++k) {
      if (k == 10) {  // nobody has one open for a moment
        gathering.barrier();
        if (rank == 0) before = {descriptors(), mappings()};
        gathering.barrier();
      }
      const auto comm = make(gathering, rank, test_options(GetParam()));
      expect_sum(*comm, 20000, k);
    }
    gathering.barrier();
    if (rank == 0) after = {descriptors(), mappings()};
    gathering.barrier();
  });
  EXPECT_THAT(outcome, Each(""));
  EXPECT_EQ(after[0], before[0]);
  EXPECT_LE(after[1], before[1]);
}

INSTANTIATE_TEST_SUITE_P(On, Communicators, testing::Values("1", "2"),
                         [](const auto& nodes) { return std::string(nodes.param) + "nodes"; });

}  // namespace
}  // namespace umbel::test
