// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/waiter.hpp"

#include <sched.h>
#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "net/fork.hpp"

namespace umbel::runtime {
namespace {

using namespace std::chrono_literals;

constexpr auto kSpinFor = 20us;           ///< before the first yield
constexpr std::uint32_t kFirstLook = 64;  ///< rounds before the clock is read
constexpr auto kYieldFor = 5ms;           ///< then sleep
constexpr auto kLongestSleep = 1ms;
constexpr auto kLookEvery = 300us;  ///< at whether others want the core
constexpr auto kShareFor = 20ms;    ///< then it is taken to be so
constexpr double kOwn = 0.9;        ///< of the time awake that a rank gets which has its core to itself
/// Where others want the core, yields before this rank sleeps. A yield does not say whom it lets run: the scheduler
/// shares cores by the time used, and gives one that goes on looking as much as those that it waits for.
constexpr int kSharedYields = 4;

std::chrono::nanoseconds thread_time() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

void relax() noexcept {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

}  // namespace

Waiter::Waiter(Context& context, const Participant& self, WaitMode mode, bool crowded)
    : context_(context), self_(self), mode_(mode), crowded_(crowded) {}

/// Does this thread share its core? By what it has got of the time in which it did not sleep.
void Waiter::look_for_others(Clock::time_point now) noexcept {
  const std::chrono::nanoseconds awake = now - looked_at_ - slept_;
  if (awake < kLookEvery) return;
  const std::chrono::nanoseconds used = thread_time();
  const std::thread::id thread = std::this_thread::get_id();
  // (After a long time elsewhere, or on another thread, the two clocks say nothing of this wait.)
  if (thread == thread_ && awake < 10 * kLookEvery &&
      static_cast<double>((used - used_).count()) < kOwn * static_cast<double>(awake.count()))
    shared_until_ = now + kShareFor;
  thread_ = thread;
  used_ = used;
  looked_at_ = now;
  slept_ = 0ns;
}

void Waiter::withdraw() noexcept {
  announced_ = false;
  if (!net::forked()) context_.withdraw_sleep();
}

std::chrono::nanoseconds Waiter::idle(Awaited awaited) {
  if (rounds_ == 0) {
    since_ = Clock::time_point{};
    yields_ = 0;
  }
  if (rounds_ < kFirstLook) ++rounds_;  // no further: a wait may have more rounds than the counter has values
  const bool may_spin = !crowded_ && shared_until_ == Clock::time_point{};
  if (rounds_ < kFirstLook && mode_ != WaitMode::sleep && (mode_ == WaitMode::spin || may_spin)) {
    relax();
    return 0ns;
  }
  context_.serve_others(self_, awaited == Awaited::moved_network);
  const Clock::time_point now = Clock::now();
  if (since_ == Clock::time_point{}) since_ = now;
  const std::chrono::nanoseconds waited = now - since_;
  if (mode_ == WaitMode::automatic) look_for_others(now);
  if (now > shared_until_) shared_until_ = Clock::time_point{};
  const bool shared = crowded_ || shared_until_ != Clock::time_point{};
  if (mode_ == WaitMode::spin || (mode_ == WaitMode::automatic && !shared && waited < kSpinFor)) {
    relax();
    return waited;
  }
  const bool may_sleep = waited >= kYieldFor || (shared && yields_ >= kSharedYields);
  if (mode_ == WaitMode::yield || (mode_ == WaitMode::automatic && !may_sleep)) {
    ::sched_yield();
    ++yields_;
    return waited;
  }
  if (!announced_) {
    announcement_ = context_.announce_sleep();
    announced_ = true;
    return waited;
  }
  announced_ = false;
  context_.sleep(self_, announcement_, kLongestSleep, awaited != Awaited::node_mates);
  slept_ += Clock::now() - now;
  return waited;
}

}  // namespace umbel::runtime
