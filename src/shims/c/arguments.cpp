// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "arguments.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "comm.hpp"
#include "ops.hpp"

namespace umbel::shim {

// The two enums are one list: a reordering of either must not compile.
static_assert(static_cast<int>(DType::int8) == UMBEL_INT8 && static_cast<int>(DType::int16) == UMBEL_INT16 &&
              static_cast<int>(DType::int32) == UMBEL_INT32 && static_cast<int>(DType::int64) == UMBEL_INT64 &&
              static_cast<int>(DType::uint8) == UMBEL_UINT8 && static_cast<int>(DType::uint16) == UMBEL_UINT16 &&
              static_cast<int>(DType::uint32) == UMBEL_UINT32 && static_cast<int>(DType::uint64) == UMBEL_UINT64 &&
              static_cast<int>(DType::fp16) == UMBEL_FP16 && static_cast<int>(DType::bf16) == UMBEL_BF16 &&
              static_cast<int>(DType::fp32) == UMBEL_FP32 && static_cast<int>(DType::fp64) == UMBEL_FP64 &&
              static_cast<int>(DType::fp8_e4m3) == UMBEL_FP8_E4M3 &&
              static_cast<int>(DType::fp8_e5m2) == UMBEL_FP8_E5M2 &&
              static_cast<int>(DType::complex64) == UMBEL_COMPLEX64 &&
              static_cast<int>(DType::complex128) == UMBEL_COMPLEX128 &&
              static_cast<int>(DType::fp32_int32) == UMBEL_FP32_INT32 &&
              static_cast<int>(DType::fp64_int32) == UMBEL_FP64_INT32 &&
              static_cast<int>(DType::int32_int32) == UMBEL_INT32_INT32 &&
              static_cast<int>(DType::int64_int32) == UMBEL_INT64_INT32 &&
              static_cast<int>(DType::int16_int32) == UMBEL_INT16_INT32);
static_assert(kDTypeCount == UMBEL_INT16_INT32 + 1);
static_assert(static_cast<int>(RedOp::sum) == UMBEL_SUM && static_cast<int>(RedOp::prod) == UMBEL_PROD &&
              static_cast<int>(RedOp::min) == UMBEL_MIN && static_cast<int>(RedOp::max) == UMBEL_MAX &&
              static_cast<int>(RedOp::avg) == UMBEL_AVG && static_cast<int>(RedOp::band) == UMBEL_BAND &&
              static_cast<int>(RedOp::bor) == UMBEL_BOR && static_cast<int>(RedOp::bxor) == UMBEL_BXOR &&
              static_cast<int>(RedOp::land) == UMBEL_LAND && static_cast<int>(RedOp::lor) == UMBEL_LOR &&
              static_cast<int>(RedOp::lxor) == UMBEL_LXOR && static_cast<int>(RedOp::minloc) == UMBEL_MINLOC &&
              static_cast<int>(RedOp::maxloc) == UMBEL_MAXLOC);
static_assert(kRedOpCount == UMBEL_MAXLOC + 1);

static_assert(static_cast<int>(Collective::scatterv) == UMBEL_SCATTERV && kCollectiveCount == UMBEL_SCATTERV + 1 &&
              static_cast<int>(Collective::barrier) == UMBEL_BARRIER &&
              static_cast<int>(Collective::all_to_all) == UMBEL_ALL_TO_ALL);

void throw_invalid(std::string_view function, umbel_comm_t comm, const InvalidArgument& error) {
  const std::string who = comm == nullptr ? "" : fmt::format(" (rank {})", comm->communicator->info().rank);
  throw InvalidArgument(fmt::format("{}: {}{}", function, error.what(), who));
}

DType to_dtype(umbel_dtype_t dtype) {
  const auto value = static_cast<long long>(dtype);
  if (value < 0 || value >= kDTypeCount) {
    throw InvalidArgument(fmt::format("dtype {} is none of umbel_dtype_t (0 … {})", value, kDTypeCount - 1));
  }
  return static_cast<DType>(value);
}

void take_op(runtime::CallArgs& args, umbel_op_t op) {
  if (!reduces(args.collective)) return;
  if (op >= OpRegistry::kFirstHandle) {
    const std::shared_ptr<const CustomOp> custom = custom_op(op, args.dtype);
    args.op = custom->is_premul_sum() ? RedOp::sum : RedOp::user;
    args.custom = std::make_shared<runtime::CallerOp>(runtime::CallerOp{
        .user = custom->is_premul_sum() ? UserOp{} : custom->user_op(), .scalar = custom->scalar, .keep = custom});
    return;
  }
  if (op < 0 || op >= kRedOpCount) {
    throw InvalidArgument(fmt::format("op {} is none of enum umbel_op (0 … {})", op, kRedOpCount - 1));
  }
  args.op = static_cast<RedOp>(op);
  if (!serves(args.op, args.dtype)) {
    throw InvalidArgument(fmt::format("op {} does not serve {}", name_of(args.op), name_of(args.dtype)));
  }
}

std::optional<Collective> known_collective(umbel_collective_t collective) {
  const auto value = static_cast<long long>(collective);
  return value < 0 || value >= kCollectiveCount ? std::nullopt : std::optional(static_cast<Collective>(value));
}

Collective to_collective(umbel_collective_t collective) {
  const std::optional<Collective> known = known_collective(collective);
  if (known) return *known;
  throw InvalidArgument(fmt::format("collective {} is none of umbel_collective_t (0 … {})",
                                    static_cast<long long>(collective), kCollectiveCount - 1));
}

runtime::Communicator& communicator_of(umbel_comm_t comm) {
  require(comm, "comm");
  return *comm->communicator;
}

void require(const void* pointer, std::string_view what) {
  if (pointer == nullptr) {
    throw InvalidArgument(fmt::format("{} is NULL", what));
  }
}

void check_struct_size(const void* caller_struct, std::size_t given, std::size_t smallest, std::size_t known,
                       std::string_view name) {
  if (given < smallest) {
    throw InvalidArgument(
        fmt::format("{}.struct_size is {}, at least {} is needed: set it to sizeof({})", name, given, smallest, name));
  }
  constexpr std::size_t kSane = 4096;
  if (given > kSane) {
    throw InvalidArgument(fmt::format("{}.struct_size is {}: set it to sizeof({})", name, given, name));
  }
  if (caller_struct == nullptr) {
    return;
  }
  const auto* bytes = static_cast<const unsigned char*>(caller_struct);
  for (std::size_t i = known; i < given; ++i) {
    if (bytes[i] != 0) {
      throw InvalidArgument(fmt::format(
          "{} uses fields that this libumbel ({}) does not know: it is older than the header", name, umbel_version()));
    }
  }
}

}  // namespace umbel::shim
