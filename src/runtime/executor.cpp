// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/executor.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "net/window/cma.hpp"

namespace umbel::runtime {
namespace {

constexpr std::uint32_t kDone = ~0U;  ///< pc of a lane that is through

}  // namespace

Executor::Executor(Members& members, Health& health, Waiter& waiter)
    : members_(members), health_(health), waiter_(waiter) {
  for (int bank = 0; bank < kBanks; ++bank) {
    auto& windows = windows_[static_cast<std::size_t>(bank)];
    for (const Member& member : members.all) windows.push_back(member.arena ? member.arena.slots(bank) : nullptr);
  }
  kernels::HostContext context;
  context.reader = [this](Rank rank, Buffer buffer, std::uint64_t offset, std::byte* into, std::size_t bytes) {
    const UserBuffers& where = memory_->buffers[static_cast<std::size_t>(rank)];
    net::cma_read(members_.at(rank).process.pid, (buffer == Buffer::input ? where.input : where.output) + offset, into,
                  bytes);
  };
  memory_ = std::make_unique<MemoryAgent>(std::move(context), members, health);
}

Executor::~Executor() {
  for (auto& agent : net_) agent->abandon();
}

Loaded& Executor::load(const Built& built) {
  if (last_built_ == &built) return *last_;
  std::unique_ptr<Loaded>& slot = loaded_[&built];
  if (!slot) {
    auto fresh = std::make_unique<Loaded>();  // kept only when whole
    fresh->program = &built.program;
    fresh->consumed.resize(built.program.semaphores.size());
    fresh->signalled.resize(built.program.signals.size());
    fresh->lanes.resize(built.program.lanes.size());
    load_cells(*fresh);
    load_streams(*fresh);
    slot = std::move(fresh);
  }
  last_ = slot.get();
  last_built_ = &built;
  return *slot;
}

void Executor::load_cells(Loaded& loaded) const {
  const Program& program = *loaded.program;
  for (int bank = 0; bank < kBanks; ++bank) {
    auto& own = loaded.own[static_cast<std::size_t>(bank)];
    auto& targets = loaded.targets[static_cast<std::size_t>(bank)];
    for (std::size_t s = 0; s < program.semaphores.size(); ++s) own.push_back(members_.own().cells(bank) + s);
    for (const SignalTarget& target : program.signals)
      targets.push_back(members_.at(target.peer).arena.cells(bank) + target.sem);
  }
  for (const SignalTarget& target : program.signals)
    loaded.listeners.push_back(target.peer == members_.me ? nullptr : &members_.at(target.peer));
}

/// Numbers the message streams, one per (direction, partner, channel), and opens endpoints to all partners, those that
/// are only received from too.
void Executor::load_streams(Loaded& loaded) {
  const Program& program = *loaded.program;
  std::map<std::tuple<OpCode, Rank, std::int32_t>, std::uint32_t> numbers;
  loaded.stream_of.resize(program.instrs.size());
  for (std::size_t n = 0; n < program.instrs.size(); ++n) {
    const Instr& instr = program.instrs[n];
    if (instr.op != OpCode::send && instr.op != OpCode::recv) continue;
    try {
      members_.connect(instr.peer);
    } catch (const UcxError& error) {
      health_.fail(FailureKind::peer, error.what());
    }
    const auto next = static_cast<std::uint32_t>(numbers.size());
    loaded.stream_of[n] = numbers.try_emplace({instr.op, instr.peer, instr.channel}, next).first->second;
  }
  loaded.posted.resize(numbers.size());
  for (const Lane& lane : program.lanes)
    loaded.net_agent_of.push_back(lane.kind == LaneKind::net ? loaded.net_lanes++ : 0);
  while (net_.size() < loaded.net_lanes) net_.push_back(std::make_unique<NetAgent>(members_, health_, *memory_));
}

bool Executor::progress() {
  if (!members_.transport) return false;
  const bool moved = members_.transport->progress() != 0;
  if (moved) waiter_.note_events();
  health_.serve();
  return moved;
}

/// Whatever goes wrong here fails the communicator, std::bad_alloc too.
template <class Body>
auto Executor::guarded(Body&& body) {
  try {
    return body();
  } catch (const std::exception& error) {
    for (auto& agent : net_) agent->abandon();
    health_.fail_after(error, [this] { return health_.loss(); });
  }
}

void Executor::start(const Plan& plan, const Call& call) {
  guarded([&] {
    Loaded& loaded = load(*plan.built);
    std::ranges::fill(loaded.consumed, 0U);
    std::ranges::fill(loaded.signalled, 0U);
    std::ranges::fill(loaded.posted, 0U);
    for (std::size_t n = 0; n < loaded.lanes.size(); ++n) loaded.lanes[n] = kernels::start_of(loaded.program->lanes[n]);
    memory_->context().window = windows_[call.seq % kBanks];
    memory_->start(loaded, call);
    for (std::uint32_t n = 0; n < loaded.net_lanes; ++n) net_[n]->start(loaded, call, plan.binding);
    view_ = {.instrs = loaded.program->instrs.data(),
             .slices = loaded.program->slices.data(),
             .semaphores = loaded.program->semaphores.data(),
             .binding = &plan.binding,
             .consumed = loaded.consumed.data(),
             .signalled = loaded.signalled.data()};
    // Where the network need not be moved a step may be long: process_vm_readv is slow in small parts.
    constexpr std::uint64_t kLongStep = 1U << 20U;
    if (!members_.transport) view_.limits.bytes = kLongStep;
    running_ = &loaded;
    live_ = loaded.lanes.size();
  });
}

RankSet Executor::awaited() const {
  RankSet signallers = 0;
  const Program& program = *running_->program;
  for (const kernels::LaneState& lane : running_->lanes) {
    if (lane.pc == kDone || lane.pc == lane.end || program.instrs[lane.pc].op != OpCode::wait) continue;
    signallers |= set_of(program.semaphores[static_cast<std::size_t>(program.instrs[lane.pc].sem)].signaller);
  }
  return signallers;
}

Executor::Round Executor::round() {
  return guarded([&] {
    if (live_ > 0) return run_lanes();
    if (!members_.transport || members_.transport->flushed()) return Round::finished;
    return progress() ? Round::moved : Round::idle;
  });
}

Executor::Round Executor::run_lanes() {
  Loaded& loaded = *running_;
  const std::vector<Lane>& lanes = loaded.program->lanes;
  // Events of the network alone are no progress of this call.
  const bool events = progress();
  bool moved = false;
  for (std::uint32_t n = 0; n < loaded.net_lanes; ++n) moved |= net_[n]->poll(view_);
  for (std::size_t n = 0; n < lanes.size(); ++n) {
    kernels::LaneState& lane = loaded.lanes[n];
    if (lane.pc == kDone) continue;
    const kernels::Step step = lanes[n].kind == LaneKind::memory
                                   ? kernels::step(view_, lane, *memory_)
                                   : kernels::step(view_, lane, *net_[loaded.net_agent_of[n]]);
    if (step == kernels::Step::blocked) continue;
    moved = true;
    if (step == kernels::Step::done) {
      lane.pc = kDone;
      --live_;
    }
  }
  return moved ? Round::moved : events ? Round::events : Round::idle;
}

}  // namespace umbel::runtime
