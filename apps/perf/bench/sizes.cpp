// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "sizes.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace umbel::bench {
namespace {

constexpr std::uint64_t kMost = std::uint64_t{1} << 60U;

/// What a size's last letter multiplies by; 1 when it is no letter.
std::uint64_t unit_of(char letter) {
  switch (letter) {
    case 'k':
    case 'K':
      return std::uint64_t{1} << 10U;
    case 'm':
    case 'M':
      return std::uint64_t{1} << 20U;
    case 'g':
    case 'G':
      return std::uint64_t{1} << 30U;
    default:
      return 1;
  }
}

}  // namespace

std::optional<std::uint64_t> parse_size(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const std::uint64_t unit = unit_of(text.back());
  if (unit != 1) text.remove_suffix(1);
  if (text.empty() || text.find_first_not_of("0123456789.") != std::string_view::npos) return std::nullopt;
  if (text.find('.') == std::string_view::npos) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value > kMost / unit) return std::nullopt;
    return value * unit;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const double bytes = value * static_cast<double>(unit);
  if (error != std::errc{} || end != text.data() + text.size() || bytes > static_cast<double>(kMost))
    return std::nullopt;
  return static_cast<std::uint64_t>(std::floor(bytes));
}

std::vector<std::uint64_t> sweep(std::uint64_t first, std::uint64_t last, std::uint64_t step, std::uint64_t factor) {
  std::vector<std::uint64_t> sizes{first};
  while (true) {
    const std::uint64_t size = sizes.back();
    // compared before they are computed: the next size may not fit into 64 bits
    if (factor > 1 ? size > last / factor : step > last - size) return sizes;
    const std::uint64_t next = factor > 1 ? std::max<std::uint64_t>(size * factor, 1) : size + step;
    if (next > last) return sizes;
    sizes.push_back(next);
  }
}

}  // namespace umbel::bench
