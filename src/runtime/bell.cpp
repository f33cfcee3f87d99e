// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/bell.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <mutex>

#include <fmt/format.h>

#include "base/error.hpp"

namespace umbel::runtime {
namespace {

timespec to_timespec(std::chrono::nanoseconds time) {
  constexpr long kSecond = 1'000'000'000;
  return {.tv_sec = static_cast<time_t>(time.count() / kSecond), .tv_nsec = static_cast<long>(time.count() % kSecond)};
}

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* timeout) noexcept {
  return ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, timeout, nullptr, 0);
}

/// Opens the owner's pipe; −1 when what stands under its number is another thing (the owner is gone).
int open_pipe_of(const net::ProcessId& owner, const Bell& bell) noexcept {
  char path[64];
  *fmt::format_to_n(path, sizeof(path) - 1, "/proc/{}/fd/{}", owner.pid, bell.pipe_fd.load(std::memory_order_relaxed))
       .out = '\0';
  char wanted[48];
  *fmt::format_to_n(wanted, sizeof(wanted) - 1, "pipe:[{}]", bell.pipe_inode.load(std::memory_order_relaxed)).out =
      '\0';
  char target[48] = {};
  if (::readlink(path, target, sizeof(target) - 1) < 0 || std::strcmp(target, wanted) != 0) return -1;
  // For reading too: with no reader left (the owner dies this moment) the write would end this process by SIGPIPE.
  return ::open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
}

void write_byte(int fd) noexcept {
  const char byte = 0;
  while (::write(fd, &byte, 1) < 0 && errno == EINTR) {
  }  // a full pipe wakes as well
}

/// The pipes of node-mates that this process has rung lately, open: to open one costs ten times as much as to write.
class OpenPipes {
 public:
  static OpenPipes& of_process() {
    static auto* pipes = new OpenPipes;  // never destroyed: static objects may ring as they end
    return *pipes;
  }

  void write_to(const net::ProcessId& owner, const Bell& bell) noexcept {
    const std::scoped_lock lock(mutex_);
    const std::uint64_t inode = bell.pipe_inode.load(std::memory_order_relaxed);
    for (const Pipe& pipe : pipes_)
      if (pipe.fd >= 0 && pipe.inode == inode && pipe.pid == owner.pid) return write_byte(pipe.fd);
    const int fd = open_pipe_of(owner, bell);
    if (fd < 0) return;
    write_byte(fd);
    Pipe& kept = pipes_[next_++ % pipes_.size()];
    if (kept.fd >= 0) ::close(kept.fd);
    kept = {.pid = owner.pid, .inode = inode, .fd = fd};
  }

 private:
  struct Pipe {
    pid_t pid = 0;
    std::uint64_t inode = 0;  ///< a pipe that is open keeps its number to itself
    int fd = -1;
  };
  static constexpr std::size_t kMost = 64;

  std::mutex mutex_;
  std::array<Pipe, kMost> pipes_{};
  std::size_t next_ = 0;
};

}  // namespace

void wake(Bell& bell, const net::ProcessId& owner) noexcept {
  bell.rings.fetch_add(1, std::memory_order_seq_cst);
  futex(bell.rings, FUTEX_WAKE, INT_MAX, nullptr);
  if (bell.polling.load(std::memory_order_seq_cst) == 0) return;
  if (owner.pid == net::this_process().pid) return write_byte(bell.pipe_fd.load(std::memory_order_relaxed));
  OpenPipes::of_process().write_to(owner, bell);
}

Sleeper::~Sleeper() {
  if (read_fd_ < 0) return;
  ::close(bell_.pipe_fd.exchange(-1));
  ::close(read_fd_);
}

void Sleeper::open_pipe() {
  if (read_fd_ >= 0) return;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) throw_system_error("pipe", errno);
  struct stat status {};
  (void)::fstat(ends[1], &status);
  read_fd_ = ends[0];
  bell_.pipe_inode.store(status.st_ino, std::memory_order_relaxed);
  bell_.pipe_fd.store(ends[1], std::memory_order_release);
}

std::uint32_t Sleeper::announce() noexcept {
  bell_.sleepers.fetch_add(1, std::memory_order_seq_cst);
  const std::uint32_t announced = bell_.rings.load(std::memory_order_seq_cst);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return announced;
}

void Sleeper::withdraw() noexcept { bell_.sleepers.fetch_sub(1, std::memory_order_relaxed); }

void Sleeper::sleep_on_futex(std::uint32_t announced, std::chrono::nanoseconds longest) noexcept {
  const timespec limit = to_timespec(longest);
  futex(bell_.rings, FUTEX_WAIT, announced, &limit);  // returns at once when it has been rung since
  withdraw();
}

void Sleeper::sleep_on(std::span<const int> descriptors, std::uint32_t announced,
                       std::chrono::nanoseconds longest) noexcept {
  std::array<pollfd, kMostDescriptors + 1> polled{};
  std::size_t count = 0;
  polled[count++] = {.fd = read_fd_, .events = POLLIN, .revents = 0};
  for (const int fd : descriptors.first(std::min(descriptors.size(), kMostDescriptors)))
    polled[count++] = {.fd = fd, .events = POLLIN, .revents = 0};
  const timespec limit = to_timespec(longest);
  bell_.polling.fetch_add(1, std::memory_order_seq_cst);
  const bool woken = rung(announced) || ::ppoll(polled.data(), count, &limit, nullptr) > 0;
  bell_.polling.fetch_sub(1, std::memory_order_relaxed);
  withdraw();
  if (!woken) return;
  std::array<char, 64> bytes{};
  while (::read(read_fd_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size())) {
  }
}

}  // namespace umbel::runtime
