// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "base/program.hpp"

namespace umbel {

/// The shares of one rank's call of a v-form: what Binding::tables point to. Of a gatherv or scatterv only the root
/// knows them all; the others know their own, the rest of their entries is 0.
struct ShareLists {
  struct List {
    std::vector<std::uint64_t> count;  ///< by rank, elements
    std::vector<std::uint64_t> first;  ///< likewise: where in the buffer
    Shares view() const { return {.count = count.data(), .first = first.data()}; }
  };
  List input, output;

  void bind_to(Binding& binding) const {
    binding.tables[0] = input.view();
    binding.tables[1] = output.view();
  }
};

/// What Binding::bundles points to, in `starts`. @param count_of  the elements of a BundleItem
template <class CountOf>
void find_starts(std::span<const BundleItem> bundles, std::vector<std::uint64_t>& starts, CountOf&& count_of) {
  starts.clear();
  std::uint64_t before = 0;
  for (const BundleItem& item : bundles) {
    starts.push_back(before);
    before = item.owner < 0 ? 0 : before + count_of(item);
  }
}

/// Where shares lie that follow one another without gaps.
inline std::vector<std::uint64_t> packed(std::span<const std::uint64_t> counts) {
  std::vector<std::uint64_t> first(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), first.begin(), std::uint64_t{0});
  return first;
}

}  // namespace umbel
