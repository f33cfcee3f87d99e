// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "net/window/memory_limits.hpp"

#include <sys/resource.h>

#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>

#include <fmt/core.h>

namespace umbel::net {
namespace {

std::uint64_t meminfo_bytes(const std::string& name) {
  std::ifstream file("/proc/meminfo");
  std::string key;
  std::uint64_t kib = 0;
  std::string unit;
  while (file >> key >> kib) {
    std::getline(file, unit);
    if (key == name + ":") return kib * 1024;
  }
  return 0;
}

std::optional<std::uint64_t> read_number(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  if (file >> value) return value;  // "max" is no number: no limit
  return std::nullopt;
}

/// The tightest memory limit on the way from this process's control group to the root.
std::optional<std::uint64_t> cgroup_limit() {
  std::ifstream file("/proc/self/cgroup");
  std::optional<std::uint64_t> limit;
  const auto tighten = [&limit](std::optional<std::uint64_t> other) {
    if (other && (!limit || *other < *limit)) limit = other;
  };
  for (std::string line; std::getline(file, line);) {
    const auto second_colon = line.find(':', line.find(':') + 1);
    if (second_colon == std::string::npos) continue;
    std::string path = line.substr(second_colon + 1);
    const bool v2 = line.rfind("0::", 0) == 0;
    if (!v2 && line.find(":memory:") == std::string::npos) continue;
    const std::string root = v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    const std::string leaf = v2 ? "/memory.max" : "/memory.limit_in_bytes";
    while (true) {
      tighten(read_number(root + (path == "/" ? "" : path) + leaf));
      if (path.empty() || path == "/") break;
      path.resize(path.rfind('/'));
    }
  }
  return limit;
}

}  // namespace

std::string bytes_text(std::size_t bytes) {
  constexpr double kMiB = 1024.0 * 1024.0;
  return fmt::format("{:.1f} MiB ({} bytes)", static_cast<double>(bytes) / kMiB, bytes);
}

std::string file_size_obstacle(std::size_t bytes) {
  rlimit file_size{};
  if (getrlimit(RLIMIT_FSIZE, &file_size) != 0 || file_size.rlim_cur == RLIM_INFINITY || bytes <= file_size.rlim_cur)
    return {};
  return fmt::format("the limit on file sizes is {}: raise it (ulimit -f unlimited)", bytes_text(file_size.rlim_cur));
}

std::string memory_obstacle(std::size_t bytes) {
  if (const auto limit = cgroup_limit(); limit && bytes > *limit) {
    return fmt::format("the control group's memory limit is {}: raise it (docker run --memory, Slurm --mem)",
                       bytes_text(*limit));
  }
  const std::uint64_t available = meminfo_bytes("MemAvailable") + meminfo_bytes("SwapFree");
  if (available != 0 && bytes > available) {
    return fmt::format("{} of memory are available: use fewer ranks per node or smaller windows",
                       bytes_text(available));
  }
  return {};
}

}  // namespace umbel::net
