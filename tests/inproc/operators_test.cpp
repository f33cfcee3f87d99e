// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Operators that the caller makes: functions, commutative and not, and sums of products with a scalar of each rank's.
// Ranks as threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "inproc/placement.hpp"
#include "inproc/ranks.hpp"

namespace umbel::test {
namespace {

constexpr std::array<std::size_t, 4> kCounts{1, 30, 1000, 40'001};

void expect_all_right(const Outcome& outcome) {
  for (std::size_t rank = 0; rank < outcome.size(); ++rank) EXPECT_EQ(outcome[rank], "") << "rank " << rank;
}

/// Affine maps x → a·x + b over uint32, packed in a uint64: composition is associative, and does not commute.
constexpr std::uint64_t affine(std::uint32_t a, std::uint32_t b) { return std::uint64_t{a} << 32U | b; }
constexpr std::uint64_t after(std::uint64_t f, std::uint64_t g) {  // f ∘ g
  const auto a = static_cast<std::uint32_t>(f >> 32U), b = static_cast<std::uint32_t>(f);
  const auto c = static_cast<std::uint32_t>(g >> 32U), d = static_cast<std::uint32_t>(g);
  return affine(a * c, a * d + b);
}

void compose(const void* left, void* right, std::size_t count, DType dtype, void* context) {
  if (dtype != DType::uint64 || context == nullptr) throw std::runtime_error("called with something else");
  const auto* f = static_cast<const std::uint64_t*>(left);
  auto* g = static_cast<std::uint64_t*>(right);
  for (std::size_t i = 0; i < count; ++i) g[i] = after(f[i], g[i]);
}

std::uint64_t map_of(Rank rank, std::size_t i) {
  return affine(static_cast<std::uint32_t>(2 * i + 3),
                static_cast<std::uint32_t>(rank * 1000) + static_cast<std::uint32_t>(i));
}

std::uint64_t composed(int ranks, std::size_t i) {
  std::uint64_t all = map_of(0, i);
  for (Rank rank = 1; rank < ranks; ++rank) all = after(all, map_of(rank, i));
  return all;
}

std::shared_ptr<const runtime::CallerOp> composition(int& context) {
  return std::make_shared<runtime::CallerOp>(
      runtime::CallerOp{.user = {.fold = compose, .context = &context, .commutative = false}});
}

class Operators : public testing::TestWithParam<Placement> {};

TEST_P(Operators, ThatDoNotCommuteAreFoldedInTheOrderOfRanks) {
  const int p = GetParam().ranks;
  expect_all_right(run_ranks(p, test_options(GetParam().nodes), [&](runtime::Communicator& comm, Gathering&) {
    int context = 0;
    const Rank me = comm.info().rank;
    for (const std::size_t count : kCounts) {
      const std::size_t all = count * static_cast<std::size_t>(p);
      std::vector<std::uint64_t> send(all), recv(all);
      for (std::size_t i = 0; i < all; ++i) send[i] = map_of(me, i);
      const auto call = [&](Collective collective, Rank root) {
        std::ranges::fill(recv, 0U);
        comm.run({.collective = collective,
                  .send = send.data(),
                  .recv = recv.data(),
                  .count = count,
                  .dtype = DType::uint64,
                  .op = RedOp::user,
                  .root = root,
                  .custom = composition(context)});
      };
      const auto right = [&](std::size_t first) {
        for (std::size_t i = 0; i < count; ++i)
          if (recv[i] != composed(p, first + i))
            throw std::runtime_error(
                fmt::format("{} of {}: another order by {}", i, count, comm.last_call().algorithm));
      };
      call(Collective::all_reduce, 0);
      right(0);
      for (Rank root = 0; root < p; ++root) {
        call(Collective::reduce, root);
        if (me == root) right(0);
      }
      call(Collective::reduce_scatter, 0);
      right(static_cast<std::size_t>(me) * count);
    }
  }));
}

/// Throws what its context says.
void refuse(const void*, void*, std::size_t, DType, void* context) {
  if (*static_cast<const int*>(context) == 1) throw std::runtime_error("too hot");
  throw 2;
}

TEST_P(Operators, ThatThrowFailTheCommunicator) {
  const int p = GetParam().ranks;
  if (p == 1) return;  // nothing to combine
  for (const int what : {1, 2}) {
    const std::string expected = what == 1 ? "the user-defined operator threw an exception: too hot"
                                           : "the user-defined operator threw something that is no std::exception";
    for (const std::size_t count : kCounts) {
      // Others may read what a rank gave until all have destroyed the failed communicator: it outlives them.
      std::vector<std::vector<float>> buffers(2 * static_cast<std::size_t>(p), std::vector<float>(count, 1));
      int says = what;
      expect_all_right(run_ranks(p, test_options(GetParam().nodes), [&](runtime::Communicator& comm, Gathering&) {
        const Rank me = comm.info().rank;
        const auto custom = std::make_shared<runtime::CallerOp>(
            runtime::CallerOp{.user = {.fold = refuse, .context = &says, .commutative = true}});
        for (int n = 0; n < 2; ++n) {  // the second time the communicator has failed already
          try {
            comm.run({.collective = Collective::all_reduce,
                      .send = buffers[static_cast<std::size_t>(2 * me)].data(),
                      .recv = buffers[static_cast<std::size_t>(2 * me + 1)].data(),
                      .count = count,
                      .dtype = DType::fp32,
                      .op = RedOp::user,
                      .custom = custom});
            throw std::logic_error(fmt::format("rank {}, call {} went well", me, n));
          } catch (const SystemError& error) {
            if (std::string_view(error.what()).find(expected) == std::string_view::npos)
              throw std::logic_error(std::string("another error: ") + error.what());
          }
        }
      }));
    }
  }
}

TEST_P(Operators, PremultipliedSums) {
  const int p = GetParam().ranks;
  expect_all_right(run_ranks(p, test_options(GetParam().nodes), [&](runtime::Communicator& comm, Gathering&) {
    const Rank me = comm.info().rank;
    float scalar = static_cast<float>(me + 1);
    runtime::CallerOp op;
    std::memcpy(op.scalar.data(), &scalar, sizeof(scalar));
    const auto custom = std::make_shared<runtime::CallerOp>(op);
    const float factor = static_cast<float>(p * (p + 1) / 2);
    for (const std::size_t count : kCounts) {
      for (const Collective collective : {Collective::all_reduce, Collective::reduce, Collective::reduce_scatter}) {
        for (const bool in_place : {false, true}) {
          const std::size_t all =
              collective == Collective::reduce_scatter ? count * static_cast<std::size_t>(p) : count;
          std::vector<float> send(all), recv(all, -1.0F);
          for (std::size_t i = 0; i < all; ++i) send[i] = static_cast<float>(i % 100);
          const std::vector<float> before = send;
          float* into = in_place ? send.data() : recv.data();
          const Rank root = p - 1;
          comm.run({.collective = collective,
                    .send = send.data(),
                    .recv = into,
                    .count = count,
                    .dtype = DType::fp32,
                    .op = RedOp::sum,
                    .root = collective == Collective::reduce ? root : 0,
                    .custom = custom});
          const std::size_t first = collective == Collective::reduce_scatter ? static_cast<std::size_t>(me) * count : 0;
          if (collective != Collective::reduce || me == root)
            for (std::size_t i = 0; i < count; ++i)
              if (into[i] != factor * before[first + i]) throw std::runtime_error("a wrong sum of products");
          if (!in_place && send != before) throw std::runtime_error("the input was written");
        }
      }
    }
  }));
}

INSTANTIATE_TEST_SUITE_P(On, Operators,
                         placed_on({Placement{1, ""}, Placement{2, ""}, Placement{5, ""}, Placement{2, "2"},
                                    Placement{5, "2"}, Placement{4, "0,1,0,1"}}),
                         name_of_placement);

}  // namespace
}  // namespace umbel::test
