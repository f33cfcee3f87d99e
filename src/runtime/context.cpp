// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/context.hpp"

#include <sched.h>

#include <algorithm>
#include <deque>
#include <new>

#include <thread>

#include <fmt/format.h>

#include "base/error.hpp"
#include "net/fork.hpp"

namespace umbel::runtime {

// --- arenas ----------------------------------------------------------------------------------------------------------

ArenaLease::~ArenaLease() {
  if (let_ == nullptr || net::forked()) return;
  Context& context = *let_->context;
  context.retire(std::move(let_));
}

net::WindowDescriptor ArenaLease::window() const {
  const std::scoped_lock lock(let_->context->mutex_);
  return let_->context->memory_.descriptor(let_->block);
}

bool ArenaLease::Let::held() const {
  for (std::size_t rank = 0; rank < tokens.size(); ++rank) {
    if (tokens[rank].load(std::memory_order_acquire) == 0) continue;
    if (rank >= holders.size() || !net::has_ended(net::process_state(holders[rank]))) return true;
  }
  return false;
}

ArenaLease Context::lease(std::size_t bytes, std::size_t tokens_at, std::size_t ranks) {
  const std::scoped_lock lock(mutex_);
  reclaim();
  if (sleeper_ == nullptr) {
    bell_block_ = memory_.allocate(sizeof(Bell));
    Bell* bell = new (bell_block_.data) Bell;
    sleeper_ = std::make_unique<Sleeper>(*bell);
    bell_.store(bell, std::memory_order_release);
  }
  auto let = std::make_unique<ArenaLease::Let>();
  let->context = this;
  retired_.reserve(retired_.size() + 1);
  let->block = memory_.allocate(bytes);
  auto* tokens = reinterpret_cast<std::atomic<std::uint64_t>*>(let->block.data + tokens_at);
  let->tokens = {tokens, ranks};
  return ArenaLease(std::move(let));
}

void Context::retire(std::unique_ptr<ArenaLease::Let> let) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto is_zero = [](const std::atomic<std::uint64_t>& token) {
    return token.load(std::memory_order_acquire) == 0;
  };
  if (std::ranges::all_of(let->tokens, is_zero)) return memory_.release(let->block);
  try {
    retired_.push_back(std::move(let));  // looked at when memory is needed next
  } catch (...) {                        // out of memory: then this block stays in use
  }
}

void Context::reclaim() {
  std::erase_if(retired_, [this](const std::unique_ptr<ArenaLease::Let>& let) {
    if (let->held()) return false;
    memory_.release(let->block);
    return true;
  });
}

Context::BellPlace Context::bell_place() const {
  const std::scoped_lock lock(mutex_);
  return {.window = memory_.descriptor(bell_block_), .offset = bell_block_.offset};
}

// --- the network -----------------------------------------------------------------------------------------------------

net::Worker& Context::worker(const std::string& net_devices, net::HostPlace place) {
  const std::scoped_lock lock(workers_mutex_);
  const auto found = workers_.find(net_devices);
  if (found != workers_.end()) return *found->second;
  const std::size_t count = workers_.size();
  if (count == all_workers_.size())
    throw InvalidArgument(fmt::format("this process uses {} different choices of network devices already", count));
  sleeper_->open_pipe();
  net::Worker& made = *workers_.emplace(net_devices, std::make_unique<net::Worker>(net_devices, place)).first->second;
  all_workers_[count].store(&made, std::memory_order_relaxed);
  worker_count_.store(count + 1, std::memory_order_release);
  return made;
}

// --- waiting ---------------------------------------------------------------------------------------------------------

void Context::join(Participant& participant) {
  const std::scoped_lock lock(participants_mutex_);
  participants_.push_back(&participant);
  participant_count_.store(participants_.size(), std::memory_order_relaxed);
}

void Context::leave(Participant& participant) noexcept {
  const std::scoped_lock lock(participants_mutex_);
  std::erase(participants_, &participant);
  participant_count_.store(participants_.size(), std::memory_order_relaxed);
}

void Context::serve_others(const Participant& self, bool moved) noexcept {
  const auto workers = all_workers();
  if (workers.empty()) return;
  const bool alone = participant_count_.load(std::memory_order_relaxed) < 2;
  if (moved && alone) return;
  unsigned events = 0;
  for (const auto& worker : workers) events += worker.load(std::memory_order_relaxed)->progress();
  if (alone) return;
  if (events != 0) note_events();
  const std::unique_lock lock(participants_mutex_, std::try_to_lock);
  if (!lock) return;
  for (Participant* participant : participants_)
    if (participant != &self && participant->has_mail()) participant->serve_mail();
}

void Context::wake_progress_thread() {
  const std::scoped_lock lock(progress_mutex_);
  progress_asked_ = true;
  progress_wanted_.notify_one();
  if (progress_started_) return;
  std::thread([this] { run_progress_thread(); }).detach();  // contexts live to the end of the process
  progress_started_ = true;
}

void Context::run_progress_thread() noexcept {
  constexpr auto kBetweenLooks = std::chrono::microseconds(20);
  while (true) {
    bool busy = false;
    {
      const std::scoped_lock lock(participants_mutex_);
      for (Participant* participant : participants_) busy |= participant->go_on();
    }
    if (busy) {
      std::this_thread::sleep_for(kBetweenLooks);
      continue;
    }
    std::unique_lock lock(progress_mutex_);
    progress_wanted_.wait(lock, [this] { return progress_asked_; });
    progress_asked_ = false;
  }
}

void Context::note_events() noexcept {
  if (participant_count_.load(std::memory_order_relaxed) < 2) return;
  ring(*bell_.load(std::memory_order_relaxed), net::this_process());
}

void Context::sleep(const Participant& self, std::uint32_t announced, std::chrono::nanoseconds longest,
                    bool networked) noexcept {
  const auto workers = all_workers();
  // What others may want of this process by the network can wait until the sleep is over.
  const bool for_node_mates = !networked && participant_count_.load(std::memory_order_relaxed) < 2;
  if (workers.empty() || for_node_mates) return sleeper_->sleep_on_futex(announced, longest);
  std::array<int, Sleeper::kMostDescriptors> descriptors{};
  std::size_t count = 0;
  bool idle = !self.has_news();
  try {
    for (const auto& worker : workers) {
      net::Worker& at = *worker.load(std::memory_order_relaxed);
      idle = idle && at.arm();
      descriptors[count++] = at.event_fd();
    }
  } catch (const std::exception&) {  // UCX cannot be armed: a sleep that only a ring or its end interrupts
    count = 0;
  }
  if (!idle) {  // there is work
    sleeper_->withdraw();
    ::sched_yield();
    return;
  }
  sleeper_->sleep_on(std::span(descriptors).first(count), announced, longest);
}

Context& Context::of_process(std::size_t nth) {
  // Never destroyed: communicators in static objects may outlive anything that is.
  static auto* mutex = new std::mutex;
  static auto* contexts = new std::deque<std::unique_ptr<Context>>;
  const std::scoped_lock lock(*mutex);
  while (contexts->size() <= nth) contexts->push_back(std::unique_ptr<Context>(new Context));
  return *(*contexts)[nth];
}

}  // namespace umbel::runtime
