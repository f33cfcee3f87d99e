// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Registered memory with ranks as threads, in communicators that expect it: plans that read in place, and memory of the
// library's own that is registered too. What processes map of each other: tests/mpi/registered_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "algos/algorithm.hpp"
#include "inproc/placement.hpp"
#include "inproc/ranks.hpp"
#include "inproc/registered.hpp"
#include "inproc/share_cases.hpp"
#include "support/sanitized.hpp"

namespace umbel::test {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

runtime::CommOptions expecting_registered(const std::string& nodes) {
  runtime::CommOptions options = test_options(nodes);
  options.registered = true;
  return options;
}

class Registered : public testing::TestWithParam<Placement> {};

TEST_P(Registered, EveryAlgorithmWithAnyMix) {
  EXPECT_THAT(
      run_ranks(GetParam().ranks, expecting_registered(GetParam().nodes),
                [](runtime::Communicator& comm, Gathering&) { check_every_algorithm(comm, kSanitized ? 7 : 2); }),
      Each(""));
}

INSTANTIATE_TEST_SUITE_P(On, Registered, placed_on({Placement{3, ""}, Placement{4, "0,1,0,1"}}), name_of_placement);

TEST(RegisteredHint, IsPricedAsReadsOfAWindow) {
  EXPECT_THAT(run_ranks(2, expecting_registered(""),
                        [](runtime::Communicator& comm, Gathering&) {
                          if (!comm.direct() || comm.model().direct_beta != comm.model().local_beta)
                            throw std::runtime_error("not priced as reads in place");
                        }),
              Each(""));
}

TEST(RegisteredHint, IsTheSameOnAllRanks) {
  const Outcome outcome = run_threads(2, [](int rank, Gathering& gathering) {
    runtime::CommOptions options = test_options();
    options.registered = rank == 1;
    (void)runtime::Communicator::create(gathering.bootstrap(rank), options);
  });
  EXPECT_THAT(outcome, Each(HasSubstr("UMBEL_REGISTERED")));
}

TEST(RegisteredHint, OfACommunicatorHoldsForThoseMadeOfIt) {
  EXPECT_THAT(run_ranks(2, expecting_registered(""),
                        [](runtime::Communicator& comm, Gathering&) {
                          const auto made = comm.split(0, 0);
                          if (made->model().direct_beta != made->model().local_beta)
                            throw std::runtime_error("lost on the way");
                        }),
              Each(""));
}

TEST(RegisteredHint, ServesWhatGoesByWayOfMemoryOfTheLibrarysOwn) {
  runtime::CommOptions options = expecting_registered("");
  options.reproducible = true;
  EXPECT_THAT(run_ranks(3, options,
                        [](runtime::Communicator& comm, Gathering&) {
                          const Rank me = comm.info().rank;
                          for (const std::size_t count : {3000U, 9000U, 100U})
                            check_case(
                                {Collective::all_reduce, count, DType::bf16, RedOp::sum, 0, count}, me, 3,
                                me == 1 ? Placed::in_place : Placed::apart, 0,
                                [&](const Case& c, const void* send, void* recv) {
                                  comm.all_reduce(send, recv, c.count, c.dtype, c.op);
                                },
                                registered_memory);
                        }),
              Each(""));
}

}  // namespace
}  // namespace umbel::test
