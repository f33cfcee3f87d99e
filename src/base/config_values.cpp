// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Values that are more than a word: device lists and sizes.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "base/config.hpp"
#include "base/error.hpp"

namespace umbel {

DeviceFilter DeviceFilter::parse(std::string_view list) {
  DeviceFilter filter;
  if (list.empty()) return filter;
  filter.exclude = list.front() == '^';
  if (filter.exclude) list.remove_prefix(1);
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    const std::string_view name = list.substr(begin, comma - begin);
    if (name.empty() || name.find('^') != std::string_view::npos)
      throw InvalidArgument("expected device names separated by commas; one ^ in front of the list excludes them all");
    filter.names.emplace_back(name);
    begin = comma + 1;
  }
  return filter;
}

bool DeviceFilter::admits(std::string_view device) const {
  if (names.empty()) return true;
  const bool named = std::ranges::find(names, device) != names.end();
  return named != exclude;
}

std::string DeviceFilter::to_text() const { return fmt::format("{}{}", exclude ? "^" : "", fmt::join(names, ",")); }

std::uint64_t parse_bytes(std::string_view text) {
  std::string_view digits = text;
  unsigned shift = 0;
  if (!digits.empty()) {
    constexpr std::string_view kUnits = "kmg";
    const auto letter = static_cast<char>(std::tolower(static_cast<unsigned char>(digits.back())));
    if (const std::size_t unit = kUnits.find(letter); unit != std::string_view::npos) {
      shift = 10U * (static_cast<unsigned>(unit) + 1U);
      digits.remove_suffix(1);
    }
  }
  std::uint64_t value = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (status != std::errc{} || end != digits.data() + digits.size())
    throw InvalidArgument("expected bytes, such as 65536, 64K, 16M or 1G");
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (value > kMost >> shift) throw InvalidArgument("too many bytes");
  return value << shift;
}

std::string bytes_to_text(std::uint64_t bytes) {
  constexpr std::string_view kUnits = "KMG";
  if (bytes == 0) return "0";
  std::string unit;
  for (std::size_t u = 0; u < kUnits.size() && bytes % 1024 == 0; ++u) {
    bytes /= 1024;
    unit = kUnits[u];
  }
  return std::to_string(bytes) + unit;
}

}  // namespace umbel
