// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "memory.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>

namespace umbel::bench {

std::string memory_problem(const MemoryNeed& need) {
  if (!need.available) return {};
  const auto available = static_cast<double>(*need.available);
  if (need.bytes <= available) return {};
  constexpr double kGiga = 1024.0 * 1024.0 * 1024.0;
  constexpr double kMega = 1024.0 * 1024.0;
  const double largest = static_cast<double>(need.max_bytes) * available / need.bytes;
  return fmt::format(
      "not enough memory: {:.1f}G are needed (the buffers of {} ranks here, for calls of {:.1f}G), {:.1f}G are "
      "available. Lower -e to {:.0f}M or less, or start fewer ranks on a host.",
      need.bytes / kGiga, need.ranks, static_cast<double>(need.max_bytes) / kGiga, available / kGiga,
      std::floor(largest / kMega));
}

std::optional<std::uint64_t> available_of(std::string_view meminfo) {
  constexpr std::string_view kName = "MemAvailable:";
  const std::size_t name = meminfo.find(kName);
  if (name == std::string_view::npos) return {};
  const std::size_t number = meminfo.find_first_not_of(' ', name + kName.size());
  if (number == std::string_view::npos) return {};
  std::uint64_t kilobytes = 0;
  const auto [end, error] = std::from_chars(meminfo.data() + number, meminfo.data() + meminfo.size(), kilobytes);
  if (error != std::errc{}) return {};
  return kilobytes << 10U;
}

std::optional<std::uint64_t> available_memory() {
  std::ifstream file("/proc/meminfo");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return available_of(text);
}

}  // namespace umbel::bench
