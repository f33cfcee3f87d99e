// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The v-forms through the C ABI and the C++ layer, with MPI's own as the reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "layouts.hpp"

namespace {

using namespace umbel;
using ::testing::HasSubstr;
using Counts = std::vector<std::size_t>;

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

std::vector<int> as_ints(const Counts& counts) { return {counts.begin(), counts.end()}; }

/// Places with a gap before each share, the last rank's first.
Counts backwards(const Counts& counts) {
  Counts first(counts.size());
  std::size_t next = 0;
  for (std::size_t r = counts.size(); r-- > 0; next += counts[r]) first[r] = ++next;
  return first;
}

std::size_t reach(const Counts& counts, const Counts& first) {
  std::size_t end = 0;
  for (std::size_t r = 0; r < counts.size(); ++r) end = std::max(end, first[r] + counts[r]);
  return end;
}

class Shares : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    for (const test::Layout& layout : test::layouts_for(world_size())) comms_.push_back(test::make_comm(layout.nodes));
  }
  static void TearDownTestSuite() {
    for (Comm& comm : comms_) comm.close();
    comms_.clear();
  }

  /// The same on all ranks; a third of the counts is 0.
  Counts agreed_counts() {
    Counts counts(static_cast<std::size_t>(ranks_));
    for (std::size_t& count : counts) count = agreed_() % 3 == 0 ? 0 : agreed_() % most();
    return counts;
  }
  std::size_t most() { return agreed_() % 4 == 0 ? 60000 : 50; }
  std::vector<std::int64_t> own_values(std::size_t count) {
    std::vector<std::int64_t> values(count);
    std::iota(values.begin(), values.end(), static_cast<std::int64_t>(rank_) << 32U);
    return values;
  }
  static std::vector<std::int64_t> blank(std::size_t count) { return std::vector<std::int64_t>(count, -1); }

  /// On every placement, as the library chooses and by each algorithm that serves shares of different lengths.
  template <class Body>
  void by_each_algorithm(umbel_collective_t form, Body&& body) {
    std::vector<std::string> names = test::algorithms_of(form);
    names.emplace_back("auto");
    for (Comm& comm : comms_) {
      for (const std::string& name : names) {
        if (name != "auto" && comm.refusal(name, {.collective = form, .count = 1})) continue;
        SCOPED_TRACE(name);
        comm.set_algorithm(name);
        body(comm);
        if (name != "auto") EXPECT_EQ(comm.last_call().algorithm, name);
      }
    }
  }

  static constexpr int kTurns = 6;
  int rank_ = world_rank(), ranks_ = world_size();
  std::size_t own_ = static_cast<std::size_t>(rank_);
  std::mt19937 agreed_{20260701};
  static inline std::vector<Comm> comms_;  // by placement
};

TEST_F(Shares, AllGatherv) {
  for (int turn = 0; turn < kTurns; ++turn) {
    const Counts counts = agreed_counts(), first = backwards(counts);
    const auto send = own_values(counts[own_]);
    auto expected = blank(reach(counts, first));
    MPI_Allgatherv(send.data(), static_cast<int>(send.size()), MPI_INT64_T, expected.data(), as_ints(counts).data(),
                   as_ints(first).data(), MPI_INT64_T, MPI_COMM_WORLD);
    for (Comm& comm : comms_) {
      auto recv = blank(expected.size());
      comm.all_gatherv(send, recv, counts, first);
      EXPECT_EQ(recv, expected);
    }
  }
}

