// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// What the communicators of a process share: blocks of mapped memory, arenas that are not used again too early, the
// bell. The other process is this program again, by exec.
#include "runtime/context.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "runtime/control.hpp"

namespace umbel::runtime {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMiB = std::size_t{1} << 20U;

/// Another process: says who it is, waits for one byte, rings the bell that it was told of, waits for its end.
class Other {
 public:
  explicit Other(const Context::BellPlace& bell) {
    std::array<int, 2> to{};
    std::array<int, 2> from{};
    if (::pipe(to.data()) != 0 || ::pipe(from.data()) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(to[0], STDIN_FILENO);
      ::dup2(from[1], STDOUT_FILENO);
      for (const int fd : {to[0], to[1], from[0], from[1]}) ::close(fd);
      ::execl("/proc/self/exe", "runtime_context", "--ringer", nullptr);
      ::_exit(3);
    }
    ::close(to[0]);
    ::close(from[1]);
    to_ = to[1];
    from_ = from[0];
    if (::write(to_, &bell, sizeof bell) != static_cast<ssize_t>(sizeof bell)) std::abort();
    std::array<char, sizeof(net::ProcessId)> raw{};
    if (::read(from_, raw.data(), raw.size()) != static_cast<ssize_t>(raw.size())) std::abort();
    std::memcpy(&id, raw.data(), raw.size());
  }
  Other(const Other&) = delete;
  Other& operator=(const Other&) = delete;
  ~Other() { end(); }

  void ring_it() const {
    if (::write(to_, "r", 1) != 1) std::abort();
  }
  void end() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::close(to_);
    ::close(from_);
    pid_ = -1;
  }

  net::ProcessId id;

 private:
  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
};

int ringer_main() {
  Context::BellPlace place;
  if (::read(STDIN_FILENO, &place, sizeof place) != static_cast<ssize_t>(sizeof place)) return 2;
  const auto window = net::attach(place.window);
  if (!window) return 2;
  const net::ProcessId self = net::this_process();
  if (::write(STDOUT_FILENO, &self, sizeof self) != static_cast<ssize_t>(sizeof self)) return 2;
  auto* bell = reinterpret_cast<Bell*>(window->data() + place.offset);
  char command = 0;
  while (::read(STDIN_FILENO, &command, 1) == 1) ring(*bell, place.window.owner);
  return 0;
}

bool all_zero(const SharedMemory::Block& block) {
  return std::all_of(block.data, block.data + block.bytes, [](std::byte b) { return b == std::byte{0}; });
}

TEST(SharedMemory, BlocksAreApartAndZeroedAgain) {
  SharedMemory memory;
  const auto a = memory.allocate(3 * kMiB);
  const auto b = memory.allocate(5000);
  EXPECT_EQ(b.bytes % 4096, 0U);
  EXPECT_TRUE(all_zero(a) && all_zero(b));
  std::memset(a.data, 1, a.bytes);
  EXPECT_TRUE(all_zero(b));
  std::memset(b.data, 2, b.bytes);
  memory.release(a);
  const auto c = memory.allocate(2 * kMiB);
  EXPECT_EQ(c.data, a.data) << "the first hole that is large enough";
  EXPECT_TRUE(all_zero(c));
  EXPECT_EQ(b.data[0], std::byte{2});
}

TEST(SharedMemory, NeighbouringHolesBecomeOne) {
  SharedMemory memory;
  std::vector<SharedMemory::Block> blocks;
  for (int k = 0; k < 4; ++k) blocks.push_back(memory.allocate(kMiB));
  for (const int k : {1, 3, 2, 0}) memory.release(blocks[static_cast<std::size_t>(k)]);
  EXPECT_EQ(memory.allocate(4 * kMiB).data, blocks[0].data);
}

TEST(SharedMemory, ManyBlocksNeedFewWindows) {
  SharedMemory memory;
  for (int k = 0; k < 40; ++k) (void)memory.allocate(8 * kMiB);  // 320 MiB: windows of 64, 64, 128, 256
  EXPECT_LE(memory.windows(), 4U);
  (void)memory.allocate(600 * kMiB);
  EXPECT_LE(memory.windows(), 5U) << "one that is too large for the pattern has its own";
}

/// An arena is used again only when nobody holds on to it.
class Arenas : public ::testing::Test {
 protected:
  static constexpr std::size_t kBytes = 4 * kMiB;
  ArenaLease lease() { return context_.lease(kBytes, 4096, 3); }

  Context& context_ = Context::of_process(7);
};

TEST_F(Arenas, FreeOneIsUsedAgain) {
  std::byte* data = nullptr;
  {
    const ArenaLease lease = this->lease();
    data = lease.data();
    data[0] = std::byte{1};
  }
  const ArenaLease again = lease();
  EXPECT_EQ(again.data(), data);
  EXPECT_EQ(again.data()[0], std::byte{0});
}

TEST_F(Arenas, HeldOneIsNotUsedAgainUntilLetGo) {
  std::optional<ArenaLease> lease(this->lease());
  lease->set_holders({net::this_process(), net::this_process(), net::this_process()});
  std::byte* const data = lease->data();
  std::atomic<std::uint64_t>& token = lease->tokens()[2];
  token.store(5);
  data[0] = std::byte{9};
  lease.reset();
  const ArenaLease other = this->lease();
  EXPECT_NE(other.data(), data);
  EXPECT_EQ(data[0], std::byte{9}) << "the slow node-mate may still read it";
  token.store(0);
  EXPECT_EQ(this->lease().data(), data);
}

