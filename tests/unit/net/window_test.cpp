// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Windows between processes. The other process is this program again, started by exec with `--peer`: a plain fork
// would share the parent's state, which is not what two ranks do.
#include "net/window/window.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.hpp"
#include "net/window/cma.hpp"
#include "support/deny_cma.hpp"

namespace umbel::net {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kSecret = 0x5ec2e7c0ffee1234ULL;

std::size_t open_descriptors() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    (void)entry;
    ++count;
  }
  return count;
}

/// Lines of /proc/self/maps that show windows.
std::size_t window_mappings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find("umbel-window") != std::string::npos ? 1 : 0;
  return count;
}

/// What the other process does: reads commands (one letter) from stdin and answers on stdout, both pipes.
struct Announcement {
  WindowDescriptor window;
  std::int32_t pid = 0;
  std::uint64_t secret_address = 0;
};

int peer_main() {
  static std::uint64_t secret = kSecret;
  allow_cma();
  Window window = Window::create(1 << 20);
  window.populate(0, window.bytes());
  std::memcpy(window.data(), "written by the owner", 21);
  Announcement a{window.descriptor(), getpid(), reinterpret_cast<std::uint64_t>(&secret)};
  if (write(STDOUT_FILENO, &a, sizeof a) != static_cast<ssize_t>(sizeof a)) return 2;
  char command = 0;
  while (read(STDIN_FILENO, &command, 1) == 1) {
    std::uint64_t answer = 0;
    if (command == 'd') std::memcpy(&answer, window.data() + 4096, sizeof answer);
    if (command == 'x') window.discard(4096, 4096);
    if (write(STDOUT_FILENO, &answer, sizeof answer) != static_cast<ssize_t>(sizeof answer)) return 2;
  }
  return 0;
}

class PeerProcess {
 public:
  PeerProcess() {
    std::array<int, 2> to{};
    std::array<int, 2> from{};
    if (pipe2(to.data(), O_CLOEXEC) != 0 || pipe2(from.data(), O_CLOEXEC) != 0) std::abort();
    pid_ = fork();
    if (pid_ == 0) {
      dup2(to[0], STDIN_FILENO);
      dup2(from[1], STDOUT_FILENO);
      execl("/proc/self/exe", "net_window", "--peer", nullptr);
      _exit(3);
    }
    close(to[0]);
    close(from[1]);
    to_ = to[1];
    from_ = from[0];
    if (read(from_, &said, sizeof said) != static_cast<ssize_t>(sizeof said)) std::abort();
  }
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;
  ~PeerProcess() { end(); }

  std::uint64_t ask(char command) {
    std::uint64_t answer = 0;
    if (write(to_, &command, 1) != 1 || read(from_, &answer, sizeof answer) != static_cast<ssize_t>(sizeof answer)) {
      ADD_FAILURE() << "the other process does not answer";
    }
    return answer;
  }

