// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The agent of a GPU's thread block, on host threads: its elements against the reference, its loops and flags with
// ranks, lanes and the threads of a lane all side by side.
#include "kernels/cuda/block_agent.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "unit/kernels/data.hpp"
#include "unit/kernels/host_threads.hpp"
#include "unit/kernels/job.hpp"

namespace umbel::kernels {
namespace {

using test::GuardedBuffer;
using test::HostBlock;
using test::HostThreads;
using test::Job;
using test::Random;
using test::Word;

class BlockAgentElements : public testing::TestWithParam<test::Served> {};

/// Folds `sources` by a block of one thread.
void fold_alone(DType dtype, RedOp op, GuardedBuffer& dst, std::vector<std::byte*> sources, std::uint64_t first,
                std::uint64_t count, std::uint32_t divisor) {
  BlockContext context;
  context.divisor = divisor;
  auto fold = [&]<DType kType, RedOp kOp>() {
    HostBlock block(1);
    BlockAgent<kType, kOp, HostThreads> agent(context, 1, nullptr, HostThreads(block, 0));
    agent.reduce(reinterpret_cast<std::byte*>(dst.data()), sources.data(), static_cast<int>(sources.size()), first,
                 count, true);
  };
  test::dispatch(dtype, op, fold);
}

TEST_P(BlockAgentElements, GiveTheBitsOfTheReference) {
  const auto [dtype, op] = GetParam();
  const std::size_t size = size_of(dtype);
  Random random(23);
  for (int source_count : {1, 2, 3, 8}) {
    for (std::size_t count : std::initializer_list<std::size_t>{0, 1, 3, 16, 33, 100, 517}) {
      for (const auto& [base, stride] : {std::pair{std::size_t{0}, std::size_t{0}},
                                         {size, std::size_t{0}},
                                         {std::size_t{0}, size},
                                         {std::size_t{1}, std::size_t{1}}}) {
        const std::uint32_t divisor = count % 2 == 0 ? 0U : 3U;
        GuardedBuffer dst(count * size, base);
        std::vector<std::unique_ptr<GuardedBuffer>> buffers;
        std::vector<std::byte*> sources;
        for (int k = 0; k < source_count; ++k) {
          buffers.push_back(std::make_unique<GuardedBuffer>(count * size, base + stride * static_cast<std::size_t>(k)));
          for (std::size_t i = 0; i < count; ++i) buffers.back()->set(dtype, i, test::random_word(dtype, random));
          sources.push_back(reinterpret_cast<std::byte*>(buffers.back()->data()));
        }
        const std::size_t half = count / 3;  // in two calls, as an interrupted instruction does it
        fold_alone(dtype, op, dst, sources, 0, half, divisor);
        fold_alone(dtype, op, dst, sources, half, count - half, divisor);
        for (std::size_t i = 0; i < count; ++i) {
          std::vector<Word> column;
          for (const auto& buffer : buffers) column.push_back(buffer->get(dtype, i));
          ASSERT_EQ(dst.get(dtype, i), test::reference_fold(dtype, op, column, divisor))
              << "element " << i << " of " << count << ", " << source_count << " sources";
        }
        EXPECT_TRUE(dst.guards_intact());
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, BlockAgentElements, testing::ValuesIn(test::served()), test::name_of_served);

TEST(Fp16Element, EveryHalfSurvives) {
  for (std::uint32_t i = 0; i < 65536; ++i) {
    const auto half = static_cast<std::uint16_t>(i);
    const float value = fold_finish<RedOp::sum>(Fp16Element::load(half), 0);
    ASSERT_EQ(Fp16Element::store(value), test::encode(test::kFp16, test::decode(test::kFp16, half))) << i;
  }
}

template <int kMantissa>
void expect_every_code_survives(test::SmallFloat format) {
  using E = Fp8Element<kMantissa>;
  for (std::uint32_t code = 0; code < 256; ++code) {
    const float value = fold_finish<RedOp::sum>(E::load(static_cast<std::uint8_t>(code)), 0);
    ASSERT_EQ(E::store(value), test::encode(format, test::decode(format, code))) << code;
  }
}

TEST(Fp8Element, EveryCodeSurvives) {
  expect_every_code_survives<3>(test::kE4m3);
  expect_every_code_survives<2>(test::kE5m2);
}

/// One thread of the block that runs one lane of one rank. The counters and operands that a GPU's threads share are its
/// own here: on a GPU all threads write the same values.
template <DType kType, RedOp kOp>
void run_thread(Job& job, Rank rank, const Lane& lane, HostThreads threads) {
  const HostContext host = job.context(rank, 1);
  const BlockContext context{host.input.data(), host.output.data(),  host.window.data(),
                             host.own.data(),   host.targets.data(), host.divisor};
  std::vector<std::uint32_t> consumed(host.own.size());
  std::vector<std::uint32_t> signalled(host.targets.size());
  ProgramView view = job.view(rank);
  view.consumed = consumed.data();
  view.signalled = signalled.data();
  std::array<std::byte*, kMaxSources> operands{};
  BlockAgent<kType, kOp, HostThreads> agent(context, host.epoch, operands.data(), threads);
  LaneState state = start_of(lane);
  for (Step did = Step::advanced; did != Step::done;) {
    did = step(view, state, agent);
    if (did == Step::blocked) std::this_thread::yield();
  }
}

TEST(BlockAgentThreads, RanksLanesAndThreadsSideBySide) {
  constexpr int kRanks = 2;
  for (unsigned width : {1U, 3U}) {
    Job::Options options;
    options.dtype = DType::uint16;
    options.count = 1501;
    options.cut = {2000, 700};
    options.limits.bytes = 256;
    std::vector<Program> programs;
    for (Rank rank = 0; rank < kRanks; ++rank) programs.push_back(test::gather_program(rank, kRanks, 2, 2));
    Job job(programs, options);
    for (std::size_t i = 0; i < options.count; ++i) {
      for (Rank rank = 0; rank < kRanks; ++rank) {
        const auto value = static_cast<std::uint16_t>(static_cast<std::size_t>(rank + 1) * 10007 + i);
        std::memcpy(job.input(rank) + i * sizeof(value), &value, sizeof(value));
      }
    }
    std::vector<std::unique_ptr<HostBlock>> blocks;
    std::vector<std::thread> threads;
    for (Rank rank = 0; rank < kRanks; ++rank) {
      for (const Lane& lane : job.program(rank).lanes) {
        blocks.push_back(std::make_unique<HostBlock>(width));
        for (unsigned index = 0; index < width; ++index) {
          threads.emplace_back(run_thread<DType::uint16, RedOp::sum>, std::ref(job), rank, std::cref(lane),
                               HostThreads(*blocks.back(), index));
        }
      }
    }
    for (std::thread& thread : threads) thread.join();
    for (std::size_t i = 0; i < options.count; ++i) {
      const auto expected = static_cast<std::uint16_t>(30021 + 2 * i);
      for (Rank rank = 0; rank < kRanks; ++rank) {
        std::uint16_t value = 0;
        std::memcpy(&value, job.output(rank) + i * sizeof(value), sizeof(value));
        ASSERT_EQ(value, expected) << "rank " << rank << " element " << i << ", " << width << " threads";
      }
    }
  }
}

}  // namespace
}  // namespace umbel::kernels
