// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "types.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace umbel::bench {
namespace {

constexpr std::array kTypes = {
    TypeInfo{UMBEL_INT8, "int8", "char", 1, Kind::signed_integer, 0},
    TypeInfo{UMBEL_UINT8, "uint8", "uint8", 1, Kind::unsigned_integer, 0},
    TypeInfo{UMBEL_INT16, "int16", "int16", 2, Kind::signed_integer, 0},
    TypeInfo{UMBEL_UINT16, "uint16", "uint16", 2, Kind::unsigned_integer, 0},
    TypeInfo{UMBEL_INT32, "int32", "int", 4, Kind::signed_integer, 0},
    TypeInfo{UMBEL_UINT32, "uint32", "uint32", 4, Kind::unsigned_integer, 0},
    TypeInfo{UMBEL_INT64, "int64", "int64", 8, Kind::signed_integer, 0},
    TypeInfo{UMBEL_UINT64, "uint64", "uint64", 8, Kind::unsigned_integer, 0},
    TypeInfo{UMBEL_FP16, "fp16", "half", 2, Kind::floating, 11},
    TypeInfo{UMBEL_BF16, "bf16", "bfloat16", 2, Kind::floating, 8},
    TypeInfo{UMBEL_FP32, "fp32", "float", 4, Kind::floating, 24},
    TypeInfo{UMBEL_FP64, "fp64", "double", 8, Kind::floating, 53},
    TypeInfo{UMBEL_FP8_E4M3, "fp8_e4m3", "f8e4m3", 1, Kind::floating, 4},
    TypeInfo{UMBEL_FP8_E5M2, "fp8_e5m2", "f8e5m2", 1, Kind::floating, 3},
    TypeInfo{UMBEL_COMPLEX64, "complex64", "complex64", 8, Kind::complex, 24},
    TypeInfo{UMBEL_COMPLEX128, "complex128", "complex128", 16, Kind::complex, 53},
    TypeInfo{UMBEL_FP32_INT32, "fp32_int32", "float_int", 8, Kind::pair, 24},
    TypeInfo{UMBEL_FP64_INT32, "fp64_int32", "double_int", 16, Kind::pair, 53},
    TypeInfo{UMBEL_INT32_INT32, "int32_int32", "2int", 8, Kind::pair, 0},
    TypeInfo{UMBEL_INT64_INT32, "int64_int32", "long_int", 16, Kind::pair, 0},
    TypeInfo{UMBEL_INT16_INT32, "int16_int32", "short_int", 8, Kind::pair, 0},
};

constexpr std::array kOps = {
    OpInfo{UMBEL_SUM, "sum"},       OpInfo{UMBEL_PROD, "prod"}, OpInfo{UMBEL_MIN, "min"},
    OpInfo{UMBEL_MAX, "max"},       OpInfo{UMBEL_AVG, "avg"},   OpInfo{UMBEL_BAND, "band"},
    OpInfo{UMBEL_BOR, "bor"},       OpInfo{UMBEL_BXOR, "bxor"}, OpInfo{UMBEL_LAND, "land"},
    OpInfo{UMBEL_LOR, "lor"},       OpInfo{UMBEL_LXOR, "lxor"}, OpInfo{UMBEL_MINLOC, "minloc"},
    OpInfo{UMBEL_MAXLOC, "maxloc"},
};

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

std::span<const TypeInfo> all_types() { return kTypes; }
std::span<const OpInfo> all_ops() { return kOps; }

bool combine(const TypeInfo& type, const OpInfo& op) {
  const bool integer = type.kind == Kind::signed_integer || type.kind == Kind::unsigned_integer;
  switch (op.op) {
    case UMBEL_SUM:
    case UMBEL_PROD:
    case UMBEL_AVG:
      return type.kind != Kind::pair;
    case UMBEL_MIN:
    case UMBEL_MAX:
      return integer || type.kind == Kind::floating;
    case UMBEL_MINLOC:
    case UMBEL_MAXLOC:
      return type.kind == Kind::pair;
    default:
      return integer;  // bitwise and logical
  }
}

std::optional<TypeInfo> find_type(std::string_view name) {
  for (const TypeInfo& type : kTypes) {
    if (same_name(name, type.name) || same_name(name, type.alias)) return type;
  }
  return std::nullopt;
}

std::optional<OpInfo> find_op(std::string_view name) {
  for (const OpInfo& op : kOps) {
    if (same_name(name, op.name)) return op;
  }
  return std::nullopt;
}

}  // namespace umbel::bench
