// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Registered memory: what the owner gets, and what another process sees of it. That process is this program again, by
// exec; here it is the owner.
#include "runtime/registered.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>

#include "base/error.hpp"

namespace umbel::runtime {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kMiB = std::size_t{1} << 20U;

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// Lines of /proc/self/maps that show windows, with these rights.
std::size_t window_mappings(const std::string& rights) {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);)
    if (line.find("umbel-window") != std::string::npos && line.find(rights) != std::string::npos) ++count;
  return count;
}

/// Bytes of memory behind all windows, as far as this process has touched them.
std::size_t window_bytes_in_use() {
  std::ifstream file("/proc/self/status");
  std::string key;
  for (std::size_t kib = 0; file >> key;)
    if (key == "RssShmem:" && file >> kib) return kib * 1024;
  return 0;
}

std::string error_of_release(RegisteredMemory& memory, void* address) {
  try {
    memory.release(address);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no error";
}

std::byte* bytes_of(void* memory) { return static_cast<std::byte*>(memory); }

TEST(Registered, IsZeroedAndAligned) {
  RegisteredMemory memory;
  std::byte* const a = bytes_of(memory.allocate(10000));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a) % 4096, 0U);
  std::memset(a, 1, 10000);
  std::byte* const b = bytes_of(memory.allocate(1));
  EXPECT_TRUE(b >= a + 10000 || b < a);
  memory.release(a);
  std::byte* const again = bytes_of(memory.allocate(10000));
  EXPECT_EQ(again, a) << "the test looks at memory that was used before";
  for (std::size_t i = 0; i < 10000; ++i) ASSERT_EQ(again[i], std::byte{0}) << i;
}

TEST(Registered, NothingIsNull) {
  RegisteredMemory memory;
  EXPECT_EQ(memory.allocate(0), nullptr);
  memory.release(nullptr);
}

TEST(Registered, WhatIsNotItsOwnIsNotFreed) {
  RegisteredMemory memory;
  std::byte* const block = bytes_of(memory.allocate(8192));
  int foreign = 0;
  RegisteredMemory others;
  void* const theirs = others.allocate(8192);
  for (void* address : {static_cast<void*>(&foreign), static_cast<void*>(block + 4096), theirs})
    EXPECT_THAT(error_of_release(memory, address), HasSubstr("is not the start of registered memory"));
  block[0] = std::byte{1};
  memory.release(block);
  EXPECT_THAT(error_of_release(memory, block), HasSubstr("freed already"));
}

TEST(Registered, TooMuchIsAClearError) {
  RegisteredMemory memory;
  for (const std::size_t bytes :
       {std::numeric_limits<std::size_t>::max(), std::size_t{1} << 63U, std::size_t{1} << 46U})
    EXPECT_THROW(memory.allocate(bytes), SystemError) << bytes;
  EXPECT_NE(memory.allocate(1), nullptr) << "usable afterwards";
}

TEST(Registered, FindsWhatLiesInItWhole) {
  RegisteredMemory memory;
  std::byte* const a = bytes_of(memory.allocate(8192));
  std::byte* const b = bytes_of(memory.allocate(8192));
  const auto at_a = memory.find(a, 8192), inside = memory.find(a + 100, 1), at_b = memory.find(b, 8192);
  ASSERT_TRUE(at_a && inside && at_b);
  EXPECT_EQ(at_a->begin, at_b->begin) << "small blocks share a window";
  EXPECT_EQ(at_a->begin, inside->begin);
  EXPECT_TRUE(at_a->holds(reinterpret_cast<std::uint64_t>(b), 8192));
  EXPECT_FALSE(memory.find(a, std::size_t{1} << 40U)) << "it ends before that";
  EXPECT_FALSE(memory.find(a, std::numeric_limits<std::size_t>::max()));
  const auto end = static_cast<std::uint64_t>(at_a->begin + at_a->bytes());
  EXPECT_TRUE(at_a->holds(end - 1, 1));
  EXPECT_FALSE(at_a->holds(end - 1, 2));
  EXPECT_FALSE(at_a->holds(end, 0));
  EXPECT_FALSE(at_a->holds(at_a->begin - 1, 2));
  const std::vector<std::byte> heap(100);
  EXPECT_FALSE(memory.find(heap.data(), heap.size()));
  EXPECT_FALSE(memory.find(nullptr, 0));
  std::byte* const large = bytes_of(memory.allocate(65 * kMiB));  // does not fit into the first window
  const auto at_large = memory.find(large + 65 * kMiB - 1, 1);
  ASSERT_TRUE(at_large);
  EXPECT_NE(at_large->begin, at_a->begin);
  memory.release(large);
}

