// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "net/ucx/descriptors.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>

#include <fmt/core.h>

#include "base/error.hpp"

namespace umbel::net {
namespace {

constexpr rlim_t kOfWorker = 16;      // listening sockets, event and epoll descriptors
constexpr rlim_t kOfConnection = 2;   // both sides may open one
constexpr int kMostConnections = 32;  // algorithms use few partners; a rank of thousands does not connect to all

}  // namespace

void require_descriptors(bool worker, int connections) {
  const rlim_t needed =
      (worker ? kOfWorker : 0) + kOfConnection * static_cast<rlim_t>(std::clamp(connections, 0, kMostConnections));
  rlimit limit{};
  if (needed == 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  std::error_code error;
  const std::filesystem::directory_iterator open("/proc/self/fd", error);
  if (error == std::errc::too_many_files_open)
    throw SystemError("no file descriptor is left: raise the limit (ulimit -n)");
  if (error) return;  // no /proc: nothing to be learned
  const auto used = static_cast<rlim_t>(std::distance(begin(open), end(open)));
  const rlim_t left = limit.rlim_cur - std::min(used, limit.rlim_cur);
  if (left < needed)
    throw SystemError(
        fmt::format("the network needs about {} file descriptors, and {} of {} are left: raise the limit (ulimit -n)",
                    needed, left, limit.rlim_cur));
}

}  // namespace umbel::net
