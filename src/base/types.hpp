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
  fp8_e4m3,    ///< OCP 8-bit float, the variant without infinities: 0x7f and 0xff are NaN
  fp8_e5m2,    ///< OCP 8-bit float with infinities
  complex64,   ///< real part, imaginary part: two fp32
  complex128,  ///< two fp64
  fp32_int32,  ///< value and index, laid out as the C struct {float; int}, and so on: MPI's pairs
  fp64_int32,  ///< 16 bytes, 4 of them padding
  int32_int32,
  int64_int32,  ///< 16 bytes, 4 of them padding
  int16_int32,  ///< 8 bytes, 2 of them padding, after the value
};
inline constexpr int kDTypeCount = 21;

/// Reduction operators. The order is part of the C ABI (`umbel_op_t`), but for `user`, which has handles there.
enum class RedOp : std::uint8_t {
  sum,
  prod,
  min,
  max,
  avg,
  band,
  bor,
  bxor,
  land,  ///< the logical ones give 0 or 1
  lor,
  lxor,
  minloc,  ///< the least value and its index; of equal values the lowest index
  maxloc,
  user,  ///< a function of the caller's (UserOp)
};
inline constexpr int kRedOpCount = 13;  ///< without `user`

/// Bytes of one element.
constexpr std::size_t size_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::int8:
    case DType::uint8:
    case DType::fp8_e4m3:
    case DType::fp8_e5m2:
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
    case DType::complex64:
    case DType::fp32_int32:
    case DType::int32_int32:
    case DType::int16_int32:
      return 8;
    case DType::complex128:
    case DType::fp64_int32:
    case DType::int64_int32:
      return 16;
  }
  return 0;
}

/// What arithmetic a type has.
enum class Family : std::uint8_t { integer, floating, complex, pair };

constexpr Family family_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::int8:
    case DType::int16:
    case DType::int32:
    case DType::int64:
    case DType::uint8:
    case DType::uint16:
    case DType::uint32:
    case DType::uint64:
      return Family::integer;
    case DType::fp16:
    case DType::bf16:
    case DType::fp32:
    case DType::fp64:
    case DType::fp8_e4m3:
    case DType::fp8_e5m2:
      return Family::floating;
    case DType::complex64:
    case DType::complex128:
      return Family::complex;
    case DType::fp32_int32:
    case DType::fp64_int32:
    case DType::int32_int32:
    case DType::int64_int32:
    case DType::int16_int32:
      return Family::pair;
  }
  return Family::integer;
}

/// 16- and 8-bit floats: folded in fp32, and rounded when a fold is done.
constexpr bool folds_in_fp32(DType dtype) noexcept {
  return family_of(dtype) == Family::floating && size_of(dtype) < sizeof(float);
}

/// Whether the operator is one for elements of this type.
constexpr bool serves(RedOp op, DType dtype) noexcept {
  const Family family = family_of(dtype);
  switch (op) {
    case RedOp::sum:
    case RedOp::prod:
    case RedOp::avg:
      return family != Family::pair;
    case RedOp::min:
    case RedOp::max:
      return family == Family::integer || family == Family::floating;
    case RedOp::band:
    case RedOp::bor:
    case RedOp::bxor:
    case RedOp::land:
    case RedOp::lor:
    case RedOp::lxor:
      return family == Family::integer;
    case RedOp::minloc:
    case RedOp::maxloc:
      return family == Family::pair;
    case RedOp::user:
      return true;
  }
  return false;
}

/// Umbel's own name of the type: the enumerator's (int8 … fp64, fp8_e4m3, complex64, fp32_int32, …).
std::string_view name_of(DType dtype) noexcept;
std::string_view name_of(RedOp op) noexcept;

/// Accepts our names, nccl-tests' (half, bfloat16, float, double, char, uint8, int32, f8e4m3, …) and MPI's for the
/// pairs (float_int, double_int, 2int, long_int, short_int), in any case.
std::optional<DType> parse_dtype(std::string_view name) noexcept;
/// Not `user`, which is not one operator.
std::optional<RedOp> parse_redop(std::string_view name) noexcept;

std::span<const DType> all_dtypes() noexcept;
/// Without `user`.
std::span<const RedOp> all_redops() noexcept;

}  // namespace umbel
