// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Every collective with ranks as threads: every algorithm, placement, root, size, alignment and in-place form, against
// scalar code. Virtual nodes talk through UCX over the loopback.
#include <gtest/gtest.h>

#include <atomic>
#include <random>

#include "algos/algorithm.hpp"
#include "inproc/placement.hpp"
#include "inproc/ranks.hpp"
#include "support/cases.hpp"
#include "support/sanitized.hpp"

namespace umbel::test {
namespace {

void check_on(runtime::Communicator& comm, const Case& c, Placed placed, std::size_t shift) {
  check_case(c, comm.info().rank, comm.info().ranks, placed, shift, [&](const Case& one, const void* send, void* recv) {
    comm.run({.collective = one.collective,
              .send = send,
              .recv = recv,
              .count = one.count,
              .dtype = one.dtype,
              .op = one.op,
              .root = one.root});
  });
}

void expect_all_right(const Outcome& outcome) {
  for (std::size_t rank = 0; rank < outcome.size(); ++rank) EXPECT_EQ(outcome[rank], "") << "rank " << rank;
}

Placed placed_by(std::uint64_t bits, Collective collective) {
  if (bits % 3 == 0) return Placed::apart;
  return collective == Collective::reduce_scatter && bits % 3 == 1 ? Placed::at_start : Placed::in_place;
}

/// By turns one of the operators that serve the type.
RedOp op_for(DType dtype, std::uint64_t turn) {
  std::vector<RedOp> ops;
  for (const RedOp op : all_redops())
    if (serves(op, dtype)) ops.push_back(op);
  return ops[turn % ops.size()];
}

std::vector<Collective> plain_collectives() {
  std::vector<Collective> all;
  for (const Collective c : all_collectives())
    if (plain(c) == c) all.push_back(c);
  return all;
}

class EveryCollective : public testing::TestWithParam<Placement> {};

TEST_P(EveryCollective, GivesTheReferenceByEveryAlgorithm) {
  const int p = GetParam().ranks;
  expect_all_right(run_ranks(p, test_options(GetParam().nodes), [&](runtime::Communicator& comm, Gathering&) {
    const auto ranks = static_cast<std::size_t>(p);
    std::uint64_t salt = 0;
    for (const algos::Algorithm& algorithm : algos::catalog()) {
      if (!comm.refuses(algorithm.name, {.collective = algorithm.collective, .count = 1}).empty()) continue;
      comm.set_algorithm(fmt::format("{}:{}", name_of(algorithm.collective), algorithm.name));
      const bool roots = rooted(algorithm.collective);
      for (Rank root = 0; root < (roots ? p : 1); ++root) {
        for (std::size_t count :
             {std::size_t{0}, std::size_t{1}, ranks - 1, ranks + 1, std::size_t{1234}, std::size_t{30001}}) {
          ++salt;
          if (kSanitized && salt % 5 != 0) continue;                                       // roots and lengths by turns
          if (count > 2000 && root != static_cast<Rank>(salt % ranks) && roots) continue;  // long ones from one root
          const DType dtype = salt % 2 == 0 ? DType::fp32 : all_dtypes()[salt % kDTypeCount];
          const Case c{algorithm.collective,
                       algorithm.collective == Collective::barrier ? 0 : count,
                       dtype,
                       op_for(dtype, salt / 3),
                       root,
                       salt};
          // Some serve short messages only.
          if (!comm.refuses(algorithm.name,
                            {.collective = c.collective, .count = c.count, .dtype = dtype, .root = root})
                   .empty())
            continue;
          const std::uint64_t bits = scrambled(salt * 64 + static_cast<std::uint64_t>(comm.info().rank));
          check_on(comm, c, placed_by(bits, c.collective), bits % 17);
          if (comm.last_call().algorithm != algorithm.name)
            throw std::runtime_error(fmt::format("asked for {}, ran {}", algorithm.name, comm.last_call().algorithm));
        }
      }
    }
  }));
}

TEST_P(EveryCollective, ManyInARowWithSkew) {
  const int p = GetParam().ranks;
  expect_all_right(run_ranks(p, test_options(GetParam().nodes), [&](runtime::Communicator& comm, Gathering&) {
    std::mt19937 skew(static_cast<unsigned>(comm.info().rank) * 77 + 5);
    std::vector<Collective> served;
    for (const Collective c : plain_collectives())
      if (comm.refuses("auto", {.collective = c, .count = 1}).empty()) served.push_back(c);
    for (std::uint64_t k = 0; k < 300; ++k) {
      const Collective collective = served[scrambled(k) % served.size()];
      const std::size_t most = scrambled(k * 3 + 1) % 5 == 0 ? 20000 : scrambled(k * 3 + 1) % 2 == 0 ? 20 : 600;
      const Case c{collective,
                   collective == Collective::barrier ? 0 : scrambled(k * 7 + 2) % most,
                   DType::int32,
                   RedOp::sum,
                   rooted(collective) ? static_cast<Rank>(scrambled(k * 5) % static_cast<unsigned>(p)) : 0,
                   k};
      if (skew() % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(skew() % 500));
      check_on(comm, c, placed_by(skew(), collective), skew() % 64);
    }
  }));
}

/// A root that is never spoken to runs ahead of the others as far as it may.
TEST_P(EveryCollective, AFastRootDoesNotFloodTheOthers) {
  const int p = GetParam().ranks;
  expect_all_right(run_ranks(p, test_options(GetParam().nodes), [&](runtime::Communicator& comm, Gathering&) {
    if (!comm.refuses("auto", {.collective = Collective::broadcast, .count = 1}).empty()) return;
    for (std::uint64_t k = 0; k < 400; ++k) {
      if (comm.info().rank != 0 && k % 100 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      check_on(comm, {Collective::broadcast, k % 50 == 0 ? 5000U : 3U, DType::int32, RedOp::sum, 0, k}, Placed::apart,
               0);
    }
  }));
}

INSTANTIATE_TEST_SUITE_P(On, EveryCollective,
                         placed_on({Placement{1, ""}, Placement{2, ""}, Placement{3, ""}, Placement{4, ""},
                                    Placement{5, ""}, Placement{8, ""}, Placement{2, "2"}, Placement{4, "2"},
                                    Placement{5, "2"}, Placement{4, "0,1,0,1"}, Placement{4, "1,1,0,0"},
                                    Placement{3, "3"}, Placement{6, "0/0,0/1,1/0,1/1,1/2,1/2"},
                                    Placement{8, "0/0/0,0/0/1,0/1/0,0/1/1,1/0/0,1/1/0,1/1/1,1/1/1"}}),
                         name_of_placement);

}  // namespace
}  // namespace umbel::test
