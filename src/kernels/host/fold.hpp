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

/// Calls `f` with a zero of the integer type `dtype`; of another type not at all.
template <class F>
void with_integer(DType dtype, const F& f) {
  switch (dtype) {
    case DType::int8:
      return f(std::int8_t{0});
    case DType::int16:
      return f(std::int16_t{0});
    case DType::int32:
      return f(std::int32_t{0});
    case DType::int64:
      return f(std::int64_t{0});
    case DType::uint8:
      return f(std::uint8_t{0});
    case DType::uint16:
      return f(std::uint16_t{0});
    case DType::uint32:
      return f(std::uint32_t{0});
    case DType::uint64:
      return f(std::uint64_t{0});
    case DType::fp16:
    case DType::bf16:
    case DType::fp32:
    case DType::fp64:
    case DType::fp8_e4m3:
    case DType::fp8_e5m2:
    case DType::complex64:
    case DType::complex128:
    case DType::fp32_int32:
    case DType::fp64_int32:
    case DType::int32_int32:
    case DType::int64_int32:
    case DType::int16_int32:
      return;
  }
}

/// No SIMD: products of complex numbers, minloc and maxloc of pairs.
void fold_elements(const FoldArgs& args);

}  // namespace umbel::kernels
