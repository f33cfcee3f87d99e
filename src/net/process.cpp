// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "net/process.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

namespace umbel::net {
namespace {

struct Stat {
  char state = '?';
  std::uint64_t start_time = 0;
};

/// /proc/PID/stat: pid (name, may hold anything) state ppid …; field 22 is the start time.
Stat read_stat(std::int32_t pid) {
  char path[64];
  *fmt::format_to_n(path, sizeof(path) - 1, "/proc/{}/stat", pid).out = '\0';
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {.state = errno == ENOENT ? 'X' : '?'};
  char text[1024];
  const ssize_t got = ::read(fd, text, sizeof(text) - 1);
  const int error = errno;
  ::close(fd);
  if (got <= 0) return {.state = got < 0 && error == ESRCH ? 'X' : '?'};
  text[got] = '\0';
  const char* at = std::strrchr(text, ')');
  if (at == nullptr || at[1] != ' ') return {};
  Stat stat{.state = at[2]};
  at += 2;
  for (int field = 3; field < 22 && at != nullptr; ++field) {
    at = std::strchr(at, ' ');
    if (at != nullptr) ++at;
  }
  if (at != nullptr) stat.start_time = std::strtoull(at, nullptr, 10);
  return stat;
}

}  // namespace

const ProcessId& this_process() {
  static const ProcessId self{.pid = ::getpid(), .start_time = read_stat(::getpid()).start_time};
  return self;
}

char process_state(const ProcessId& process) {
  const Stat stat = read_stat(process.pid);
  const bool other = stat.start_time != 0 && process.start_time != 0 && stat.start_time != process.start_time;
  return other ? 'X' : stat.state;
}

}  // namespace umbel::net
