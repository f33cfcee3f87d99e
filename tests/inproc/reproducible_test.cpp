// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Reproducible mode: all_reduce, reduce and reduce_scatter give the same bits on every layout of the ranks, by every
// algorithm that is let run, for every size; and those of the balanced tree over the ranks, computed here by scalar
// code. On values for which another order gives others. All other algorithms are refused.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <set>

#include <fmt/format.h>

#include "algos/algorithm.hpp"
#include "inproc/layouts.hpp"
#include "inproc/ranks.hpp"
#include "support/reference.hpp"
#include "support/sanitized.hpp"

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
  std::vector<std::vector<T>> inputs;  ///< by rank
  std::vector<T> sum, average;
};

template <class T>
Expected<T> expected(int ranks, std::size_t count) {
  Expected<T> out;
  std::vector<std::vector<T>>& inputs = out.inputs;
  for (int rank = 0; rank < ranks; ++rank) inputs.push_back(mixed<T>(rank, count));
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

runtime::CommOptions reproducible(const std::string& nodes) {
  runtime::CommOptions options = test_options(nodes);
  options.config->reproducible = true;
  options.config->window_bytes = 16U << 20U;  // the default: some algorithms hold a whole call there
  return options;
}

// --- one call --------------------------------------------------------------------------------------------------------

constexpr std::size_t kMost = 30'000;
constexpr std::size_t kSizes[] = {1, 29, 1001, 8192, kMost};
constexpr Collective kReductions[] = {Collective::all_reduce, Collective::reduce, Collective::reduce_scatter};

/// About `elements` in all; a reduce_scatter's count is that of a share.
runtime::CallArgs call_of(Collective collective, int ranks, std::size_t elements, DType dtype, RedOp op) {
  const auto shares = static_cast<std::size_t>(ranks);
  return {.collective = collective,
          .count = collective == Collective::reduce_scatter ? std::max<std::size_t>(1, elements / shares) : elements,
          .dtype = dtype,
          .op = op,
          .root = collective == Collective::reduce ? static_cast<Rank>(elements % shares) : 0};
}

/// What this rank gets of the result: the elements, and where they lie in the whole.
template <class T>
struct Piece {
  std::size_t first = 0;
  std::vector<T> elements;
};

/// @param inputs    by rank; of each its first elements
/// @param in_place  the output lies in what is given
template <class T>
Piece<T> piece_of(runtime::Communicator& comm, runtime::CallArgs call, const std::vector<std::vector<T>>& inputs,
                  bool in_place) {
  const auto me = static_cast<std::size_t>(comm.info().rank);
  const bool scattered = call.collective == Collective::reduce_scatter;
  const bool gets = call.collective != Collective::reduce || comm.info().rank == call.root;
  const std::size_t count = scattered ? call.count * inputs.size() : call.count;
  std::vector<T> given(inputs[me].begin(), inputs[me].begin() + static_cast<std::ptrdiff_t>(count));
  std::vector<T> output(call.count);
  const std::size_t first = scattered ? me * call.count : 0;
  call.send = given.data();
  call.recv = !gets ? nullptr : in_place ? given.data() + first : output.data();
  comm.run(call);
  if (!gets) return {};
  const T* got = static_cast<const T*>(call.recv);
  return {.first = first, .elements = {got, got + call.count}};
}

template <class T>
void check(runtime::Communicator& comm, const runtime::CallArgs& call, const std::vector<std::vector<T>>& inputs,
           const std::vector<T>& wanted) {
  const bool in_place = (call.count + static_cast<std::size_t>(comm.info().rank)) % 2 == 0;
  const Piece<T> piece = piece_of(comm, call, inputs, in_place);
  if (piece.elements.empty()) return;
  if (std::memcmp(piece.elements.data(), wanted.data() + piece.first, piece.elements.size() * sizeof(T)) != 0)
    throw std::runtime_error(fmt::format("{} of {} {} {} by {}: other bits than the canonical tree",
                                         name_of(call.collective), call.count, name_of(call.dtype), name_of(call.op),
                                         comm.last_call().algorithm));
}

// --- every layout, algorithm and size --------------------------------------------------------------------------------

class Reproducible : public testing::TestWithParam<int> {
 protected:
  Reproducible() : singles_(expected<float>(GetParam(), kMost)), doubles_(expected<double>(GetParam(), kMost)) {}

  /// The algorithm that is forced, or the cost model's choice.
  void check_sizes(runtime::Communicator& comm, Collective collective, const algos::Algorithm* forced) const {
    for (const std::size_t elements : kSizes) {
      const runtime::CallArgs call = call_of(collective, GetParam(), elements, DType::fp32, RedOp::sum);
      if (forced != nullptr && !let_run(comm, *forced, call)) continue;
      check(comm, call, singles_.inputs, singles_.sum);
      if (forced != nullptr && elements != kSizes[2]) continue;
      check(comm, call_of(collective, GetParam(), elements, DType::fp64, RedOp::avg), doubles_.inputs,
            doubles_.average);
    }
  }

  /// Refused are those that the checker has found to fold in another order, and those that do not serve the layout;
  /// then the call is an error. Of a rooted collective that may depend on the root.
  bool let_run(runtime::Communicator& comm, const algos::Algorithm& algorithm, const runtime::CallArgs& call) const {
    const algos::Spec spec{.ordered = true, .root = call.root};
    const bool canonical = algorithm.canonical(comm.shape(), spec);
    const bool serves = algorithm.refuses(comm.shape(), spec).empty();
    const std::string refused = comm.refuses(algorithm.name, call);
    if (refused.empty() != (canonical && serves))
      throw std::runtime_error(fmt::format("{} {} from root {}: canonical: {}, serves: {}, refused: {}",
                                           name_of(call.collective), algorithm.name, call.root, canonical, serves,
                                           refused));
    if (refused.empty()) return true;
    const std::string error = outcome_of([&] { piece_of(comm, call, singles_.inputs, false); });
    if (!error.starts_with("Unsupported") || (!canonical && error.find("canonical order") == std::string::npos))
      throw std::runtime_error(fmt::format("{} {}: “{}”", name_of(call.collective), algorithm.name, error));
    return false;
  }

  Expected<float> singles_;
  Expected<double> doubles_;
};

/// Without the mode the same calls give several results, by layout and algorithm: what is compared below can differ.
TEST_P(Reproducible, OutsideTheModeTheBitsDiffer) {
  std::map<Collective, std::set<std::vector<float>>> results;
  std::mutex mutex;
  std::map<const algos::Algorithm*, std::vector<float>> wholes;  // of this layout
  for (const std::string& nodes : {layouts(GetParam()).front(), layouts(GetParam()).back()}) {
    wholes.clear();
    const Outcome outcome = run_ranks(GetParam(), test_options(nodes), [&](runtime::Communicator& comm, Gathering&) {
      for (const Collective collective : kReductions) {
        const runtime::CallArgs call = call_of(collective, GetParam(), kMost, DType::fp32, RedOp::sum);
        for (const algos::Algorithm& algorithm : algos::catalog(collective)) {
          if (!comm.refuses(algorithm.name, call).empty()) continue;
          comm.set_algorithm(fmt::format("{}:{}", name_of(collective), algorithm.name));
          const Piece<float> piece = piece_of(comm, call, singles_.inputs, false);
          const std::scoped_lock lock(mutex);
          std::vector<float>& whole = wholes[&algorithm];
          whole.resize(kMost);
          std::ranges::copy(piece.elements, whole.begin() + static_cast<std::ptrdiff_t>(piece.first));
        }
      }
    });
    for (const std::string& text : outcome) EXPECT_EQ(text, "");
    for (const auto& [algorithm, whole] : wholes) results[algorithm->collective].insert(whole);
  }
  for (const Collective collective : kReductions) EXPECT_GT(results[collective].size(), 1U) << name_of(collective);
}

TEST_P(Reproducible, TheBitsOfTheTreeOnEveryLayoutByEveryAlgorithm) {
  for (const std::string& nodes : layouts(GetParam())) {
    const Outcome outcome = run_ranks(GetParam(), reproducible(nodes), [&](runtime::Communicator& comm, Gathering&) {
      for (const Collective collective : kReductions) {
        check_sizes(comm, collective, nullptr);
        for (const algos::Algorithm& algorithm : algos::catalog(collective)) {
          comm.set_algorithm(fmt::format("{}:{}", name_of(collective), algorithm.name));
          check_sizes(comm, collective, &algorithm);
        }
        comm.set_algorithm("auto");
      }
    });
    for (std::size_t rank = 0; rank < outcome.size(); ++rank)
      EXPECT_EQ(outcome[rank], "") << "rank " << rank << " on nodes " << nodes;
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Reproducible,
                         testing::ValuesIn(kSanitized ? std::vector<int>{3, 4} : std::vector<int>{3, 4, 5, 8}),
                         testing::PrintToStringParamName());

/// Every reduction has an algorithm that the mode refuses: without one the refusals above would not be tested.
TEST(ReproducibleMode, AnotherOrderIsAnErrorForEachReduction) {
  const std::pair<Collective, const char*> others[] = {
      {Collective::all_reduce, "central"}, {Collective::reduce, "chain"}, {Collective::reduce_scatter, "ring"}};
  const Expected<float> singles = expected<float>(5, kMost);
  const Outcome outcome = run_ranks(5, reproducible("0,0,0,0,0"), [&](runtime::Communicator& comm, Gathering&) {
    for (const auto& [collective, name] : others) {
      comm.set_algorithm(fmt::format("{}:{}", name_of(collective), name));
      const std::string error = outcome_of(
          [&] { piece_of(comm, call_of(collective, 5, 1000, DType::fp32, RedOp::sum), singles.inputs, false); });
      if (!error.starts_with(
              fmt::format("Unsupported: algorithm {}: {} does not fold in the canonical order", name, name)))
        throw std::runtime_error(fmt::format("{}: “{}”", name_of(collective), error));
    }
  });
  for (const std::string& text : outcome) EXPECT_EQ(text, "");
}

/// Partial sums are carried in fp32 and rounded once, whatever the placement; avg divides before.
TEST_P(Reproducible, HalvesAreRoundedOnce) {
  constexpr std::size_t kCount = 3000;
  const int ranks = GetParam();
  std::vector<std::vector<float>> inputs;
  std::vector<std::vector<std::uint16_t>> halves;
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<std::uint16_t> mine;
    std::vector<float> values;
    for (const float value : mixed<float>(rank, kCount)) {
      mine.push_back(bfloat(value));
      values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(mine.back()) << 16U));
    }
    inputs.push_back(values);
    halves.push_back(mine);
  }
  std::vector<std::uint16_t> sum, average;
  for (std::size_t i = 0; i < kCount; ++i) {
    const float total = tree_sum(inputs, 0, inputs.size(), i);
    sum.push_back(bfloat(total));
    average.push_back(bfloat(total / static_cast<float>(ranks)));
  }
  const std::vector<std::string> all = layouts(ranks);
  for (const std::string& nodes : {all.front(), all[all.size() / 2], all.back()}) {
    const Outcome outcome = run_ranks(ranks, reproducible(nodes), [&](runtime::Communicator& comm, Gathering&) {
      const std::vector<std::uint16_t>& mine = halves[static_cast<std::size_t>(comm.info().rank)];
      for (const std::size_t count : {std::size_t{1}, std::size_t{60}, std::size_t{100}, kCount}) {
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
