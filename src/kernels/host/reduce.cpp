// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "kernels/host/reduce.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/program.hpp"
#include "kernels/host/fold.hpp"

namespace umbel::kernels {
namespace {

template <class T>
void divide(std::uint8_t* at, std::size_t bytes, std::uint32_t divisor) {
  using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  for (std::size_t i = 0; i < bytes; i += sizeof(T)) {
    T value;
    std::memcpy(&value, at + i, sizeof(T));
    value = static_cast<T>(static_cast<Wide>(value) / static_cast<Wide>(divisor));
    std::memcpy(at + i, &value, sizeof(T));
  }
}

/// Sums and divides a block at a time: the division finds the sums in the first-level cache.
void mean_of_integers(const FoldArgs& args) {
  constexpr std::size_t kBlockBytes = 8192;
  const void* sources[kMaxSources];
  FoldArgs block = args;
  for (std::size_t at = 0; at < args.bytes; at += kBlockBytes) {
    block.dst = args.dst + at;
    block.bytes = std::min(kBlockBytes, args.bytes - at);
    for (int k = 0; k < args.source_count; ++k) {
      sources[k] = static_cast<const std::uint8_t*>(args.sources[k]) + at;
    }
    block.sources = sources;
    fold_integer(block);
    with_integer(args.dtype, [&](auto zero) { divide<decltype(zero)>(block.dst, block.bytes, args.divisor); });
  }
}

void fold_integers(const FoldArgs& args) {
  switch (args.op) {
    case RedOp::sum:
    case RedOp::prod:
    case RedOp::min:
    case RedOp::max:
      return fold_integer(args);
    case RedOp::avg:
      return args.divisor != 0 ? mean_of_integers(args) : fold_integer(args);
    case RedOp::band:
    case RedOp::bor:
    case RedOp::bxor:
    case RedOp::land:
    case RedOp::lor:
    case RedOp::lxor:
      return fold_bits(args);
    case RedOp::minloc:
    case RedOp::maxloc:
    case RedOp::user:
      return;  // ruled out by serves()
  }
}

/// Out of line: there are very short folds.
[[noreturn]] void refuse(DType dtype, RedOp op) {
  throw InvalidArgument(fmt::format("reduce: {} does not serve {}", name_of(op), name_of(dtype)));
}

}  // namespace

void reduce(DType dtype, RedOp op, void* dst, const void* const* sources, int source_count, std::size_t count,
            std::uint32_t divisor) {
  if (op == RedOp::user || !serves(op, dtype)) refuse(dtype, op);
  FoldArgs args;
  args.dtype = dtype;
  args.op = op;
  args.dst = static_cast<std::uint8_t*>(dst);
  args.sources = sources;
  args.source_count = source_count;
  args.elem_bytes = size_of(dtype);
  args.bytes = count * args.elem_bytes;
  args.divisor = op == RedOp::avg ? divisor : 0;
  switch (family_of(dtype)) {
    case Family::integer:
      return fold_integers(args);
    case Family::floating:
      return size_of(dtype) == 1 ? fold_fp8(args) : fold_float(args);
    case Family::complex:
      return op == RedOp::prod ? fold_elements(args) : fold_float(args);
    case Family::pair:
      return fold_elements(args);
  }
}

const char* reduce_target() { return fold_target(); }

}  // namespace umbel::kernels
