// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Ranks as threads, with agents whose memory orders can be weakened.
#pragma once

#include <atomic>
#include <barrier>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/host/host_agent.hpp"
#include "kernels/host/reduce.hpp"
#include "kernels/semaphore.hpp"
#include "unit/kernels/job.hpp"

namespace umbel::test {

/// The host agent with other memory orders in its flags, to see what becomes of a program without them.
template <std::memory_order kLoad, std::memory_order kStore>
class WeakAgent : public kernels::HostAgent {
 public:
  using kernels::HostAgent::HostAgent;

  bool arrived(std::int32_t sem, std::uint32_t count) {
    const kernels::SemaphoreCell& cell = *context().own[static_cast<std::size_t>(sem)];
    return kernels::semaphore_reached(cell.value.load(kLoad), context().epoch, count);
  }
  void signal(std::int32_t signal, std::uint32_t count) {
    kernels::SemaphoreCell& cell = *context().targets[static_cast<std::size_t>(signal)];
    cell.value.store(kernels::semaphore_value(context().epoch, count), kStore);
  }
};

/// Runs gather_program `runs` times on `ranks` threads, each filling its input, running, and checking its output
/// against what the others must have filled. Between runs the ranks meet, since the job has one bank.
/// @return whether all outputs were right.
template <class Agent>
bool run_threads(int ranks, const Job::Options& options, int runs) {
  std::vector<Program> programs;
  for (Rank rank = 0; rank < ranks; ++rank) programs.push_back(gather_program(rank, ranks, 2, 2));
  Job job(std::move(programs), options);
  std::barrier meet(ranks, [&job]() noexcept { job.begin_run(); });
  std::atomic<bool> right = true;
  auto value = [](Rank rank, int run, std::uint64_t i) {
    return static_cast<std::uint32_t>(rank * 7919 + run * 31) + static_cast<std::uint32_t>(i);
  };
  auto main_of = [&](Rank rank) {
    Agent agent(job.context(rank, 0));
    for (int run = 0; run < runs; ++run) {
      for (std::uint64_t i = 0; i < options.count; ++i) {
        const std::uint32_t mine = value(rank, run, i);
        std::memcpy(job.input(rank) + i * sizeof(mine), &mine, sizeof(mine));
      }
      meet.arrive_and_wait();
      agent.context().epoch = static_cast<std::uint32_t>(run + 1);
      run_rank(job.program(rank), job.view(rank), agent, [] { std::this_thread::yield(); });
      for (std::uint64_t i = 0; i < options.count; ++i) {
        std::uint32_t expected = 0;
        for (Rank q = 0; q < ranks; ++q) expected += value(q, run, i);
        if (std::memcmp(job.output(rank) + i * sizeof(expected), &expected, sizeof(expected)) != 0) right = false;
      }
    }
  };
  std::vector<std::thread> threads;
  for (Rank rank = 0; rank < ranks; ++rank) threads.emplace_back(main_of, rank);
  for (std::thread& thread : threads) thread.join();
  return right;
}

}  // namespace umbel::test
