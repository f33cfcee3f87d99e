// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "memory.hpp"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <iterator>

namespace umbel::bench {

std::string memory_problem(const MemoryNeed& need) {
  if (!need.available) return {};
  const auto copies = static_cast<std::uint64_t>(need.buffers) * static_cast<std::uint64_t>(need.ranks);
  const std::uint64_t largest = *need.available / copies;
  if (need.buffer_bytes <= largest) return {};
  constexpr double kGiga = 1024.0 * 1024.0 * 1024.0;
  const double buffer = static_cast<double>(need.buffer_bytes) / kGiga;
  return fmt::format(
      "not enough memory: {:.1f}G are needed ({} buffers of {:.1f}G for each of {} ranks here), {:.1f}G are available. "
      "Lower -e to {}M or less, or start fewer ranks on a host.",
      buffer * static_cast<double>(copies), need.buffers, buffer, need.ranks,
      static_cast<double>(*need.available) / kGiga, largest >> 20U);
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
