// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// What a reduce should give, one element at a time, from the definitions: halves are taken apart with ldexp and rounded
// with nearbyint, integers are computed in 128 bits. Shares no code with the kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.hpp"

namespace umbel::test {

/// An element as its bytes, little end first.
using Word = std::uint64_t;

/// Folds `sources` left to right; `divisor` as in kernels::reduce.
Word reference_fold(DType dtype, RedOp op, const std::vector<Word>& sources, std::uint32_t divisor);

/// Value of a 16-bit float with `mantissa` explicit bits, and the 16-bit float nearest to a value (ties to even).
double decode_half(std::uint16_t bits, int mantissa);
std::uint16_t encode_half(double value, int mantissa);

}  // namespace umbel::test
