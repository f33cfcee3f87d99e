// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/waiter.hpp"

#include <fcntl.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

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
constexpr auto kEnough = 100us;     ///< awake, to say anything of that
constexpr double kOwn = 0.9;        ///< of the time awake that a rank gets which has its core to itself
/// Where others want the core, yields before this rank sleeps. A yield does not say whom it lets run: the scheduler
/// shares cores by the time used, and gives one that goes on looking as much as those that it waits for.
constexpr int kSharedYields = 4;

/// Time that the calling thread has run.
std::chrono::nanoseconds time_run() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// Time that it could have run, had others not had its core; 0 for ever where the kernel does not count it. Opened anew
/// each time: a descriptor that is kept would be one for each thread.
std::chrono::nanoseconds time_held_up() noexcept {
  std::array<char, 96> text{};  // "ran held_up slices"; what it ran comes late
  const int fd = ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0ns;
  const ssize_t length = ::read(fd, text.data(), text.size());
  ::close(fd);
  const char* const end = text.data() + std::max<ssize_t>(length, 0);
  const char* const gap = std::find(static_cast<const char*>(text.data()), end, ' ');
  std::int64_t value = 0;
  if (gap != end) std::from_chars(gap + 1, end, value);
  return std::chrono::nanoseconds(value);
}

void relax() noexcept {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

}  // namespace

Waiter::Waiter(Context& context, Participant& self, WaitMode mode, bool crowded)
    : context_(context), self_(self), mode_(mode), crowded_(crowded) {}

/// Does this thread share its core? By how long it was held up, of the time that it was not asleep or blocked.
void Waiter::look_for_others(Clock::time_point now) noexcept {
  if (now - looked_at_ < kLookEvery) return;
  looked_at_ = now;
  const std::chrono::nanoseconds ran = time_run(), held_up = time_held_up();
  const std::chrono::nanoseconds got = ran - ran_, awake = got + (held_up - held_up_);
  const std::thread::id thread = std::this_thread::get_id();
  if (thread == thread_ && awake < kEnough) return;
  if (thread == thread_ && static_cast<double>(got.count()) < kOwn * static_cast<double>(awake.count()))
    shared_until_ = now + kShareFor;
  thread_ = thread;
  ran_ = ran;
  held_up_ = held_up;
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
    self_.tell_awaited();
    announcement_ = context_.announce_sleep();
    announced_ = true;
    return waited;
  }
  announced_ = false;
  context_.sleep(self_, announcement_, kLongestSleep, awaited != Awaited::node_mates);
  return waited;
}

}  // namespace umbel::runtime
