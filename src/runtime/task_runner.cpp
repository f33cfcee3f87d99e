// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/task_runner.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "kernels/validate.hpp"
#include "net/fork.hpp"
#include "runtime/agreement.hpp"
#include "runtime/tasks.hpp"

namespace umbel::runtime {
namespace {

using Clock = std::chrono::steady_clock;

/// So many bytes of ones, on pages of their own.
float* ones(std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  auto* memory = static_cast<float*>(std::aligned_alloc(kPage, bytes));
  if (memory == nullptr) throw std::bad_alloc();
  std::fill_n(memory, bytes / sizeof(float), 1.0F);
  return memory;
}

}  // namespace

std::unique_ptr<TaskRunner> TaskRunner::create(const net::Bootstrap& bootstrap, CommOptions options) {
  options.tuning = TuningUse::never;
  Founded founded = found(bootstrap, options);
  std::unique_ptr<TaskRunner> made;
  agree(bootstrap, "prepare its tasks",
        [&] { made = std::unique_ptr<TaskRunner>(new TaskRunner(bootstrap, std::move(founded))); });
  return made;
}

TaskRunner::TaskRunner(const net::Bootstrap& bootstrap, Founded founded)
    : bootstrap_(bootstrap),
      founded_(std::move(founded)),
      health_(founded_.members, founded_.config.timeout),
      waiter_(*founded_.context, *this, founded_.config.wait, founded_.crowded),
      executor_(founded_.members, health_, waiter_),
      input_(ones(kTaskBytes * kTaskInput)),
      output_(ones(kTaskBytes)) {
  health_.listen();
}

TaskRunner::~TaskRunner() {
  if (!net::forked()) members().own().header().closed.store(1, std::memory_order_release);
}

void TaskRunner::tell_awaited() noexcept {
  members().own().header().awaited.store(executor_.awaited(), std::memory_order_relaxed);
}

Built& TaskRunner::keep(Program program) {
  kernels::validate(program);
  if (program.semaphores.size() > founded_.layout.semaphores)
    throw Unsupported(
        fmt::format("a task needs {} semaphores, there are {}", program.semaphores.size(), founded_.layout.semaphores));
  built_.push_back(std::make_unique<Built>(Built{.program = std::move(program)}));
  return *built_.back();
}

double TaskRunner::run(Built& built, std::uint64_t bytes) {
  const std::uint64_t count = bytes / sizeof(float);
  plan_ = {.built = &built, .binding = bind(built.program, count, sizeof(float), {})};
  if (plan_.binding.window_bytes > founded_.layout.slot_bytes)
    throw Unsupported(fmt::format("a task needs {} bytes of window, there are {}: raise UMBEL_WINDOW_BYTES",
                                  plan_.binding.window_bytes, founded_.layout.slot_bytes));
  // When a rank comes out of it, all have ended their last run: their banks are free.
  bootstrap_.barrier();
  const auto start = Clock::now();
  call_ = {.seq = call_.seq + 1,
           .input = reinterpret_cast<const std::byte*>(input_.get()),
           .output = reinterpret_cast<std::byte*>(output_.get()),
           .output_bytes = kTaskBytes,
           .dtype = DType::fp32,
           .op = RedOp::sum,
           .summary = {.count = count, .collective = Collective::all_reduce, .dtype = DType::fp32, .op = RedOp::sum},
           .previous = call_.summary};
  health_.enter(call_.seq, call_.summary);
  publish();
  executor_.start(plan_, call_);
  finish_rounds();
  members().own().header().done.store(call_.seq, std::memory_order_release);
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The control line, by which node-mates know that this rank is in the run, and where its buffers are.
void TaskRunner::publish() {
  ControlLine& line = members().own().line(call_.seq);
  line.summary = call_.summary;
  line.previous = call_.previous;
  const UserBuffers buffers{.input = reinterpret_cast<std::uint64_t>(call_.input),
                            .output = reinterpret_cast<std::uint64_t>(call_.output)};
  std::memcpy(line.payload, &buffers, sizeof(buffers));
  line.seq.store(call_.seq, std::memory_order_release);
}

void TaskRunner::finish_rounds() {
  using Round = Executor::Round;
  waiter_.reset();
  for (Round round = executor_.round(); round != Round::finished; round = executor_.round()) {
    if (round == Round::moved) waiter_.reset();
    if (round == Round::idle)
      health_.look(waiter_.idle(executor_.networked() ? Awaited::moved_network : Awaited::node_mates));
    else if (health_.failed())
      health_.look(std::chrono::nanoseconds{0});
  }
}

}  // namespace umbel::runtime
