// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "base/collective.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace umbel {
namespace {

constexpr std::array<std::string_view, kCollectiveCount> kNames{
    "all_reduce", "broadcast", "reduce",      "all_gather",      "reduce_scatter", "all_to_all", "gather",
    "scatter",    "barrier",   "all_gatherv", "reduce_scatterv", "all_to_allv",    "gatherv",    "scatterv"};

constexpr auto kAll = [] {
  std::array<Collective, kCollectiveCount> all{};
  for (int i = 0; i < kCollectiveCount; ++i) all[static_cast<std::size_t>(i)] = static_cast<Collective>(i);
  return all;
}();

std::string bare(std::string_view name) {
  std::string letters;
  for (const char letter : name)
    if (letter != '_') letters += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return letters;
}

}  // namespace

std::string_view name_of(Collective collective) noexcept { return kNames[static_cast<std::size_t>(collective)]; }

std::optional<Collective> parse_collective(std::string_view name) noexcept {
  for (const Collective collective : kAll)
    if (bare(name) == bare(name_of(collective))) return collective;
  return std::nullopt;
}

std::span<const Collective> all_collectives() noexcept { return kAll; }

}  // namespace umbel
