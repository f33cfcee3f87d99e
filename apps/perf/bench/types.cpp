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
};

constexpr std::array kOps = {
    OpInfo{UMBEL_SUM, "sum"}, OpInfo{UMBEL_PROD, "prod"}, OpInfo{UMBEL_MIN, "min"},
    OpInfo{UMBEL_MAX, "max"}, OpInfo{UMBEL_AVG, "avg"},
};

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

std::span<const TypeInfo> all_types() { return kTypes; }
std::span<const OpInfo> all_ops() { return kOps; }

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