TEST_F(Shares, ReduceScatterv) {
  for (int turn = 0; turn < kTurns; ++turn) {
    const Counts counts = agreed_counts();
    const auto send = own_values(std::reduce(counts.begin(), counts.end()));
    auto expected = blank(counts[own_]);
    MPI_Reduce_scatter(send.data(), expected.data(), as_ints(counts).data(), MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (Comm& comm : comms_) {
      auto recv = blank(counts[own_]);
      comm.reduce_scatterv(send, recv, counts);
      EXPECT_EQ(recv, expected);
      auto both = send;  // in-place as MPI has it
      ASSERT_EQ(umbel_reduce_scatterv(both.data(), both.data(), counts.data(), UMBEL_INT64, UMBEL_SUM, comm.native()),
                UMBEL_SUCCESS);
      both.resize(counts[own_]);
      EXPECT_EQ(both, expected);
    }
  }
}

TEST_F(Shares, AllToAllv) {
  const auto size = static_cast<std::size_t>(ranks_);
  for (int turn = 0; turn < kTurns; ++turn) {
    std::vector<Counts> table(size);
    for (Counts& row : table) row = agreed_counts();
    const Counts& out = table[own_];
    Counts in;
    for (const Counts& row : table) in.push_back(row[own_]);
    const Counts out_first = backwards(out), in_first = backwards(in);
    const auto send = own_values(reach(out, out_first));
    auto expected = blank(reach(in, in_first));
    MPI_Alltoallv(send.data(), as_ints(out).data(), as_ints(out_first).data(), MPI_INT64_T, expected.data(),
                  as_ints(in).data(), as_ints(in_first).data(), MPI_INT64_T, MPI_COMM_WORLD);
    by_each_algorithm(UMBEL_ALL_TO_ALLV, [&](Comm& comm) {
      auto recv = blank(expected.size());
      comm.all_to_allv(send, out, recv, in, out_first, in_first);
      EXPECT_EQ(recv, expected);
    });
  }
}

TEST_F(Shares, GathervAndScatterv) {
  for (int turn = 0; turn < kTurns; ++turn) {
    const int root = turn % ranks_;
    const bool is_root = rank_ == root;
    const Counts counts = agreed_counts(), first = backwards(counts);
    const auto share = own_values(counts[own_]);
    const std::size_t room = is_root ? reach(counts, first) : 0;
    auto gathered = blank(room);
    MPI_Gatherv(share.data(), static_cast<int>(share.size()), MPI_INT64_T, gathered.data(), as_ints(counts).data(),
                as_ints(first).data(), MPI_INT64_T, root, MPI_COMM_WORLD);
    const auto whole = own_values(room);
    auto scattered = blank(counts[own_]);
    MPI_Scatterv(whole.data(), as_ints(counts).data(), as_ints(first).data(), MPI_INT64_T, scattered.data(),
                 static_cast<int>(scattered.size()), MPI_INT64_T, root, MPI_COMM_WORLD);
    const Counts mine = is_root ? counts : Counts{}, places = is_root ? first : Counts{};
    by_each_algorithm(UMBEL_GATHERV, [&](Comm& comm) {
      auto recv = blank(room);
      comm.gatherv(share, recv, mine, root, places);
      EXPECT_EQ(recv, gathered);
    });
    by_each_algorithm(UMBEL_SCATTERV, [&](Comm& comm) {
      auto piece = blank(counts[own_]);
      comm.scatterv(whole, mine, piece, root, places);
      EXPECT_EQ(piece, scattered);
    });
  }
}

TEST_F(Shares, AStartedCallHasItsOwnCopyOfTheCounts) {
  Counts counts(static_cast<std::size_t>(ranks_), 30000);
  counts.front() = 7;
  const auto send = own_values(counts[own_]);
  const std::size_t total = 7 + 30000 * (counts.size() - 1);
  for (Comm& comm : comms_) {
    auto recv = blank(total);
    Counts given = counts;
    umbel_args_t args = UMBEL_ARGS_INIT;
    args.collective = UMBEL_ALL_GATHERV;
    args.send = send.data();
    args.recv = recv.data();
    args.count = send.size();
    args.dtype = UMBEL_INT64;
    args.recv_counts = given.data();
    Request prepared = comm.prepare(args);
    Request started = comm.start(args);
    given.assign(given.size(), 1U << 30U);
    started.wait();
    EXPECT_EQ(std::ranges::count(recv, -1), 0);
    std::ranges::fill(recv, -1);
    prepared.start();
    prepared.wait();
    EXPECT_EQ(std::ranges::count(recv, -1), 0);
    EXPECT_EQ(recv.back(), (std::int64_t{ranks_ - 1} << 32U) + static_cast<std::int64_t>(counts.back()) - 1);
  }
}

TEST_F(Shares, WrongArgumentsAreNamed) {
  Comm& comm = comms_.front();
  std::int32_t x[4] = {};
  EXPECT_EQ(umbel_all_gatherv(x, 1, x + 1, nullptr, nullptr, UMBEL_INT32, comm.native()), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(umbel_last_error(), HasSubstr("umbel_all_gatherv: counts is NULL"));
  const Counts counts(static_cast<std::size_t>(ranks_), 1);
  EXPECT_EQ(umbel_all_gatherv(x, 2, nullptr, counts.data(), nullptr, UMBEL_INT32, comm.native()),
            UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(umbel_last_error(), HasSubstr("own share is 2, but counts["));
  EXPECT_EQ(umbel_all_to_allv(x, nullptr, nullptr, x, counts.data(), nullptr, UMBEL_INT32, comm.native()),
            UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(umbel_last_error(), HasSubstr("send_counts is NULL"));
  std::vector<std::int32_t> few(1);
  EXPECT_THROW(comm.all_gatherv(few, few, Counts{}), Error);
  comm.barrier();
}

}  // namespace
