// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Between reduce.cpp and the files that are compiled once per SIMD target. Not for others.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.hpp"

namespace umbel::kernels {

struct FoldArgs {
  DType dtype = DType::fp32;
  RedOp op = RedOp::sum;
  std::uint8_t* dst = nullptr;
  const void* const* sources = nullptr;
  int source_count = 0;
  std::size_t bytes = 0;
  std::size_t elem_bytes = 1;
  std::uint32_t divisor = 0;  ///< 0: no division
};

/// The best version for this CPU, chosen at the first call.
void fold_float(const FoldArgs& args);    ///< fp16 … fp64, sums of complex numbers
void fold_fp8(const FoldArgs& args);      ///< sum, prod, min, max, avg
void fold_integer(const FoldArgs& args);  ///< sum, prod, min, max
void fold_bits(const FoldArgs& args);     ///< band … lxor of integers
const char* fold_target();

/// No SIMD: products of complex numbers, minloc and maxloc of pairs.
void fold_elements(const FoldArgs& args);

}  // namespace umbel::kernels
