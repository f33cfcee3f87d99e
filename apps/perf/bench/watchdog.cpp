// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "watchdog.hpp"

#include <utility>

namespace umbel::bench {

Watchdog::Watchdog(Judge judge, End end) : judge_(std::move(judge)), end_(std::move(end)), thread_([this] { run(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_asked_.notify_one();
  thread_.join();
}

void Watchdog::arm(const char* what) {
  const std::lock_guard lock(mutex_);
  what_ = what;
  since_ = Clock::now();
}

void Watchdog::disarm() {
  const std::lock_guard lock(mutex_);
  what_ = nullptr;
}

void Watchdog::run() {
  constexpr auto kInterval = std::chrono::milliseconds(500);
  std::unique_lock lock(mutex_);
  while (!stop_asked_.wait_for(lock, kInterval, [this] { return stopping_; })) {
    if (what_ == nullptr) continue;
    const Seconds lasted = Clock::now() - since_;
    if (lasted < kInterval) continue;  // nothing odd yet
    if (const std::string reason = judge_(what_, lasted); !reason.empty()) end_(reason);
  }
}

}  // namespace umbel::bench
