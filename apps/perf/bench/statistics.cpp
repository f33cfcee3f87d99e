// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace umbel::bench {
namespace {

double nearest_rank(const std::vector<double>& sorted, double fraction) {
  const auto position = static_cast<std::size_t>(std::ceil(fraction * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(position, 1, sorted.size()) - 1];
}

}  // namespace

Summary summarize(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const double total = std::accumulate(sorted.begin(), sorted.end(), 0.0);
  return {total / static_cast<double>(sorted.size()), nearest_rank(sorted, 0.50), nearest_rank(sorted, 0.99)};
}

}  // namespace umbel::bench
