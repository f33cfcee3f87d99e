// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/host/reduce_fp8.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "kernels/host/float_ops-inl.hpp"
#include "kernels/host/fold.hpp"

HWY_BEFORE_NAMESPACE();
namespace umbel::kernels::HWY_NAMESPACE {
namespace {

void fold_fp8_here(const FoldArgs& args) {
  if (args.dtype == DType::fp8_e4m3) return fold_lanes<Fp8Lanes<3>>(args);
  return fold_lanes<Fp8Lanes<2>>(args);
}

}  // namespace
}  // namespace umbel::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace umbel::kernels {

HWY_EXPORT(fold_fp8_here);

void fold_fp8(const FoldArgs& args) { HWY_DYNAMIC_DISPATCH(fold_fp8_here)(args); }

}  // namespace umbel::kernels
#endif
