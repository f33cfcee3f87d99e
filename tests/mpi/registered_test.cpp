// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Registered memory between processes. From a certain point on process_vm_readv is forbidden here, after communicators
// were made: what then still goes right was read through a mapping.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "inproc/registered.hpp"
#include "support/deny_cma.hpp"

namespace umbel::test {
namespace {

using runtime::Communicator;
using ::testing::HasSubstr;

std::unique_ptr<Communicator> make_comm(const std::string& nodes, CmaMode cma = CmaMode::automatic) {
  net::Bootstrap bootstrap{.rank = 0,
                           .size = 1,
                           .allgather =
                               [](const void* send, void* recv, std::size_t bytes) {
                                 const int length = static_cast<int>(bytes);
                                 MPI_Allgather(send, length, MPI_BYTE, recv, length, MPI_BYTE, MPI_COMM_WORLD);
                               },
                           .barrier = [] { MPI_Barrier(MPI_COMM_WORLD); }};
  MPI_Comm_rank(MPI_COMM_WORLD, &bootstrap.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &bootstrap.size);
  runtime::CommOptions options;
  options.config.emplace();
  options.config->timeout = std::chrono::seconds(60);
  options.config->window_bytes = 2U << 20U;
  options.config->tuning = "off";
  options.config->cma = cma;
  options.placement = nodes;
  options.registered = true;
  return Communicator::create(bootstrap, options);
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// Windows of other processes that this one may only read.
std::size_t mapped_for_reading() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);)
    if (line.find("umbel-window") != std::string::npos && line.find("r--s") != std::string::npos) ++count;
  return count;
}

constexpr std::size_t kMany = 500'000;  ///< elements: enough that reading them in place pays beyond doubt

/// An all-reduce, in place, of which inputs and results are read where they are, where that is to be had.
void check_all_reduce(Communicator& comm, const Case& c, const TakeMemory& take, std::size_t shift = 0) {
  constexpr const char* kAlgorithm = "two_shot";
  EXPECT_EQ(planned_direct(comm, c, kAlgorithm), comm.direct());
  comm.set_algorithm(fmt::format("all_reduce:{}", kAlgorithm));
  check_case(
      c, comm.info().rank, comm.info().ranks, Placed::in_place, shift,
      [&](const Case& one, const void* send, void* recv) { comm.all_reduce(send, recv, one.count, one.dtype, one.op); },
      take);
}

TEST(Registered, EveryAlgorithmWithAnyMix) {
  for (const char* nodes : {"1", "2"}) {
    const auto comm = make_comm(nodes);
    EXPECT_EQ(comm->model().direct_beta == comm->model().local_beta, comm->direct());
    EXPECT_NO_THROW(check_every_algorithm(*comm)) << nodes << " nodes";
  }
}

