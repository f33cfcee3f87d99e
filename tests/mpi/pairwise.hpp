// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace umbel::test {

/// One value per factor, as indices.
using Choice = std::vector<std::size_t>;

/// Choices such that every pair of values of every two factors occurs together at least once, where the pair is
/// allowed. Greedy and deterministic: the same on every rank.
/// @param sizes    number of values of each factor.
/// @param allowed  whether value a of factor i goes with value b of factor j (i < j).
std::vector<Choice> pairwise(
    const std::vector<std::size_t>& sizes,
    const std::function<bool(std::size_t i, std::size_t a, std::size_t j, std::size_t b)>& allowed);

}  // namespace umbel::test