TEST_F(Arenas, DeadHolderHoldsNothing) {
  std::optional<ArenaLease> lease(this->lease());
  Other other(context_.bell_place());
  lease->set_holders({net::this_process(), other.id, net::this_process()});
  std::byte* const data = lease->data();
  lease->tokens()[1].store(5);
  lease.reset();
  EXPECT_NE(this->lease().data(), data);
  other.end();
  EXPECT_EQ(this->lease().data(), data);
}

TEST_F(Arenas, AThousandCyclesKeepTheirMemory) {
  for (int k = 0; k < 1000; ++k) {
    const ArenaLease lease = context_.lease(kMiB / 4, 4096, 3);
    lease.tokens()[0].store(1);
    lease.tokens()[0].store(0);
  }
  const ArenaLease last = lease();
  EXPECT_LE(context_.bell_place().offset, last.offset());
  EXPECT_LT(last.offset(), 32 * kMiB);
}

class Nobody : public Participant {
 public:
  bool has_mail() const noexcept override { return false; }
  bool has_news() const noexcept override { return news; }
  void serve_mail() noexcept override {}
  bool go_on() noexcept override { return false; }
  void tell_awaited() noexcept override {}
  bool news = false;
} nobody;

struct Way {
  std::size_t context;
  bool network;  ///< there is one
  bool awaited;  ///< and may end the sleep, which then is on descriptors; else on a futex
  const char* name;
};

class Bells : public ::testing::TestWithParam<Way> {
 protected:
  Bells() : context_(Context::of_process(GetParam().context)) {
    lease_.emplace(context_.lease(kMiB, 4096, 1));
    if (GetParam().network) (void)context_.worker("", {});
  }
  void sleep(std::uint32_t announced, std::chrono::nanoseconds longest) const {
    context_.sleep(nobody, announced, longest, GetParam().awaited);
  }
  Clock::duration sleep_for(std::chrono::nanoseconds longest) const {
    const auto start = Clock::now();
    const std::uint32_t announced = context_.announce_sleep();
    context_.serve_others(nobody, false);
    sleep(announced, longest);
    return Clock::now() - start;
  }
  void settle() const {  // what the worker has to say at first
    while (sleep_for(20ms) < 15ms) {
    }
  }

  Context& context_;
  std::optional<ArenaLease> lease_;
};

TEST_P(Bells, SleepIsBounded) {
  settle();
  EXPECT_GE(sleep_for(30ms), 25ms);
}

TEST_P(Bells, AnotherProcessWakesTheSleeper) {
  Other other(context_.bell_place());
  settle();
  std::thread later([&] {
    std::this_thread::sleep_for(50ms);
    other.ring_it();
  });
  EXPECT_LT(sleep_for(20s), 10s);
  later.join();
}

TEST_P(Bells, ARingBetweenAnnouncementAndSleepIsNotLost) {
  Other other(context_.bell_place());
  settle();
  const std::uint32_t announced = context_.announce_sleep();
  other.ring_it();
  std::this_thread::sleep_for(200ms);
  const auto start = Clock::now();
  sleep(announced, 20s);
  EXPECT_LT(Clock::now() - start, 10s);
}

TEST_P(Bells, ADeadOwnersBellIsRungInVain) {
  // The ring goes to a process that is gone: nothing happens, nobody else's pipe is written to.
  Other other(context_.bell_place());
  const net::ProcessId gone = other.id;
  other.end();
  Bell bell;
  bell.sleepers.store(1);
  bell.polling.store(1);
  bell.pipe_fd.store(STDOUT_FILENO);
  ring(bell, gone);
  EXPECT_EQ(bell.rings.load(), 1U);
}

TEST_P(Bells, ARingIsForEverySleeper) {
  settle();
  const std::uint32_t first = context_.announce_sleep();
  const std::uint32_t second = context_.announce_sleep();
  context_.note_events();  // alone in the context: nobody to wake
  Other other(context_.bell_place());
  other.ring_it();
  std::this_thread::sleep_for(200ms);
  const auto start = Clock::now();
  sleep(first, 20s);
  sleep(second, 20s);  // though the first has emptied the pipe
  EXPECT_LT(Clock::now() - start, 10s);
}

TEST_P(Bells, AWithdrawnAnnouncementIsNotRung) {
  settle();
  context_.announce_sleep();
  context_.withdraw_sleep();
  EXPECT_GE(sleep_for(30ms), 25ms) << "the count is as before";
}

Clock::duration sleep_with_news(std::chrono::nanoseconds longest, bool networked) {
  Context& context = Context::of_process(10);
  const ArenaLease lease = context.lease(kMiB, 4096, 1);
  (void)context.worker("", {});
  Nobody busy;
  busy.news = true;
  const auto start = Clock::now();
  context.sleep(busy, context.announce_sleep(), longest, networked);
  return Clock::now() - start;
}

TEST(Bell, NewsFromTheNetworkKeepTheSleeperAwake) { EXPECT_LT(sleep_with_news(20s, true), 10s); }

/// One that waits for node-mates alone does not look at the network: its sleep goes on, to its bound.
TEST(Bell, NewsFromTheNetworkAreNotForWhoWaitsForNodeMates) { EXPECT_GE(sleep_with_news(30ms, false), 25ms); }

INSTANTIATE_TEST_SUITE_P(By, Bells,
                         ::testing::Values(Way{8, true, true, "network"}, Way{9, false, true, "futex"},
                                           Way{11, true, false, "futex_beside_a_network"}),
                         [](const auto& way) { return way.param.name; });

}  // namespace
}  // namespace umbel::runtime

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--ringer") == 0) return umbel::runtime::ringer_main();
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
