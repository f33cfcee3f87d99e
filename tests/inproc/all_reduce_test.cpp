// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// What only all-reduce has, with ranks as threads: every type and operator in lines and by programs, the same bits on
// all ranks, calls of several algorithms back to back. Virtual nodes talk through UCX over the loopback.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "algos/algorithm.hpp"
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

void expect_all_right(const Outcome& outcome) {
  for (std::size_t rank = 0; rank < outcome.size(); ++rank) EXPECT_EQ(outcome[rank], "") << "rank " << rank;
}

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
