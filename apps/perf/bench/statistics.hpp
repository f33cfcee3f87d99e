// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <span>

namespace umbel::bench {

struct Summary {
  double mean = 0;
  double p50 = 0;
  double p99 = 0;
};

/// Percentiles are values that occur (nearest rank): p99 of 20 values is the largest. @pre not empty
Summary summarize(std::span<const double> values);

}  // namespace umbel::bench
