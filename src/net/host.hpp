// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <cstdint>
#include <string>

namespace umbel::net {

/// What the system says about the host this process is on. A *hint* only: it saves attempts to map memory that cannot
/// succeed and is printed for people. Whether two ranks share a node is decided by really mapping (window/window.hpp).
struct HostHint {
  std::uint64_t boot_id = 0;   ///< hash of /proc/sys/kernel/random/boot_id (0: unreadable)
  std::uint64_t pid_ns = 0;    ///< inode of the PID namespace: process numbers mean something only inside one
  std::uint64_t mount_ns = 0;  ///< inodes of the other namespaces, for messages
  std::uint64_t ipc_ns = 0;
  std::uint64_t net_ns = 0;
  std::uint64_t uts_ns = 0;
  char host_name[64] = {};  ///< as it is, never cut at a dot; for messages

  /// Could memory be mapped between the two? False only where that is certain (other boot, other PID namespace).
  bool may_share_memory(const HostHint& other) const noexcept;
};

/// This process's host, read once.
const HostHint& host_hint();

/// `HOST (boot 1a2b…, pid namespace 4026531836)`.
std::string to_text(const HostHint& hint);

/// 64 random bits from the system; for nonces. @throws SystemError.
std::uint64_t random_bits();

}  // namespace umbel::net
