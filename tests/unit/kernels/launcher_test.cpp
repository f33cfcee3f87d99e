// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The launcher: without a GPU, that it says so; with one, every kernel against the reference and a program with loops.
#include "kernels/cuda/launcher.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "unit/kernels/data.hpp"
#include "unit/kernels/job.hpp"

namespace umbel::kernels {
namespace {

using test::Job;
using test::Random;
using test::Word;

bool have_device() {
  int devices = 0;
  return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
}

/// Memory that the GPU and the host reach, freed at the end of a test.
class Managed {
 public:
  ~Managed() {
    for (void* block : blocks_) cudaFree(block);
  }
  template <class T>
  T* copy_of(const T* from, std::size_t count) {
    void* block = nullptr;
    const std::size_t bytes = std::max<std::size_t>(count * sizeof(T), 64);
    if (cudaMallocManaged(&block, bytes, cudaMemAttachGlobal) != cudaSuccess) throw std::runtime_error("no memory");
    blocks_.push_back(block);
    std::memset(block, 0, bytes);
    if (count != 0) std::memcpy(block, static_cast<const void*>(from), count * sizeof(T));
    return static_cast<T*>(block);
  }

 private:
  std::vector<void*> blocks_;
};

/// Rank 0 of the job in managed memory.
struct OnDevice {
  explicit OnDevice(Job& job, std::size_t bytes, Managed& managed) {
    const Program& p = job.program(0);
    run.view = job.view(0);
    run.view.instrs = managed.copy_of(p.instrs.data(), p.instrs.size());
    run.view.slices = managed.copy_of(p.slices.data(), p.slices.size());
    run.view.semaphores = managed.copy_of(p.semaphores.data(), p.semaphores.size());
    run.view.binding = managed.copy_of(&job.binding(), 1);
    run.semaphore_count = static_cast<std::uint32_t>(p.semaphores.size());
    run.signal_count = static_cast<std::uint32_t>(p.signals.size());
    run.view.consumed = managed.copy_of(run.view.consumed, run.semaphore_count);
    run.view.signalled = managed.copy_of(run.view.signalled, run.signal_count);
    run.lanes = managed.copy_of(p.lanes.data(), p.lanes.size());
    run.lane_count = static_cast<std::uint32_t>(p.lanes.size());
    std::vector<std::byte*> inputs;
    for (Rank rank = 0; rank < job.ranks(); ++rank) {
      inputs.push_back(managed.copy_of(reinterpret_cast<const std::byte*>(job.input(rank)), bytes));
    }
    output = managed.copy_of(reinterpret_cast<const std::byte*>(job.output(0)), bytes);
    std::byte* window = managed.copy_of(static_cast<const std::byte*>(nullptr), 0);
    if (job.binding().window_bytes != 0) {
      const std::vector<std::byte> arena(job.binding().window_bytes);
      window = managed.copy_of(arena.data(), arena.size());
    }
    std::byte* cells = managed.copy_of(static_cast<const std::byte*>(nullptr), 0);
    if (run.semaphore_count != 0) {
      const std::vector<std::byte> zeroes(run.semaphore_count * sizeof(SemaphoreCell));
      cells = managed.copy_of(zeroes.data(), zeroes.size());
    }
    auto cell = [&](std::int32_t sem) { return reinterpret_cast<SemaphoreCell*>(cells) + sem; };
    std::vector<SemaphoreCell*> own;
    std::vector<SemaphoreCell*> targets;
    for (std::int32_t s = 0; s < static_cast<std::int32_t>(run.semaphore_count); ++s) own.push_back(cell(s));
    for (const SignalTarget& target : p.signals) targets.push_back(cell(target.sem));
    run.context.input = managed.copy_of(inputs.data(), inputs.size());
    run.context.output = managed.copy_of(&output, 1);
    run.context.window = managed.copy_of(&window, 1);
    run.context.own = managed.copy_of(own.data(), own.size());
    run.context.targets = managed.copy_of(targets.data(), targets.size());
    run.context.divisor = static_cast<std::uint32_t>(job.ranks());
    const std::uint32_t zero = 0;
    run.epoch = managed.copy_of(&zero, 1);
    run.abort = managed.copy_of(&zero, 1);
  }

