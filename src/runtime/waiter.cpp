// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/waiter.hpp"

#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

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

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* timeout) noexcept {
  return ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, timeout, nullptr, 0);
}

}  // namespace

void wake(Header& header) noexcept {
  header.doorbell.store(0, std::memory_order_relaxed);
  futex(header.doorbell, FUTEX_WAKE, 1, nullptr);
}

Waiter::Waiter(Header& own, net::Transport* transport, WaitMode mode, bool crowded)
    : own_(own), transport_(transport), mode_(mode), crowded_(crowded), spin_for_(crowded ? 0ns : kSpinFor) {}

void Waiter::disarm() noexcept {
  armed_ = false;
  own_.doorbell.store(0, std::memory_order_relaxed);
}

std::chrono::nanoseconds Waiter::idle() {
  if (rounds_ == 0) since_ = Clock::time_point{};
  if (rounds_ < kFirstLook) ++rounds_;  // no further: a wait may have more rounds than the counter has values
  if (rounds_ < kFirstLook && mode_ != WaitMode::sleep && (mode_ == WaitMode::spin || spin_for_ != 0ns)) {
    relax();
    return 0ns;
  }
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
  if (!armed_) {  // announce it, and let the caller look once more
    own_.doorbell.store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    armed_ = true;
    return waited;
  }
  sleep();
  return waited;
}

void Waiter::sleep() {
  const timespec limit{.tv_sec = 0, .tv_nsec = std::chrono::nanoseconds(kLongestSleep).count()};
  if (transport_ != nullptr) {
    if (transport_->arm()) {
      pollfd descriptor{.fd = transport_->event_fd(), .events = POLLIN, .revents = 0};
      ::ppoll(&descriptor, 1, &limit, nullptr);
    }
  } else {
    futex(own_.doorbell, FUTEX_WAIT, 1, &limit);
  }
  disarm();
}

}  // namespace umbel::runtime
