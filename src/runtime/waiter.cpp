// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/waiter.hpp"

#include <sched.h>

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
constexpr auto kTakenAway = 5us;  ///< a yield that takes longer has let somebody else run

void relax() noexcept {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

}  // namespace

Waiter::Waiter(Context& context, const Participant& self, WaitMode mode, bool crowded)
    : context_(context), self_(self), mode_(mode), crowded_(crowded), spin_for_(crowded ? 0ns : kSpinFor) {}

void Waiter::withdraw() noexcept {
  announced_ = false;
  if (!net::forked()) context_.withdraw_sleep();
}

std::chrono::nanoseconds Waiter::idle() {
  if (rounds_ == 0) since_ = Clock::time_point{};
  if (rounds_ < kFirstLook) ++rounds_;  // no further: a wait may have more rounds than the counter has values
  if (rounds_ < kFirstLook && mode_ != WaitMode::sleep && (mode_ == WaitMode::spin || spin_for_ != 0ns)) {
    relax();
    return 0ns;
  }
  context_.serve_others(self_);
  const Clock::time_point now = Clock::now();
  if (since_ == Clock::time_point{}) since_ = now;
  const std::chrono::nanoseconds waited = now - since_;
  if (mode_ == WaitMode::spin || (mode_ == WaitMode::automatic && waited < spin_for_)) {
    relax();
    return waited;
  }
  if (mode_ != WaitMode::sleep && (waited < kYieldFor || mode_ == WaitMode::yield)) {
    ::sched_yield();
    // Whoever got the core in between is likely to want it again: spinning would only hold it up.
    if (!crowded_) spin_for_ = Clock::now() - now > kTakenAway ? 0ns : std::chrono::nanoseconds(kSpinFor);
    return waited;
  }
  if (!announced_) {
    announcement_ = context_.announce_sleep();
    announced_ = true;
    return waited;
  }
  announced_ = false;
  context_.sleep(self_, announcement_, kLongestSleep);
  return waited;
}

}  // namespace umbel::runtime
