// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "ops.hpp"

#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <utility>

#include "arguments.hpp"
#include "base/error.hpp"
#include "last_error.hpp"

namespace umbel::shim {
namespace {

void call_function(const void* left, void* right_inout, std::size_t count, DType dtype, void* context) {
  const auto& op = *static_cast<const CustomOp*>(context);
  op.function(left, right_inout, count, static_cast<umbel_dtype_t>(dtype), op.context);
}

[[noreturn]] void throw_unknown(umbel_op_t handle) {
  throw InvalidArgument(
      fmt::format("op {} is no operator: neither of enum umbel_op nor made by umbel_op_create, or destroyed", handle));
}

}  // namespace

UserOp CustomOp::user_op() const noexcept { return {call_function, const_cast<CustomOp*>(this), commutative}; }

umbel_op_t OpRegistry::add(std::shared_ptr<const CustomOp> op) {
  const std::lock_guard lock(mutex_);
  if (next_ == std::numeric_limits<umbel_op_t>::max()) throw Unsupported("no handle for another operator is left");
  ops_.emplace(next_, std::move(op));
  return next_++;
}

std::shared_ptr<const CustomOp> OpRegistry::find(umbel_op_t handle) const {
  const std::lock_guard lock(mutex_);
  const auto found = ops_.find(handle);
  return found == ops_.end() ? nullptr : found->second;
}

bool OpRegistry::remove(umbel_op_t handle) {
  const std::lock_guard lock(mutex_);
  return ops_.erase(handle) != 0;
}

OpRegistry& op_registry() {
  static auto* const registry = new OpRegistry;  // never freed: a caller's own statics may use it at exit
  return *registry;
}

std::shared_ptr<const CustomOp> custom_op(umbel_op_t handle, DType dtype) {
  std::shared_ptr<const CustomOp> op = op_registry().find(handle);
  if (op == nullptr) throw_unknown(handle);
  if (op->is_premul_sum() && op->dtype != dtype) {
    throw InvalidArgument(fmt::format("op {} multiplies by a scalar of {}: it does not serve {}", handle,
                                      name_of(op->dtype), name_of(dtype)));
  }
  return op;
}

}  // namespace umbel::shim

using namespace umbel;
using namespace umbel::shim;

extern "C" umbel_result_t umbel_op_create(umbel_op_fn fn, void* context, int commutative, umbel_op_t* op) {
  return guarded([&] {
    checked_call("umbel_op_create", nullptr, [&] {
      if (fn == nullptr) throw InvalidArgument("fn is NULL");
      require(op, "op");
      auto custom = std::make_shared<CustomOp>();
      custom->function = fn;
      custom->context = context;
      custom->commutative = commutative != 0;
      *op = op_registry().add(std::move(custom));
    });
  });
}

extern "C" umbel_result_t umbel_op_create_premul_sum(const void* scalar, umbel_dtype_t dtype, umbel_op_t* op) {
  return guarded([&] {
    checked_call("umbel_op_create_premul_sum", nullptr, [&] {
      require(scalar, "scalar");
      require(op, "op");
      auto custom = std::make_shared<CustomOp>();
      custom->dtype = to_dtype(dtype);
      if (!serves(RedOp::prod, custom->dtype)) {
        throw InvalidArgument(fmt::format("a pre-multiplied sum does not serve {}", name_of(custom->dtype)));
      }
      static_assert(sizeof(custom->scalar) == 16);
      std::memcpy(custom->scalar.data(), scalar, size_of(custom->dtype));
      *op = op_registry().add(std::move(custom));
    });
  });
}

extern "C" umbel_result_t umbel_op_destroy(umbel_op_t op) {
  return guarded([&] {
    checked_call("umbel_op_destroy", nullptr, [&] {
      if (op >= 0 && op < kRedOpCount) {
        throw InvalidArgument(fmt::format("op {} is built in", name_of(static_cast<RedOp>(op))));
      }
      if (!op_registry().remove(op)) throw_unknown(op);
    });
  });
}