TEST(Registered, WindowsAreToldOnceAndAsFarAsThereIsRoom) {
  RegisteredWindows told;
  for (const std::uint32_t turn : {0U, 1U})
    for (std::uint32_t n = 0; n < RegisteredWindows::kMost; ++n)
      EXPECT_EQ(told.tell({.begin = 4096U * (n + 1), .window = {}}), n + 1) << turn;
  EXPECT_EQ(told.count, RegisteredWindows::kMost);
  EXPECT_EQ(told.tell({.begin = 1U << 30U, .window = {}}), 0U);
  EXPECT_EQ(told.windows[3].begin, 4U * 4096U);
}

TEST(Registered, AThousandCyclesLeaveNothing) {
  RegisteredMemory memory;
  memory.release(memory.allocate(kMiB));
  const std::size_t descriptors = open_descriptors(), mappings = window_mappings("rw-s"),
                    in_use = window_bytes_in_use();
  for (std::size_t k = 0; k < 1000; ++k) {
    void* const a = memory.allocate(1 + k * 37 % 30000);
    void* const b = memory.allocate(1 + k * 101 % 50000);
    std::memset(a, 1, 1);
    memory.release(a);
    memory.release(b);
  }
  EXPECT_EQ(open_descriptors(), descriptors);
  EXPECT_EQ(window_mappings("rw-s"), mappings);
  EXPECT_LE(window_bytes_in_use(), in_use + 64 * 1024) << "the memory went back";
}

TEST(Registered, ManyAllocationsNeedFewDescriptors) {
  RegisteredMemory memory;
  const std::size_t before = open_descriptors();
  std::vector<void*> blocks;
  for (std::size_t k = 0; k < 2000; ++k) blocks.push_back(memory.allocate(4096));
  EXPECT_LE(open_descriptors(), before + 2);
  std::ranges::sort(blocks);
  EXPECT_EQ(std::ranges::unique(blocks).begin(), blocks.end());
  for (void* block : blocks) memory.release(block);
}

TEST(Registered, ServesThreadsAtTheSameTime) {
  RegisteredMemory memory;
  std::vector<std::thread> threads;
  std::array<int, 4> wrong{};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int k = 0; k < 100; ++k) {
        const std::size_t bytes = 1000U + static_cast<std::size_t>(k * 173 % 9000);
        std::byte* const mine = bytes_of(memory.allocate(bytes));
        std::memset(mine, t + 1, bytes);
        const auto place = memory.find(mine, bytes);
        if (!place || mine[bytes - 1] != std::byte(t + 1)) ++wrong[static_cast<std::size_t>(t)];
        memory.release(mine);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, ::testing::Each(0));
}

/// What the owner does: one letter from stdin, an answer on stdout.
struct Told {
  RegisteredWindow window;
  std::uint64_t address = 0;
};
constexpr std::size_t kBytes = 3 * 4096;

int owner_main() {
  RegisteredMemory& memory = RegisteredMemory::of_process();
  std::byte* block = nullptr;
  int turn = 0;
  for (char command = 0; ::read(STDIN_FILENO, &command, 1) == 1;) {
    if (command == 'f') memory.release(std::exchange(block, nullptr));
    if (command == 'a') {
      if (turn == 0) (void)memory.allocate(4096);  // so that the other is not at the start of a window
      block = bytes_of(memory.allocate(kBytes));
      std::memset(block, ++turn, kBytes);
    }
    Told told;
    if (block != nullptr) told = {*memory.find(block, kBytes), reinterpret_cast<std::uint64_t>(block)};
    if (::write(STDOUT_FILENO, &told, sizeof told) != static_cast<ssize_t>(sizeof told)) return 2;
  }
  return 0;
}

