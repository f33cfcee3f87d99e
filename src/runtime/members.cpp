// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/members.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace umbel::runtime {

std::string Members::name(Rank rank) const {
  const Member& member = at(rank);
  return fmt::format("rank {} (host {}, pid {})", rank, member.host.host_name, member.pid);
}

void Members::connect(Rank rank) {
  Member& member = at(rank);
  if (member.connected) return;
  // A peer that has already said goodbye or failed is in a state that no connection changes.
  if (transport->peer_state(rank) == net::PeerState::unknown) transport->connect(rank, member.address);
  member.connected = true;
}

char process_state(const Member& member) {
  if (member.same_process) return 'R';
  char path[64];
  *fmt::format_to_n(path, sizeof(path) - 1, "/proc/{}/stat", member.pid).out = '\0';
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT ? 'X' : '?';
  char text[1024];
  const ssize_t got = ::read(fd, text, sizeof(text) - 1);
  const int error = errno;
  ::close(fd);
  if (got <= 0) return got < 0 && error == ESRCH ? 'X' : '?';
  text[got] = '\0';
  // pid (name, may hold anything) state ppid … ; field 22 is the start time.
  const char* at = std::strrchr(text, ')');
  if (at == nullptr || at[1] != ' ') return '?';
  const char state = at[2];
  at += 2;
  for (int field = 3; field < 22 && at != nullptr; ++field) {
    at = std::strchr(at, ' ');
    if (at != nullptr) ++at;
  }
  if (at != nullptr && member.start_time != 0 && std::strtoull(at, nullptr, 10) != member.start_time) return 'X';
  return state;
}

}  // namespace umbel::runtime