  void end(bool by_kill = false) {
    if (pid_ < 0) return;
    if (by_kill) kill(pid_, SIGKILL);
    close(to_);
    close(from_);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

  Announcement said;

 private:
  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
};

std::string error_of_create(std::size_t bytes) {
  try {
    Window window = Window::create(bytes);
    window.populate(0, window.bytes());
  } catch (const SystemError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Window, StartsZeroedAndPageAligned) {
  Window window = Window::create(100000);
  window.populate(0, window.bytes());
  EXPECT_GE(window.bytes(), 100000U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(window.data()) % 4096, 0U);
  for (std::size_t i = 0; i < window.bytes(); ++i) ASSERT_EQ(window.data()[i], std::byte{0});
  std::memset(window.data(), 0xff, window.bytes());
  EXPECT_TRUE(attach(window.descriptor())) << "the data area does not reach into the header";
}

TEST(Window, PartsArePopulatedAndGivenBack) {
  // Nothing of it exists yet. TSan leaves a program 1.5 TiB of addresses, of which randomization may take 1 TiB.
  Window window = Window::create(std::size_t{1} << 38U);
  window.populate(1 << 20, 8192);
  std::memset(window.data() + (1 << 20), 0xff, 8192);
  window.discard(1 << 20, 4096);
  window.populate(1 << 20, 4096);
  EXPECT_EQ(window.data()[1 << 20], std::byte{0}) << "zeroes again";
  EXPECT_EQ(window.data()[(1 << 20) + 4096], std::byte{0xff}) << "and only there";
}

TEST(Window, SameProcessUsesTheSameMapping) {
  const Window window = Window::create(4096);
  const auto peer = attach(window.descriptor());
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->data(), window.data());
  EXPECT_EQ(peer->bytes(), window.bytes());
}

TEST(Window, MappingOutlivesItsOwner) {
  Window window = Window::create(4096);
  window.populate(0, 4096);
  auto peer = attach(window.descriptor());
  ASSERT_TRUE(peer);
  peer->data()[0] = std::byte{7};
  { const Window gone = std::move(window); }
  EXPECT_EQ(peer->data()[0], std::byte{7});
  EXPECT_EQ(window_mappings(), 1U);
  peer.reset();
  EXPECT_EQ(window_mappings(), 0U);
}

TEST(Window, OtherProcessReadsAndWritesBothWays) {
  PeerProcess other;
  const auto window = attach(other.said.window);
  ASSERT_TRUE(window);
  EXPECT_STREQ(reinterpret_cast<const char*>(window->data()), "written by the owner");
  const std::uint64_t value = 4711;
  std::memcpy(window->data() + 4096, &value, sizeof value);
  EXPECT_EQ(other.ask('d'), value);
  const auto again = attach(other.said.window);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->data(), window->data()) << "one mapping per process";
  other.ask('x');
  EXPECT_EQ(window->data()[4096], std::byte{0}) << "what the owner gave back is gone here too";
  other.end(true);
  EXPECT_STREQ(reinterpret_cast<const char*>(window->data()), "written by the owner") << "survives the owner's death";
}

/// Whether this process may write there, as a system call finds out.
bool writable(std::byte* at) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0 || write(ends[1], at, 1) != 1) std::abort();
  const ssize_t got = read(ends[0], at, 1);
  close(ends[0]);
  close(ends[1]);
  return got == 1;
}

TEST(Window, PeersMayBeKeptFromWriting) {
  Window own = Window::create(4096, Peers::read);
  own.populate(0, own.bytes());
  EXPECT_EQ(own.descriptor().peers, Peers::read);
  EXPECT_TRUE(writable(own.data()));
  PeerProcess other;
  WindowDescriptor theirs = other.said.window;
  for (const Peers peers : {Peers::read, Peers::write}) {
    theirs.peers = peers;
    const auto peer = attach(theirs);
    ASSERT_TRUE(peer);
    EXPECT_STREQ(reinterpret_cast<const char*>(peer->data()), "written by the owner");
    EXPECT_EQ(writable(peer->data()), peers == Peers::write);
  }
}

TEST(Window, WrongNonceIsRefused) {
  PeerProcess other;
  WindowDescriptor wrong = other.said.window;
  wrong.nonce[1] ^= 1U;
  EXPECT_FALSE(attach(wrong));
  EXPECT_TRUE(attach(other.said.window));
}

TEST(Window, WrongProcessNumberOrSizeIsRefused) {
  PeerProcess other;
  WindowDescriptor wrong = other.said.window;
  wrong.owner.pid = getpid();
  EXPECT_FALSE(attach(wrong));
  wrong = other.said.window;
  wrong.owner.start_time += 1;
  EXPECT_FALSE(attach(wrong)) << "a reused process number";
  wrong = other.said.window;
  wrong.total_bytes += 4096;
  EXPECT_FALSE(attach(wrong));
  wrong = other.said.window;
  wrong.fd = 0;  // a pipe: must be left alone
  EXPECT_FALSE(attach(wrong));
  wrong = other.said.window;
  wrong.pid_ns += 1;
  EXPECT_FALSE(attach(wrong));
}

TEST(Window, DeadOwnerIsOutOfReach) {
  PeerProcess other;
  other.end(true);
  EXPECT_FALSE(attach(other.said.window));
}