class Owner {
 public:
  Owner() {
    std::array<int, 2> to{};
    std::array<int, 2> from{};
    if (::pipe2(to.data(), O_CLOEXEC) != 0 || ::pipe2(from.data(), O_CLOEXEC) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(to[0], STDIN_FILENO);
      ::dup2(from[1], STDOUT_FILENO);
      ::execl("/proc/self/exe", "runtime_registered", "--owner", nullptr);
      ::_exit(3);
    }
    ::close(to[0]);
    ::close(from[1]);
    to_ = to[1];
    from_ = from[0];
  }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner() { kill(); }

  Told ask(char command) const {
    std::array<char, sizeof(Told)> raw{};
    if (::write(to_, &command, 1) != 1 || ::read(from_, raw.data(), raw.size()) != static_cast<ssize_t>(raw.size()))
      std::abort();
    Told told;
    std::memcpy(&told, raw.data(), raw.size());
    return told;
  }
  void kill() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::close(to_);
    ::close(from_);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
};

/// A node-mate's side: what it was told, and what it has mapped.
struct Mate {
  std::byte* find(const Told& from) { return mapped.in_window(0, told, told.tell(from.window), from.address); }

  RegisteredWindows told;
  MappedMemory mapped;
};

std::vector<std::byte> content(const std::byte* from) { return {from, from + kBytes}; }
std::vector<std::byte> all_of(int value) { return std::vector<std::byte>(kBytes, std::byte(value)); }

TEST(Mapped, IsReadInPlaceAndNeverWritten) {
  const Owner owner;
  Mate mate;
  const Told told = owner.ask('a');
  const std::byte* const data = mate.find(told);
  ASSERT_NE(data, nullptr);
  EXPECT_EQ(content(data), all_of(1));
  EXPECT_EQ(window_mappings("r--s"), 1U);
  EXPECT_EQ(mate.mapped.find(0, mate.told, told.address, kBytes), data) << "by the address alone";
  EXPECT_EQ(mate.mapped.find(0, mate.told, told.address, 1U << 30U), nullptr) << "not all of it is there";
  EXPECT_EQ(mate.mapped.find(1, mate.told, 4096, 1), nullptr);
}

TEST(Mapped, AnAddressThatIsGivenOutAgainIsReadAnew) {
  const Owner owner;
  Mate mate;
  const Told first = owner.ask('a');
  EXPECT_EQ(content(mate.find(first)), all_of(1));
  std::byte* const old = mate.find(first);
  owner.ask('f');
  EXPECT_EQ(content(old), all_of(0)) << "what was freed is gone here too";
  const Told second = owner.ask('a');
  EXPECT_EQ(second.address, first.address) << "the test looks at an address that was used before";
  EXPECT_EQ(content(mate.find(second)), all_of(2));
  EXPECT_EQ(window_mappings("r--s"), 1U) << "one mapping for all";
}

TEST(Mapped, NothingIsLeftOfAnOwnerThatIsKilled) {
  const std::size_t descriptors = open_descriptors();
  Owner owner;
  std::optional<Mate> mate(std::in_place);
  const Told told = owner.ask('a');
  const std::byte* const data = mate->find(told);
  ASSERT_NE(data, nullptr);
  owner.kill();
  EXPECT_EQ(content(data), all_of(1)) << "readable as long as it is mapped";
  mate.reset();
  EXPECT_EQ(window_mappings("r--s"), 0U);
  EXPECT_EQ(open_descriptors(), descriptors);
}

TEST(Mapped, WhatIsOutOfReachIsToldEachTime) {
  Owner owner;
  const Told told = owner.ask('a');
  owner.kill();
  Mate mate;
  for (int k = 0; k < 3; ++k) EXPECT_EQ(mate.find(told), nullptr);
}

TEST(Mapped, WithoutDescriptorsItIsNotMappedAndNoError) {
  const Owner owner;
  const Told told = owner.ask('a');
  Mate mate;
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &old), 0);
  rlimit tight = old;
  tight.rlim_cur = 1;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  const std::byte* const data = mate.find(told);
  ::setrlimit(RLIMIT_NOFILE, &old);
  EXPECT_EQ(data, nullptr);
  EXPECT_EQ(mate.find(told), nullptr) << "not tried again";
  Mate another;
  EXPECT_NE(another.find(told), nullptr) << "it was the limit";
}

}  // namespace
}  // namespace umbel::runtime

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--owner") == 0) return umbel::runtime::owner_main();
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