TEST(Registered, TheHintIsNotFollowedWithoutCma) {
  const auto comm = make_comm("1", CmaMode::off);
  EXPECT_FALSE(comm->direct());
  for (const std::uint64_t which : {0U, 1U})
    EXPECT_NO_THROW(check_all_reduce(*comm, {.count = 30'000}, registered_by(which)));
  EXPECT_EQ(mapped_for_reading(), 0U);
}

/// From here on nothing can be read by a system call.
class InPlace : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    one_node_ = make_comm("1");
    two_nodes_ = make_comm("2");
    for_messages_ = make_comm("1");
    denied_ = deny_cma(EPERM);
  }
  static void TearDownTestSuite() {
    for_messages_.reset();
    two_nodes_.reset();
    one_node_.reset();
  }
  void SetUp() override {
    ASSERT_TRUE(denied_ && one_node_);
    if (!one_node_->direct()) GTEST_SKIP() << "no process_vm_readv here: nothing is planned to be read in place";
  }

  /// Each rank sends to the next.
  static void check_ring(const TakeMemory& take) {
    constexpr std::size_t kCount = 50'000;
    const int p = for_messages_->info().ranks, me = for_messages_->info().rank;
    const auto send = take(kCount * 4), recv = take(kCount * 4);
    std::fill_n(send.get(), kCount * 4, std::byte(me + 1));
    for_messages_->exchange(std::vector<runtime::Message>{
        {runtime::Message::Direction::send, (me + 1) % p, send.get(), kCount, DType::int32},
        {runtime::Message::Direction::recv, (me + p - 1) % p, recv.get(), kCount, DType::int32}});
    EXPECT_EQ(std::count(recv.get(), recv.get() + kCount * 4, std::byte((me + p - 1) % p + 1)), kCount * 4);
  }

  static inline std::unique_ptr<Communicator> one_node_, two_nodes_, for_messages_;
  static inline bool denied_ = false;
};

TEST_F(InPlace, EveryAlgorithm) {
  int direct = 0;
  EXPECT_NO_THROW(direct += check_every_algorithm(*one_node_, 1, true));
  EXPECT_NO_THROW(direct += check_every_algorithm(*two_nodes_, 1, true));
  EXPECT_GT(direct, 3) << "nearly all were staged: there was little to see";
  EXPECT_GE(mapped_for_reading(), static_cast<std::size_t>(one_node_->info().ranks - 1));
}

TEST_F(InPlace, MemoryThatIsFreedAndGivenOutAgainBetweenCalls) {
  std::byte* last = nullptr;
  int again = 0;
  for (std::uint64_t k = 0; k < 8; ++k) {
    // Ranks allocate differently, so that the same address is here the old block and there a new one.
    const auto other = k % 3 == static_cast<std::uint64_t>(one_node_->info().rank) ? registered_memory(5000) : nullptr;
    const TakeMemory take = [&](std::size_t bytes) {
      auto taken = registered_memory(bytes);
      again += taken.get() == last ? 1 : 0;
      last = taken.get();
      return taken;
    };
    EXPECT_NO_THROW(check_all_reduce(*one_node_, {.count = kMany + k * 131, .dtype = DType::int32, .salt = k}, take));
  }
  EXPECT_GT(again, 2);
}

TEST_F(InPlace, OffsetsInsideOfOneOfManyAllocations) {
  const std::size_t mappings = mapped_for_reading();
  std::vector<std::shared_ptr<std::byte[]>> small;
  for (std::size_t k = 0; k < 200; ++k) small.push_back(registered_memory(64U << 10U));
  const auto large = registered_memory(kMany * 4 + 8192);
  for (std::uint64_t k = 0; k < 4; ++k) {
    const std::size_t offset = k * 700 + static_cast<std::size_t>(one_node_->info().rank);
    const TakeMemory inside = [&](std::size_t) { return std::shared_ptr<std::byte[]>(large, large.get() + offset); };
    EXPECT_NO_THROW(check_all_reduce(*one_node_, {.count = kMany, .dtype = DType::int32, .salt = k}, inside, k));
  }
  EXPECT_LE(mapped_for_reading(), mappings + 2 * static_cast<std::size_t>(one_node_->info().ranks)) << "few for many";
}

TEST_F(InPlace, Messages) {
  EXPECT_NO_THROW(check_ring(registered_memory));
  EXPECT_NO_THROW(check_ring(registered_memory));
}

TEST_F(InPlace, PartsOfACommunicatorFindOutForThemselves) {
  const std::size_t before = mapped_for_reading(), descriptors = open_descriptors();
  {
    const auto comm = one_node_->split(0, 0);
    EXPECT_FALSE(comm->direct());
    EXPECT_NO_THROW(check_all_reduce(*comm, {.count = kMany}, registered_memory));
  }
  EXPECT_EQ(mapped_for_reading(), before);
  EXPECT_EQ(open_descriptors(), descriptors);
}

/// The control of all of the above, and therefore after it: the communicators fail.
TEST_F(InPlace, WhatIsNotRegisteredWouldHaveFailed) {
  const auto expect_failure = [](const std::function<void()>& work) {
    try {
      work();
      ADD_FAILURE() << "it was not read by a system call";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("not permitted"));
    }
  };
  expect_failure([] { check_all_reduce(*one_node_, {.count = kMany}, from_heap); });
  expect_failure([] { check_ring(from_heap); });
}

TEST_F(InPlace, ACommunicatorsMappingsEndWithIt) {
  EXPECT_GT(mapped_for_reading(), 0U);
  TearDownTestSuite();
  EXPECT_EQ(mapped_for_reading(), 0U);
}

}  // namespace
}  // namespace umbel::test
