// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Element types and operators: names, sizes, and what MPI calls them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "umbel/umbel.h"

namespace umbel::bench {

enum class Kind {
  signed_integer,
  unsigned_integer,
  floating,
  complex,  ///< two floats
  pair,     ///< a signed integer or a float, and an index of 32 bits
};

struct TypeInfo {
  umbel_dtype_t dtype;
  std::string_view name;   ///< Umbel's: fp32
  std::string_view alias;  ///< nccl-tests': float; the same as `name` where there is no other
  std::size_t size;        ///< bytes
  Kind kind;
  int significand_bits;  ///< of a float, or those in a complex number or a pair, the hidden one included; else 0
};

struct OpInfo {
  umbel_op_t op;
  std::string_view name;
};

std::span<const TypeInfo> all_types();
std::span<const OpInfo> all_ops();

/// Whether there is such a reduction.
bool combine(const TypeInfo& type, const OpInfo& op);

/// By either name, in any case.
std::optional<TypeInfo> find_type(std::string_view name);
std::optional<OpInfo> find_op(std::string_view name);

}  // namespace umbel::bench