TEST(Window, TooBigIsAClearError) {
  EXPECT_THAT(error_of_create(std::size_t{1} << 42U), HasSubstr("4194304.0 MiB"));
  EXPECT_THAT(error_of_create(std::size_t{1} << 42U), HasSubstr("memory"));
  EXPECT_THAT(error_of_create(std::size_t{1} << 63U), HasSubstr("MiB"));
  EXPECT_EQ(window_mappings(), 0U);
}

TEST(Window, FileSizeLimitIsAClearErrorNotASignal) {
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  rlimit tight = old;
  tight.rlim_cur = 1 << 20;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  const std::string text = error_of_create(4 << 20);
  setrlimit(RLIMIT_FSIZE, &old);
  EXPECT_THAT(text, HasSubstr("ulimit -f"));
}

TEST(Window, NoDescriptorsLeftIsAClearError) {
  const Window first = Window::create(4096);  // whatever is read once, is read now
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &old), 0);
  const int next = dup(0);
  close(next);
  rlimit tight = old;
  tight.rlim_cur = static_cast<rlim_t>(next);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
  const std::string text = error_of_create(4096);
  setrlimit(RLIMIT_NOFILE, &old);
  EXPECT_THAT(text, HasSubstr("ulimit -n"));
}

TEST(Window, HundredCyclesLeakNothing) {
  PeerProcess other;
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 100; ++i) {
    Window window = Window::create(1 << 16);
    const auto own = attach(window.descriptor());
    const auto theirs = attach(other.said.window);
    ASSERT_TRUE(own && theirs);
    Window moved = std::move(window);
    moved = Window::create(4096);
  }
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(window_mappings(), 0U);
}

TEST(Cma, ReadsAnotherProcessOrSaysWhyNot) {
  allow_cma();
  PeerProcess other;
  const CmaProbe probe = probe_cma(other.said.pid, other.said.secret_address, kSecret);
  if (!probe.works) {
    EXPECT_THAT(probe.reason, HasSubstr("process_vm_readv"));
    GTEST_SKIP() << probe.reason;
  }
  std::uint64_t value = 0;
  cma_read(other.said.pid, other.said.secret_address, &value, sizeof value);
  EXPECT_EQ(value, kSecret);
}

TEST(Cma, WrongValueOrProcessIsRefused) {
  PeerProcess other;
  EXPECT_FALSE(probe_cma(other.said.pid, other.said.secret_address, kSecret + 1).works);
  const CmaProbe unmapped = probe_cma(other.said.pid, 8, kSecret);
  EXPECT_FALSE(unmapped.works);
  EXPECT_THAT(unmapped.reason, HasSubstr("process_vm_readv"));
  other.end();
  EXPECT_FALSE(probe_cma(other.said.pid, other.said.secret_address, kSecret).works);
}

TEST(Cma, FailedReadSaysWhere) {
  PeerProcess other;
  std::array<char, 64> buffer{};
  try {
    cma_read(other.said.pid, 4096, buffer.data(), buffer.size());
    FAIL() << "page one is never mapped";
  } catch (const SystemError& error) {
    EXPECT_THAT(error.what(), HasSubstr("0x1000"));
    EXPECT_THAT(error.what(), HasSubstr("after 0 of 64"));
  }
}

TEST(Cma, DeniedBySeccompIsToldWithTheReason) {
  PeerProcess other;
  for (const int error : {EPERM, ENOSYS}) {
    const pid_t pid = fork();
    if (pid == 0) {
      if (!test::deny_cma(error)) _exit(2);
      const CmaProbe probe = probe_cma(other.said.pid, other.said.secret_address, kSecret);
      const std::string clue = error == EPERM ? "SYS_PTRACE" : "seccomp";
      _exit(!probe.works && probe.reason.find(clue) != std::string::npos ? 0 : 3);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "wait status " << status << ", error " << error;
  }
}

TEST(Cma, SameProcessCopies) {
  const std::uint64_t value = 99;
  std::uint64_t got = 0;
  EXPECT_TRUE(probe_cma(getpid(), reinterpret_cast<std::uint64_t>(&value), 99).works);
  cma_read(getpid(), reinterpret_cast<std::uint64_t>(&value), &got, sizeof got);
  EXPECT_EQ(got, 99U);
}

}  // namespace
}  // namespace umbel::net

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--peer") == 0) return umbel::net::peer_main();
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
