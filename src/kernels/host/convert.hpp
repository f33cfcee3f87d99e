// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Element by element, by the rules of reduce.hpp: the same bits on every CPU, operands at any alignment.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.hpp"

namespace umbel::kernels {

/// dst[i] = src[i] × *scalar, an element of the same type: a product as that of a reduce, so that 16- and 8-bit floats
/// are multiplied in fp32 and rounded once, and integers wrap.
/// @param dst  equal to `src` or disjoint from it
/// @pre serves(RedOp::prod, dtype)
void scale(DType dtype, void* dst, const void* src, std::size_t count, const void* scalar);

/// 16- and 8-bit floats as fp32, which is exact; NaNs become the one NaN.
/// @pre folds_in_fp32(dtype); dst and src are disjoint
void widen(DType dtype, float* dst, const void* src, std::size_t count);

/// The way back, rounded once, to nearest even; overflow as in a reduce.
/// @param divisor  0: none; else what is rounded is src[i] / divisor (in fp32)
/// @pre folds_in_fp32(dtype); dst and src are disjoint
void narrow(DType dtype, void* dst, const float* src, std::size_t count, std::uint32_t divisor);

}  // namespace umbel::kernels
