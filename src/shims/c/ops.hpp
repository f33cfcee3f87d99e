// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Operators that callers make, and their handles.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "base/types.hpp"
#include "base/user_op.hpp"
#include "umbel/umbel.h"

namespace umbel::shim {

/// What umbel_op_create or umbel_op_create_premul_sum made. Never changed; a call that uses it shares it, so that it
/// may be destroyed meanwhile.
struct CustomOp {
  umbel_op_fn function = nullptr;  ///< nullptr: a pre-multiplied sum
  void* context = nullptr;
  bool commutative = true;
  DType dtype = DType::int8;  ///< of the scalar
  alignas(16) std::array<std::byte, 16> scalar{};

  bool is_premul_sum() const noexcept { return function == nullptr; }
  /// Calls `function`. @pre not a pre-multiplied sum; this outlives the copy
  UserOp user_op() const noexcept;
};

/// Hands out handles and finds what they stand for. For any threads at the same time.
class OpRegistry {
 public:
  static constexpr umbel_op_t kFirstHandle = 1024;  ///< built-in operators are below

  /// @throws Unsupported when all handles were used up
  umbel_op_t add(std::shared_ptr<const CustomOp> op);
  /// nullptr: there is none, or it was removed.
  std::shared_ptr<const CustomOp> find(umbel_op_t handle) const;
  /// Whether there was one.
  bool remove(umbel_op_t handle);

 private:
  mutable std::mutex mutex_;
  std::unordered_map<umbel_op_t, std::shared_ptr<const CustomOp>> ops_;
  umbel_op_t next_ = kFirstHandle;
};

/// The process's.
OpRegistry& op_registry();

/// The operator of a handle, for a call with elements of `dtype`. @throws InvalidArgument
std::shared_ptr<const CustomOp> custom_op(umbel_op_t handle, DType dtype);

}  // namespace umbel::shim
