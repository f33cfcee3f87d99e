// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "net/fork.hpp"

#include <pthread.h>

#include <atomic>

#include <fmt/core.h>

#include "base/error.hpp"

namespace umbel::net {
namespace {

std::atomic<bool> in_forked_child{false};

void note_child() { in_forked_child.store(true, std::memory_order_relaxed); }

}  // namespace

bool forked() noexcept { return in_forked_child.load(std::memory_order_relaxed); }

void refuse_if_forked(const char* what) {
  if (!forked()) return;
  throw InvalidArgument(
      fmt::format("{}: this process was forked from one that already used Umbel, and cannot use it itself: connections "
                  "and shared memory belong to the parent. Fork before the first communicator is made, or exec a new "
                  "program in the child (in Python: multiprocessing.set_start_method('spawn')).",
                  what));
}

void watch_for_fork() {
  static const int registered = pthread_atfork(nullptr, nullptr, note_child);
  if (registered != 0) throw_system_error("pthread_atfork", registered);
}

}  // namespace umbel::net
