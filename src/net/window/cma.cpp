// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "net/window/cma.hpp"

#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/core.h>

#include "base/error.hpp"

namespace umbel::net {
namespace {

// The kernel moves at most 0x7ffff000 bytes a call and says nothing about the rest.
constexpr std::size_t kMostPerCall = std::size_t{1} << 30U;

void* pointer_to(std::uint64_t address) noexcept {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));  // NOLINT(performance-no-int-to-ptr)
}

ssize_t read_once(pid_t pid, std::uint64_t remote, void* local, std::size_t bytes) noexcept {
  const iovec to{local, bytes};
  const iovec from{pointer_to(remote), bytes};
  return process_vm_readv(pid, &to, 1, &from, 1, 0);
}

const char* cause_of(int error) noexcept {
  switch (error) {
    case EPERM:
      return "not permitted: another user, Yama's ptrace_scope (sysctl kernel.yama.ptrace_scope=0), or a container "
             "without the right (docker run --cap-add=SYS_PTRACE)";
    case ENOSYS:
      return "the kernel or a seccomp filter has no process_vm_readv";
    case ESRCH:
      return "no such process: it died, or it lives in another PID namespace";
    case EFAULT:
      return "the address is not mapped in that process";
    default:
      return "unexpected";
  }
}

}  // namespace

void allow_cma() noexcept {
#ifdef PR_SET_PTRACER
  (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
#endif
}

CmaProbe probe_cma(pid_t pid, std::uint64_t remote, std::uint64_t expected) {
  if (pid == getpid()) return {true, {}};
  std::uint64_t value = 0;
  const ssize_t got = read_once(pid, remote, &value, sizeof value);
  if (got < 0) {
    return {false, fmt::format("process_vm_readv of process {}: {} ({})", pid, std::strerror(errno), cause_of(errno))};
  }
  if (got != static_cast<ssize_t>(sizeof value) || value != expected) {
    return {false, fmt::format("process {} is not the one it should be (read another value)", pid)};
  }
  return {true, {}};
}

void cma_read(pid_t pid, std::uint64_t remote, void* local, std::size_t bytes) {
  if (pid == getpid()) {
    if (bytes != 0) std::memcpy(local, pointer_to(remote), bytes);
    return;
  }
  std::size_t done = 0;
  while (done < bytes) {
    const std::size_t part = std::min(bytes - done, kMostPerCall);
    const ssize_t got = read_once(pid, remote + done, static_cast<char*>(local) + done, part);
    if (got > 0) {
      done += static_cast<std::size_t>(got);
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    const int error = got < 0 ? errno : EFAULT;
    throw SystemError(fmt::format("reading {} bytes at {:#x} of process {}, after {} of {}: {} ({})", part,
                                  remote + done, pid, done, bytes, std::strerror(error), cause_of(error)));
  }
}

}  // namespace umbel::net
