// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// All-reduce with ranks as threads: every algorithm, placement, size, in-place and not, against scalar code. Virtual
// nodes talk through UCX over the loopback.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>

#include "algos/algorithm.hpp"
#include "inproc/placement.hpp"
#include "inproc/ranks.hpp"
#include "support/reference.hpp"

namespace umbel::test {
namespace {

constexpr std::size_t kCanary = 64;
constexpr std::byte kMark{0xa5};

struct Case {
  std::size_t count = 0;
  DType dtype = DType::fp32;
  RedOp op = RedOp::sum;
  std::uint64_t salt = 0;
};

/// One call, checked: result, untouched input, untouched surroundings.
void check_call(runtime::Communicator& comm, const Case& c, bool in_place) {
  const std::size_t bytes = c.count * size_of(c.dtype);
  const std::vector<std::byte> input = make_input(comm.info().rank, c.count, c.dtype, c.op, c.salt);
  std::vector<std::byte> output(bytes + 2 * kCanary, kMark);
  std::vector<std::byte> source = input;
  std::byte* recv = output.data() + kCanary;
  if (in_place) std::copy(input.begin(), input.end(), recv);
  comm.all_reduce(in_place ? recv : source.data(), recv, c.count, c.dtype, c.op);
  const std::vector<std::byte> expected = expected_result(comm.info().ranks, c.count, c.dtype, c.op, c.salt);
  const auto wrong = std::mismatch(expected.begin(), expected.end(), recv).first - expected.begin();
  const std::string what = fmt::format("{} of {} {} {} in place {} rank {}", comm.last_call().algorithm, c.count,
                                       name_of(c.dtype), name_of(c.op), in_place, comm.info().rank);
  if (wrong != static_cast<std::ptrdiff_t>(expected.size()))
    throw std::runtime_error(fmt::format("wrong byte {}: {}", wrong, what));
  if (source != input) throw std::runtime_error("the input was written: " + what);
  for (std::size_t k = 0; k < kCanary; ++k)
    if (output[k] != kMark || output[kCanary + bytes + k] != kMark) throw std::runtime_error("wrote outside: " + what);
}

/// Another pair of a type and an operator for each number.
std::pair<DType, RedOp> some_pair(std::uint64_t n) {
  static const auto pairs = [] {
    std::vector<std::pair<DType, RedOp>> all;
    for (DType dtype : all_dtypes())
      for (RedOp op : all_redops())
        if (serves(op, dtype)) all.emplace_back(dtype, op);
    return all;
  }();
  constexpr std::uint64_t kStride = 31;  // so that neighbours differ in both
  return pairs[n * kStride % pairs.size()];
}

void expect_all_right(const Outcome& outcome) {
  for (std::size_t rank = 0; rank < outcome.size(); ++rank) EXPECT_EQ(outcome[rank], "") << "rank " << rank;
}

class EveryAlgorithm : public testing::TestWithParam<Placement> {};

TEST_P(EveryAlgorithm, GivesTheReference) {
  const int p = GetParam().ranks;
  std::atomic<int> served{0};
  expect_all_right(run_ranks(p, test_options(GetParam().nodes), [&](runtime::Communicator& comm, Gathering&) {
    const auto ranks = static_cast<std::size_t>(p);
    std::uint64_t salt = 0;
    for (const algos::Algorithm& algorithm : algos::catalog(Collective::all_reduce)) {
      if (!comm.refuses(algorithm.name, {.count = 1, .dtype = DType::fp32, .op = RedOp::sum}).empty()) continue;
      comm.set_algorithm(algorithm.name);
      for (std::size_t count :
           {std::size_t{0}, std::size_t{1}, ranks - 1, ranks, ranks + 1, std::size_t{12345}, std::size_t{70001}}) {
        ++salt;
        const auto [dtype, op] = some_pair(salt);
        // all out of place, all in place, mixed
        check_call(comm, {count, DType::fp32, RedOp::sum, salt}, salt % 2 == 0);
        check_call(comm, {count, dtype, op, salt}, (salt + static_cast<std::size_t>(comm.info().rank)) % 2 == 0);
        if (comm.last_call().algorithm != algorithm.name)
          throw std::runtime_error(fmt::format("asked for {}, ran {}", algorithm.name, comm.last_call().algorithm));
      }
      if (comm.info().rank == 0) ++served;
    }
    comm.set_algorithm("auto");
    for (std::size_t count : {0, 1, 7, 64, 65, 1000, 100000})
      check_call(comm, {count, DType::fp64, RedOp::sum, ++salt}, salt % 2 == 0);
  }));
  EXPECT_GE(served.load(), 3);
}

INSTANTIATE_TEST_SUITE_P(On, EveryAlgorithm,
                         placed_on({Placement{1, ""}, Placement{2, ""}, Placement{3, ""}, Placement{4, ""},
                                    Placement{5, ""}, Placement{8, ""}, Placement{2, "2"}, Placement{4, "2"},
                                    Placement{5, "2"}, Placement{4, "0,1,0,1"}, Placement{4, "1,1,0,0"},
                                    Placement{3, "3"}, Placement{4, "0/0,0/1,1/0,1/1"},
                                    Placement{6, "0/0,0/1,1/0,1/1,1/2,1/2"},
                                    Placement{8, "0/0/0,0/0/1,0/1/0,0/1/1,1/0/0,1/1/0,1/1/1,1/1/1"}}),
                         name_of_placement);

TEST(EveryType, GivesTheReferenceInLinesAndByPrograms) {
  expect_all_right(run_ranks(3, test_options(), [](runtime::Communicator& comm, Gathering&) {
    std::uint64_t salt = 0;
    for (DType dtype : all_dtypes())
      for (RedOp op : all_redops())
        for (std::size_t count : {5, 500})
          if (serves(op, dtype)) check_call(comm, {count, dtype, op, ++salt}, salt % 3 == 0);
  }));
}

TEST(BitwiseEqual, OnAllRanksWhereOrderMatters) {
  for (const char* nodes : {"", "2"}) {
    constexpr int kRanks = 4;
    constexpr std::size_t kCount = 5000;
    std::vector<std::vector<float>> results(kRanks);
    expect_all_right(run_ranks(kRanks, test_options(nodes), [&](runtime::Communicator& comm, Gathering& gathering) {
      std::mt19937 random(static_cast<unsigned>(comm.info().rank) + 1);
      std::vector<float> input(kCount);
      for (float& x : input)
        x = std::ldexp(static_cast<float>(random() % 1000) - 500.0F, static_cast<int>(random() % 40) - 20);
      for (const algos::Algorithm& algorithm : algos::catalog(Collective::all_reduce)) {
        if (!comm.refuses(algorithm.name, {.count = kCount, .dtype = DType::fp32, .op = RedOp::sum}).empty()) continue;
        comm.set_algorithm(algorithm.name);
        for (std::size_t count : {std::size_t{50}, kCount}) {
          std::vector<float>& mine = results[static_cast<std::size_t>(comm.info().rank)];
          mine.assign(count, 0);
          comm.all_reduce(input.data(), mine.data(), count, DType::fp32, RedOp::sum);
          gathering.barrier();
          if (std::memcmp(mine.data(), results[0].data(), count * sizeof(float)) != 0)
            throw std::runtime_error(
                fmt::format("{}: rank {} has other bits than rank 0", algorithm.name, comm.info().rank));
          gathering.barrier();
        }
      }
    }));
  }
}

TEST(BackToBack, WithSkewAndChangingPrograms) {
  for (const char* nodes : {"", "2"}) {
    expect_all_right(run_ranks(4, test_options(nodes), [](runtime::Communicator& comm, Gathering&) {
      std::mt19937 skew(static_cast<unsigned>(comm.info().rank) * 77 + 5);
      std::vector<std::string_view> names{"auto"};
      for (const algos::Algorithm& algorithm : algos::catalog(Collective::all_reduce))
        if (comm.refuses(algorithm.name, {.count = 100, .dtype = DType::fp32, .op = RedOp::sum}).empty())
          names.push_back(algorithm.name);
      for (std::uint64_t k = 0; k < 150; ++k) {
        comm.set_algorithm(names[scrambled(k) % names.size()]);
        const std::size_t count = scrambled(k * 3 + 1) % (k % 7 == 0 ? 40000 : 300);
        if (skew() % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(skew() % 500));
        check_call(comm, {count, DType::int32, RedOp::sum, k}, skew() % 2 == 0);
      }
    }));
  }
}

TEST(Unsupported, LeavesTheCommunicatorUsable) {
  expect_all_right(run_ranks(3, test_options("2"), [](runtime::Communicator& comm, Gathering&) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{100'000}}) {
      std::vector<float> x(count, 1);
      comm.set_algorithm("one_shot");  // which serves one node
      const std::string got = outcome_of([&] { comm.all_reduce(x.data(), x.data(), count, DType::fp32, RedOp::sum); });
      if (!got.starts_with("Unsupported")) throw std::runtime_error("not refused: " + got);
      comm.check_health();
      comm.set_algorithm("auto");
      comm.all_reduce(x.data(), x.data(), count, DType::fp32, RedOp::sum);
      if (x.front() != 3 || x.back() != 3) throw std::runtime_error("a wrong sum after a refused call");
    }
  }));
}

}  // namespace
}  // namespace umbel::test
