// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "net/window/memory_limits.hpp"

#include <sys/resource.h>

#include <algorithm>
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

/// What of a control group's memory could be taken back at once: file pages that nobody has used lately.
std::uint64_t inactive_file_bytes(const std::string& group) {
  std::ifstream file(group + "/memory.stat");
  std::string key;
  for (std::uint64_t value = 0; file >> key >> value;)
    if (key == "inactive_file") return value;
  return 0;
}

struct GroupRoom {
  std::uint64_t limit = 0;
  std::uint64_t room = 0;  ///< of the limit, what is not in use
};

/// The tightest memory limit on the way from this process's control group to the root.
std::optional<GroupRoom> cgroup_room() {
  std::ifstream file("/proc/self/cgroup");
  std::optional<GroupRoom> tightest;
  const auto look_at = [&tightest](const std::string& group, bool v2) {
    const auto limit = read_number(group + (v2 ? "/memory.max" : "/memory.limit_in_bytes"));
    if (!limit) return;
    const std::uint64_t used = read_number(group + (v2 ? "/memory.current" : "/memory.usage_in_bytes")).value_or(0);
    const std::uint64_t in_use = used - std::min(used, inactive_file_bytes(group));
    const std::uint64_t room = *limit - std::min(*limit, in_use);
    if (!tightest || room < tightest->room) tightest = {.limit = *limit, .room = room};
  };
  for (std::string line; std::getline(file, line);) {
    const auto second_colon = line.find(':', line.find(':') + 1);
    if (second_colon == std::string::npos) continue;
    std::string path = line.substr(second_colon + 1);
    const bool v2 = line.rfind("0::", 0) == 0;
    if (!v2 && line.find(":memory:") == std::string::npos) continue;
    const std::string root = v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    while (true) {
      look_at(root + (path == "/" ? "" : path), v2);
      if (path.empty() || path == "/") break;
      path.resize(path.rfind('/'));
    }
  }
  return tightest;
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
  if (const auto group = cgroup_room(); group && bytes > group->room) {
    return fmt::format(
        "of the control group's memory limit of {} only {} are left: raise it (docker run --memory, Slurm "
        "--mem)",
        bytes_text(group->limit), bytes_text(group->room));
  }
  const std::uint64_t available = meminfo_bytes("MemAvailable") + meminfo_bytes("SwapFree");
  if (available != 0 && bytes > available) {
    return fmt::format("{} of memory are available: use fewer ranks per node or smaller windows",
                       bytes_text(available));
  }
  return {};
}

}  // namespace umbel::net
