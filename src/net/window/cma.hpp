// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace umbel::net {

/// Cross-memory attach: reading another process's memory by process_vm_readv. Whether it is allowed depends on user
/// ids, Yama, seccomp filters and containers, so it is tried, never guessed. All ranks of a node must agree on the
/// AND of their probes before anybody uses it.
struct CmaProbe {
  bool works = false;
  std::string reason;  ///< why not, for people: the error, and which setting usually causes it; empty if it works
};

/// Lets any process of the same user read this one where Yama is in its restricted mode (PR_SET_PTRACER_ANY).
/// To be called before peers probe; harmless elsewhere.
void allow_cma() noexcept;

/// Reads the 8 bytes at `remote` in process `pid` and compares them to `expected`. Also refused: `pid` of a process
/// that is another one than we think (the value differs).
CmaProbe probe_cma(pid_t pid, std::uint64_t remote, std::uint64_t expected);

/// Copies `bytes` from address `remote` of process `pid` to `local`, however many system calls that takes; inside one
/// process a memcpy. @throws SystemError (names the process, the address and the cause).
void cma_read(pid_t pid, std::uint64_t remote, void* local, std::size_t bytes);

}  // namespace umbel::net
