// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// What is rare: products of complex numbers, and pairs, one element after another.
#include <cstring>

#include "base/program.hpp"
#include "kernels/element.hpp"
#include "kernels/host/fold.hpp"

namespace umbel::kernels {
namespace {

template <DType kType, RedOp kOp>
void fold(const FoldArgs& args) {
  using E = Element<kType>;
  using Stored = typename E::Stored;
  // Bytes that are stored could alias the arguments: these cannot be reached.
  const std::uint8_t* sources[kMaxSources];
  const int source_count = args.source_count;
  const std::size_t bytes = args.bytes;
  std::uint8_t* const dst = args.dst;
  for (int k = 0; k < source_count; ++k) sources[k] = static_cast<const std::uint8_t*>(args.sources[k]);
  for (std::size_t at = 0; at < bytes; at += sizeof(Stored)) {
    const auto element = [&sources, at](int k) {
      Stored stored;
      std::memcpy(&stored, sources[k] + at, sizeof(stored));
      return E::load(stored);
    };
    auto acc = element(0);
    for (int k = 1; k < source_count; ++k) acc = fold_step<kOp>(acc, element(k));
    const Stored result = E::store(fold_finish<kOp>(acc, 0));
    std::memcpy(dst + at, &result, sizeof(result));
  }
}

template <DType kType>
void fold_pairs(const FoldArgs& args) {
  return args.op == RedOp::minloc ? fold<kType, RedOp::minloc>(args) : fold<kType, RedOp::maxloc>(args);
}

}  // namespace

void fold_elements(const FoldArgs& args) {
  if (args.dtype == DType::complex64) return fold<DType::complex64, RedOp::prod>(args);
  if (args.dtype == DType::complex128) return fold<DType::complex128, RedOp::prod>(args);
  if (args.dtype == DType::fp32_int32) return fold_pairs<DType::fp32_int32>(args);
  if (args.dtype == DType::fp64_int32) return fold_pairs<DType::fp64_int32>(args);
  if (args.dtype == DType::int32_int32) return fold_pairs<DType::int32_int32>(args);
  if (args.dtype == DType::int64_int32) return fold_pairs<DType::int64_int32>(args);
  return fold_pairs<DType::int16_int32>(args);
}

}  // namespace umbel::kernels
