// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "net/host.hpp"

#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include <fmt/core.h>

#include "base/error.hpp"
#include "base/hash.hpp"

namespace umbel::net {
namespace {

std::uint64_t namespace_inode(const char* name) {
  struct stat status {};
  return stat(fmt::format("/proc/self/ns/{}", name).c_str(), &status) == 0 ? status.st_ino : 0;
}

std::uint64_t read_boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string line;
  return std::getline(file, line) && !line.empty() ? hash_of(line) : 0;
}

HostHint read_host() {
  HostHint hint;
  hint.boot_id = read_boot_id();
  hint.pid_ns = namespace_inode("pid");
  hint.mount_ns = namespace_inode("mnt");
  hint.ipc_ns = namespace_inode("ipc");
  hint.net_ns = namespace_inode("net");
  hint.uts_ns = namespace_inode("uts");
  if (gethostname(hint.host_name, sizeof hint.host_name - 1) != 0) hint.host_name[0] = '\0';
  return hint;
}

}  // namespace

bool HostHint::may_share_memory(const HostHint& other) const noexcept {
  const bool other_boot = boot_id != 0 && other.boot_id != 0 && boot_id != other.boot_id;
  const bool other_pids = pid_ns != 0 && other.pid_ns != 0 && pid_ns != other.pid_ns;
  return !other_boot && !other_pids;
}

const HostHint& host_hint() {
  static const HostHint hint = read_host();
  return hint;
}

std::string to_text(const HostHint& hint) {
  return fmt::format("{} (boot {:08x}, PID namespace {})", hint.host_name, hint.boot_id >> 32U, hint.pid_ns);
}

std::uint64_t random_bits() {
  std::uint64_t bits = 0;
  ssize_t got = 0;
  do {
    got = getrandom(&bits, sizeof bits, 0);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof bits)) throw_system_error("getrandom", errno);
  return bits;
}

}  // namespace umbel::net
