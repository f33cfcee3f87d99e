// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "base/types.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace umbel {
namespace {

constexpr std::array<std::string_view, kDTypeCount> kDTypeNames{
    "int8",      "int16",      "int32",      "int64",      "uint8",       "uint16",      "uint32",
    "uint64",    "fp16",       "bf16",       "fp32",       "fp64",        "fp8_e4m3",    "fp8_e5m2",
    "complex64", "complex128", "fp32_int32", "fp64_int32", "int32_int32", "int64_int32", "int16_int32"};
constexpr std::array<std::string_view, kRedOpCount + 1> kRedOpNames{
    "sum", "prod", "min", "max", "avg", "band", "bor", "bxor", "land", "lor", "lxor", "minloc", "maxloc", "user"};

constexpr std::array<std::pair<std::string_view, DType>, 19> kDTypeAliases{{
    {"char", DType::int8},
    {"int", DType::int32},
    {"half", DType::fp16},
    {"float16", DType::fp16},
    {"bfloat16", DType::bf16},
    {"float", DType::fp32},
    {"float32", DType::fp32},
    {"double", DType::fp64},
    {"float64", DType::fp64},
    {"uint", DType::uint32},
    {"f8e4m3", DType::fp8_e4m3},
    {"fp8e4m3", DType::fp8_e4m3},
    {"f8e5m2", DType::fp8_e5m2},
    {"fp8e5m2", DType::fp8_e5m2},
    {"float_int", DType::fp32_int32},
    {"double_int", DType::fp64_int32},
    {"2int", DType::int32_int32},
    {"long_int", DType::int64_int32},
    {"short_int", DType::int16_int32},
}};

constexpr auto kDTypes = [] {
  std::array<DType, kDTypeCount> all{};
  for (int i = 0; i < kDTypeCount; ++i) all[static_cast<std::size_t>(i)] = static_cast<DType>(i);
  return all;
}();
constexpr auto kRedOps = [] {
  std::array<RedOp, kRedOpCount> all{};
  for (int i = 0; i < kRedOpCount; ++i) all[static_cast<std::size_t>(i)] = static_cast<RedOp>(i);
  return all;
}();
static_assert(static_cast<int>(DType::int16_int32) + 1 == kDTypeCount && static_cast<int>(RedOp::user) == kRedOpCount);

bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

std::string_view name_of(DType dtype) noexcept { return kDTypeNames[static_cast<std::size_t>(dtype)]; }
std::string_view name_of(RedOp op) noexcept { return kRedOpNames[static_cast<std::size_t>(op)]; }

std::optional<DType> parse_dtype(std::string_view name) noexcept {
  for (DType dtype : kDTypes)
    if (equal_ignoring_case(name, name_of(dtype))) return dtype;
  for (auto [alias, dtype] : kDTypeAliases)
    if (equal_ignoring_case(name, alias)) return dtype;
  return std::nullopt;
}

std::optional<RedOp> parse_redop(std::string_view name) noexcept {
  for (RedOp op : kRedOps)
    if (equal_ignoring_case(name, name_of(op))) return op;
  return std::nullopt;
}

std::span<const DType> all_dtypes() noexcept { return kDTypes; }
std::span<const RedOp> all_redops() noexcept { return kRedOps; }

}  // namespace umbel
