// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace umbel {

/// A process's number in its communicator, 0 … size−1.
using Rank = std::int32_t;

/// Element types. The order is part of the C ABI (`umbel_dtype_t`).
enum class DType : std::uint8_t {
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  fp16,
  bf16,
  fp32,
  fp64,
};
inline constexpr int kDTypeCount = 12;

/// Reduction operators. The order is part of the C ABI (`umbel_op_t`).
enum class RedOp : std::uint8_t { sum, prod, min, max, avg };
inline constexpr int kRedOpCount = 5;

/// Bytes of one element.
constexpr std::size_t size_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::int8:
    case DType::uint8:
      return 1;
    case DType::int16:
    case DType::uint16:
    case DType::fp16:
    case DType::bf16:
      return 2;
    case DType::int32:
    case DType::uint32:
    case DType::fp32:
      return 4;
    case DType::int64:
    case DType::uint64:
    case DType::fp64:
      return 8;
  }
  return 0;
}

/// Umbel's own name of the type: int8 … uint64, fp16, bf16, fp32, fp64.
std::string_view name_of(DType dtype) noexcept;
std::string_view name_of(RedOp op) noexcept;

/// Accepts our names and nccl-tests' (half, bfloat16, float, double, char, uint8, int32, …), in any case.
std::optional<DType> parse_dtype(std::string_view name) noexcept;
std::optional<RedOp> parse_redop(std::string_view name) noexcept;

std::span<const DType> all_dtypes() noexcept;
std::span<const RedOp> all_redops() noexcept;

}  // namespace umbel
