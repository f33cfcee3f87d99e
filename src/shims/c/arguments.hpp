// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// What a C caller can get wrong, checked before the runtime sees it. Everything here throws InvalidArgument with the
// name of the argument and the value.
#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/collective.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "last_error.hpp"
#include "runtime/communicator.hpp"
#include "umbel/umbel.h"

namespace umbel::shim {

/// @throws InvalidArgument: `error` in the words of checked_call.
[[noreturn]] void throw_invalid(std::string_view function, umbel_comm_t comm, const InvalidArgument& error);

DType to_dtype(umbel_dtype_t dtype);
/// Sets the operator of a call that reduces, whose collective and dtype are set; of others it is not looked at.
/// @throws InvalidArgument also when it does not serve the dtype
void take_op(runtime::CallArgs& args, umbel_op_t op);
/// Nothing when it is none.
std::optional<Collective> known_collective(umbel_collective_t collective);
Collective to_collective(umbel_collective_t collective);

/// What a communicator's handle stands for.
runtime::Communicator& communicator_of(umbel_comm_t comm);

/// A pointer that must be given.
void require(const void* pointer, std::string_view what);

/// Runs `body`; of an InvalidArgument that it throws, the text begins with the function that was called, and ends with
/// the rank, where there is a communicator to know it.
template <class Body>
decltype(auto) checked_call(std::string_view function, umbel_comm_t comm, Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const InvalidArgument& error) {
    throw_invalid(function, comm, error);
  }
}

/// guarded(), for functions whose InvalidArgument is about their own arguments.
template <class Body>
umbel_result_t guarded_call(std::string_view function, umbel_comm_t comm, Body&& body) noexcept {
  return guarded([&] { checked_call(function, comm, std::forward<Body>(body)); });
}

/// `given`: the caller's struct_size. Older callers have smaller structs (never below `smallest`, that of 0.1); a
/// larger one comes from a newer header and is accepted when what this library does not know of is zero.
void check_struct_size(const void* caller_struct, std::size_t given, std::size_t smallest, std::size_t known,
                       std::string_view name);

/// A copy of the caller's struct; fields that the caller's header did not have stay zero.
template <class T>
T copy_in(const T& caller_struct, std::string_view name, std::size_t smallest = sizeof(T)) {
  check_struct_size(&caller_struct, caller_struct.struct_size, smallest, sizeof(T), name);
  T copy{};
  std::memcpy(&copy, &caller_struct, caller_struct.struct_size < sizeof(T) ? caller_struct.struct_size : sizeof(T));
  return copy;
}

/// Fills the caller's struct as far as it reaches; struct_size stays the caller's.
template <class T>
void copy_out(T value, T& caller_struct, std::string_view name, std::size_t smallest = sizeof(T)) {
  const std::size_t given = caller_struct.struct_size;
  check_struct_size(nullptr, given, smallest, sizeof(T), name);
  value.struct_size = given;
  std::memcpy(&caller_struct, &value, given < sizeof(T) ? given : sizeof(T));
}

}  // namespace umbel::shim
