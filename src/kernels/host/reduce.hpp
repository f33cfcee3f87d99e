// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Reduction on host memory. The same bits on every CPU and SIMD width, which the tests hold every target to:
//
//   · sources are folded left to right, source 0 first, in one pass;
//   · 16- and 8-bit floats are folded in fp32 and rounded once, to nearest even; what is too large becomes infinite,
//   and
//     in fp8_e4m3, which has no infinities, NaN (as CUDA's conversions without saturation);
//   · sums and products of integers wrap (two's complement); the logical operators give 0 or 1;
//   · min and max return the leftmost of the equal candidates, so min(+0, −0) = +0 and min(−0, +0) = −0;
//   · a floating-point result is NaN if any source is NaN (min and max too) or the operation is invalid; there is one
//     NaN: quiet, positive, no payload. So min and max give the same bits however a fold is cut into parts;
//   · complex numbers: each part is a float by these rules; a product is (ac − bd) + (ad + bc)i, each operation
//   rounded; · minloc and maxloc return the pair of the least or greatest value; of equal ones that of the lowest
//   index, of those
//     the leftmost. A NaN goes before every number. Padding of a result is zero;
//   · avg is the sum; its last fold divides: floats before the only rounding, integers the wrapped sum, toward zero.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.hpp"

namespace umbel::kernels {

/// dst[i] = sources[0][i] op sources[1][i] op … for `count` elements.
/// @param dst      may equal any of the sources, and must not overlap one in another way. Any alignment, as the
/// sources.
/// @param divisor  avg: 0 leaves the sum, else the sum is divided by it. Ignored by other operators.
/// @pre 1 ≤ source_count ≤ kMaxSources
/// @throws InvalidArgument: the operator does not serve the type, or is `user` (see user_fold.hpp)
void reduce(DType dtype, RedOp op, void* dst, const void* const* sources, int source_count, std::size_t count,
            std::uint32_t divisor);

/// The instruction set that `reduce` uses on this CPU, in Highway's words: "AVX2", …; for people and tests.
const char* reduce_target();

}  // namespace umbel::kernels
