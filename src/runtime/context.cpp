// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/context.hpp"

#include <algorithm>
#include <deque>
#include <new>

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
    sleeper_ = std::make_unique<Sleeper>(*new (bell_block_.data) Bell);
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
  try {
    retired_.push_back(std::move(let));
    reclaim();
  } catch (...) {  // out of memory: then this block stays in use
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

net::Worker& Context::worker(const std::string& net_devices) {
  const std::scoped_lock lock(mutex_);
  std::unique_ptr<net::Worker>& worker = workers_[net_devices];
  if (worker == nullptr) {
    sleeper_->open_pipe();
    worker = std::make_unique<net::Worker>(net_devices);
    all_workers_.push_back(worker.get());
    networked_.store(true, std::memory_order_release);
  }
  return *worker;
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

void Context::serve_others(const Participant& self) noexcept {
  if (participant_count_.load(std::memory_order_relaxed) < 2 || !networked_.load(std::memory_order_acquire)) return;
  {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;
    for (net::Worker* worker : all_workers_) worker->progress();
  }
  const std::unique_lock lock(participants_mutex_, std::try_to_lock);
  if (!lock) return;
  for (Participant* participant : participants_)
    if (participant != &self && participant->has_mail()) participant->serve_mail();
}

void Context::announce_sleep() noexcept {
  sleeper_->announce(networked_.load(std::memory_order_acquire) ? Bell::on_descriptors : Bell::on_futex);
}

void Context::sleep(std::chrono::nanoseconds longest) {
  if (!networked_.load(std::memory_order_acquire)) return sleeper_->sleep_on_futex(longest);
  std::vector<int> descriptors;
  {
    const std::scoped_lock lock(mutex_);
    for (net::Worker* worker : all_workers_) {
      if (!worker->arm()) return;  // there is work
      descriptors.push_back(worker->event_fd());
    }
  }
  sleeper_->sleep_on(descriptors, longest);
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
