// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/host/reduce_float.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "kernels/host/float_ops-inl.hpp"
#include "kernels/host/fold.hpp"

HWY_BEFORE_NAMESPACE();
namespace umbel::kernels::HWY_NAMESPACE {
namespace {

/// Sums of complex numbers are those of their parts.
void fold_float_here(const FoldArgs& args) {
  if (args.dtype == DType::fp16) return fold_lanes<Fp16Lanes>(args);
  if (args.dtype == DType::bf16) return fold_lanes<Bf16Lanes>(args);
  if (args.dtype == DType::fp64 || args.dtype == DType::complex128) return fold_lanes<PlainLanes<double>>(args);
  return fold_lanes<PlainLanes<float>>(args);
}

const char* target_here() { return hwy::TargetName(HWY_TARGET); }

}  // namespace
}  // namespace umbel::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace umbel::kernels {

HWY_EXPORT(fold_float_here);
HWY_EXPORT(target_here);

void fold_float(const FoldArgs& args) { HWY_DYNAMIC_DISPATCH(fold_float_here)(args); }

const char* fold_target() { return HWY_DYNAMIC_DISPATCH(target_here)(); }

}  // namespace umbel::kernels
#endif
