// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Reproducible mode: the same bits on every placement, by every algorithm that is let run, for every size; and those
// of the balanced tree over the ranks, computed here by scalar code. On values for which another order gives others.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "algos/algorithm.hpp"
#include "inproc/ranks.hpp"
#include "support/reference.hpp"

namespace umbel::test {
namespace {

/// Values of very different magnitude.
template <class T>
std::vector<T> mixed(int rank, std::size_t count) {
  std::mt19937_64 random(static_cast<unsigned>(rank) * 7919U + 17U);
  std::vector<T> values(count);
  for (T& value : values) {
    const int exponent = static_cast<int>(random() % 40) - 20;
    value = static_cast<T>(std::ldexp(static_cast<double>(random() % 20011) - 10005.0 + 1.0 / 3.0, exponent));
  }
  return values;
}

std::uint16_t bfloat(float value) { return to_small<std::uint16_t>(value, 7); }

/// The sum over ranks [low, high) as the canonical tree; the left part is the largest power of two below.
template <class T>
T tree_sum(const std::vector<std::vector<T>>& inputs, std::size_t low, std::size_t high, std::size_t i) {
  if (high - low == 1) return inputs[low][i];
  std::size_t left = 1;
  while (2 * left < high - low) left *= 2;
  return tree_sum(inputs, low, low + left, i) + tree_sum(inputs, low + left, high, i);
}

template <class T>
struct Expected {
  std::vector<T> sum, average;
};

template <class T>
Expected<T> expected(int ranks, std::size_t count) {
  std::vector<std::vector<T>> inputs;
  for (int rank = 0; rank < ranks; ++rank) inputs.push_back(mixed<T>(rank, count));
  Expected<T> out;
  std::size_t differ = 0;
  for (std::size_t i = 0; i < count; ++i) {
    out.sum.push_back(tree_sum(inputs, 0, inputs.size(), i));
    out.average.push_back(out.sum.back() / static_cast<T>(ranks));
    T chain = inputs.back()[i];  // from the last rank down
    for (std::size_t rank = inputs.size() - 1; rank-- > 0;) chain += inputs[rank][i];
    differ += chain != out.sum.back() ? 1U : 0U;
  }
  EXPECT_GT(differ, count / 10) << "these values do not tell two orders apart";
  return out;
}

template <class T>
void check(runtime::Communicator& comm, DType dtype, RedOp op, const std::vector<T>& wanted, std::size_t count,
           bool in_place) {
  std::vector<T> input = mixed<T>(comm.info().rank, wanted.size());
  std::vector<T> output(count);
  input.resize(count);
  T* recv = in_place ? input.data() : output.data();
  comm.all_reduce(input.data(), recv, count, dtype, op);
  if (std::memcmp(recv, wanted.data(), count * sizeof(T)) != 0)
    throw std::runtime_error(fmt::format("{} {} {} by {}: other bits than the canonical tree", count, name_of(dtype),
                                         name_of(op), comm.last_call().algorithm));
}

runtime::CommOptions reproducible(const std::string& nodes) {
  runtime::CommOptions options = test_options(nodes);
  options.config->reproducible = true;
  return options;
}

struct Case {
  int ranks;
  std::vector<std::string> placements;
};

class Reproducible : public testing::TestWithParam<Case> {};

TEST_P(Reproducible, TheBitsOfTheTreeOnEveryPlacementByEveryAlgorithm) {
  constexpr std::size_t kMost = 30'000;
  const Expected<float> singles = expected<float>(GetParam().ranks, kMost);
  const Expected<double> doubles = expected<double>(GetParam().ranks, kMost);
  for (const std::string& nodes : GetParam().placements) {
    const Outcome outcome =
        run_ranks(GetParam().ranks, reproducible(nodes), [&](runtime::Communicator& comm, Gathering&) {
          std::vector<std::string> names{"auto"};
          for (const algos::Algorithm& algorithm : algos::catalog(Collective::all_reduce))
            if (comm.refuses(algorithm.name, {.count = 1000, .dtype = DType::fp32, .op = RedOp::sum}).empty())
              names.emplace_back(algorithm.name);
          if (names.size() < 2) throw std::runtime_error("no algorithm is let run");
          for (const std::string& name : names) {
            comm.set_algorithm(name);
            for (const std::size_t count : {std::size_t{1}, std::size_t{29}, std::size_t{1001}, kMost}) {
              check(comm, DType::fp32, RedOp::sum, singles.sum, count, count % 2 == 0);
              check(comm, DType::fp64, RedOp::sum, doubles.sum, count,
                    (count + static_cast<std::size_t>(comm.info().rank)) % 2 == 0);
              check(comm, DType::fp64, RedOp::avg, doubles.average, count, false);
            }
          }
        });
    for (std::size_t rank = 0; rank < outcome.size(); ++rank)
      EXPECT_EQ(outcome[rank], "") << "rank " << rank << " on nodes " << nodes;
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Reproducible,
                         testing::Values(Case{3, {"", "2", "0,1,0"}}, Case{4, {"", "2", "0,1,0,1", "0/0,0/1,1/0,1/1"}},
                                         Case{5, {"", "2", "0,0,0,1,2"}}, Case{8, {"", "4", "0,0,0,0,1,1,1,2"}}),
                         [](const auto& i) { return fmt::format("p{}", i.param.ranks); });

TEST(ReproducibleMode, RefusesWhatWouldFoldInAnotherOrder) {
  const Outcome outcome = run_ranks(5, reproducible(""), [&](runtime::Communicator& comm, Gathering&) {
    comm.set_algorithm("central");
    float one = 1, sum = 0;
    comm.all_reduce(&one, &sum, 1, DType::fp32, RedOp::sum);
  });
  for (const std::string& text : outcome) EXPECT_NE(text.find("canonical order"), std::string::npos) << text;
}

/// Partial sums are carried in fp32 and rounded once, whatever the placement; avg divides before.
TEST_P(Reproducible, HalvesAreRoundedOnce) {
  constexpr std::size_t kMost = 3000;
  const int ranks = GetParam().ranks;
  std::vector<std::vector<float>> inputs;
  std::vector<std::vector<std::uint16_t>> halves;
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<std::uint16_t> mine;
    std::vector<float> values;
    for (const float value : mixed<float>(rank, kMost)) {
      mine.push_back(bfloat(value));
      values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(mine.back()) << 16U));
    }
    inputs.push_back(values);
    halves.push_back(mine);
  }
  std::vector<std::uint16_t> sum, average;
  for (std::size_t i = 0; i < kMost; ++i) {
    const float total = tree_sum(inputs, 0, inputs.size(), i);
    sum.push_back(bfloat(total));
    average.push_back(bfloat(total / static_cast<float>(ranks)));
  }
  for (const std::string& nodes : GetParam().placements) {
    const Outcome outcome = run_ranks(ranks, reproducible(nodes), [&](runtime::Communicator& comm, Gathering&) {
      const std::vector<std::uint16_t>& mine = halves[static_cast<std::size_t>(comm.info().rank)];
      for (const std::size_t count : {std::size_t{1}, std::size_t{60}, std::size_t{100}, kMost}) {
        for (const RedOp op : {RedOp::sum, RedOp::avg}) {
          std::vector<std::uint16_t> got(mine.begin(), mine.begin() + static_cast<std::ptrdiff_t>(count));
          comm.all_reduce(count % 100 == 0 ? got.data() : mine.data(), got.data(), count, DType::bf16, op);
          const std::vector<std::uint16_t>& wanted = op == RedOp::sum ? sum : average;
          if (!std::equal(got.begin(), got.end(), wanted.begin()))
            throw std::runtime_error(
                fmt::format("{} of {}: other bits than one rounding of the tree", name_of(op), count));
        }
      }
    });
    for (const std::string& text : outcome) EXPECT_EQ(text, "") << "on nodes " << nodes;
  }
}

TEST(ReproducibleMode, IntegersAndMaximaOfHalvesAreServed) {
  const Outcome outcome = run_ranks(5, reproducible("2"), [&](runtime::Communicator& comm, Gathering&) {
    for (const std::size_t count : {std::size_t{3}, std::size_t{5000}}) {
      std::vector<std::int32_t> numbers(count, 1 << 30), sums(count);
      comm.set_algorithm("ring");
      comm.all_reduce(numbers.data(), sums.data(), count, DType::int32, RedOp::sum);
      if (sums != std::vector<std::int32_t>(count, 1 << 30)) throw std::runtime_error("5 · 2³⁰ wraps to 2³⁰");
      std::vector<std::uint16_t> halves(count, static_cast<std::uint16_t>(0x3c00 + comm.info().rank)), most(count);
      comm.set_algorithm("auto");
      comm.all_reduce(halves.data(), most.data(), count, DType::fp16, RedOp::max);
      if (most != std::vector<std::uint16_t>(count, 0x3c04)) throw std::runtime_error("the largest half");
    }
  });
  for (const std::string& text : outcome) EXPECT_EQ(text, "");
}

}  // namespace
}  // namespace umbel::test