  DeviceRun run;
  std::byte* output = nullptr;
};

void fill(Job& job, const Job::Options& options, Random& random) {
  const std::size_t size = size_of(options.dtype);
  for (Rank rank = 0; rank < job.ranks(); ++rank) {
    for (std::size_t i = 0; i < options.count; ++i) {
      const Word word = test::random_word(options.dtype, random);
      std::memcpy(job.input(rank) + i * size, &word, size);
    }
  }
}

Word word_at(const void* memory, DType dtype, std::size_t i) {
  Word word = 0;
  std::memcpy(&word, static_cast<const std::byte*>(memory) + i * size_of(dtype), size_of(dtype));
  return word;
}

TEST(Launcher, SaysWhatIsMissing) {
  if (have_device()) {
    EXPECT_GE(max_lanes(DType::fp32, RedOp::sum), 1);
  } else {
    EXPECT_THROW(max_lanes(DType::fp32, RedOp::sum), CudaError);
  }
}

TEST(Launcher, EveryKernelGivesTheBitsOfTheReference) {
  if (!have_device()) GTEST_SKIP() << "needs a GPU";
  constexpr int kRanks = 3;
  Random random(29);
  for (const auto& [dtype, op] : test::served()) {
    Job::Options options;
    options.dtype = dtype;
    options.op = op;
    options.count = 10007;
    std::vector<Program> programs(kRanks, test::direct_program(kRanks));
    for (Program& program : programs) program.lanes.resize(1);  // the fold alone
    Job job(programs, options);
    fill(job, options, random);
    Managed managed;
    OnDevice device(job, options.count * size_of(dtype), managed);
    launch(dtype, op, device.run, nullptr);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    for (std::size_t i = 0; i < options.count; ++i) {
      std::vector<Word> column;
      for (Rank rank = 0; rank < kRanks; ++rank) column.push_back(word_at(job.input(rank), dtype, i));
      const Word expected = test::reference_fold(dtype, op, column, op == RedOp::avg ? kRanks : 0);
      ASSERT_EQ(word_at(device.output, dtype, i), expected) << name_of(dtype) << ' ' << name_of(op) << ' ' << i;
    }
  }
}

TEST(Launcher, WhatDoesNotServeHasNoKernel) {
  EXPECT_THROW(max_lanes(DType::complex64, RedOp::min), Unsupported);
  EXPECT_THROW(max_lanes(DType::fp32, RedOp::user), Unsupported);
}

TEST(Launcher, LanesMeetAndReplay) {
  if (!have_device()) GTEST_SKIP() << "needs a GPU";
  Job::Options options;
  options.dtype = DType::int32;
  options.count = 100003;
  options.cut = {64 << 10, 5000};
  Job job({test::gather_program(0, 1, 3, 2)}, options);
  Random random(31);
  fill(job, options, random);
  Managed managed;
  OnDevice device(job, options.count * sizeof(std::int32_t), managed);
  for (int run = 0; run < 3; ++run) {
    std::memset(device.output, 0, options.count * sizeof(std::int32_t));
    launch(options.dtype, options.op, device.run, nullptr);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(std::memcmp(device.output, job.input(0), options.count * sizeof(std::int32_t)), 0) << run;
  }
}

TEST(Launcher, WaitersLeaveWhenAborted) {
  if (!have_device()) GTEST_SKIP() << "needs a GPU";
  Job job({test::gather_program(0, 1, 1, 1)}, {});
  Managed managed;
  OnDevice device(job, 0, managed);
  const Lane folding = device.run.lanes[1];
  device.run.lanes = managed.copy_of(&folding, 1);  // nobody stages
  device.run.lane_count = 1;
  const std::uint32_t one = 1;
  device.run.abort = managed.copy_of(&one, 1);
  launch(DType::int32, RedOp::sum, device.run, nullptr);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

}  // namespace
}  // namespace umbel::kernels
