// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/host/reduce_float.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "kernels/host/fold-inl.hpp"
#include "kernels/host/fold.hpp"

HWY_BEFORE_NAMESPACE();
namespace umbel::kernels::HWY_NAMESPACE {
namespace {

/// There is one NaN, so that neither the order in which an instruction takes its operands nor the CPU shows.
template <class V>
HWY_INLINE V with_one_nan(V v) {
  const hn::DFromV<V> d;
  using Bits = hwy::MakeUnsigned<hn::TFromV<V>>;
  constexpr Bits kNan = sizeof(Bits) == 4 ? static_cast<Bits>(0x7fc00000U) : static_cast<Bits>(0x7ff8ULL << 48U);
  return hn::IfThenElse(hn::IsNaN(v), hn::BitCast(d, hn::Set(hn::RebindToUnsigned<hn::DFromV<V>>(), kNan)), v);
}

template <class V>
struct Sum {
  HWY_INLINE V step(V acc, V x) const { return hn::Add(acc, x); }
  HWY_INLINE V finish(V acc) const { return with_one_nan(acc); }
};

template <class V>
struct Prod {
  HWY_INLINE V step(V acc, V x) const { return hn::Mul(acc, x); }
  HWY_INLINE V finish(V acc) const { return with_one_nan(acc); }
};

/// Keeps the first of equals; a NaN on either side stays.
template <class V>
struct Min {
  HWY_INLINE V step(V acc, V x) const { return hn::IfThenElse(hn::Or(hn::Lt(x, acc), hn::IsNaN(x)), x, acc); }
  HWY_INLINE V finish(V acc) const { return with_one_nan(acc); }
};

template <class V>
struct Max {
  HWY_INLINE V step(V acc, V x) const { return hn::IfThenElse(hn::Or(hn::Lt(acc, x), hn::IsNaN(x)), x, acc); }
  HWY_INLINE V finish(V acc) const { return with_one_nan(acc); }
};

/// The last fold of avg.
template <class V>
struct Mean {
  hn::TFromV<V> divisor;
  HWY_INLINE V step(V acc, V x) const { return hn::Add(acc, x); }
  HWY_INLINE V finish(V acc) const { return with_one_nan(hn::Div(acc, hn::Set(hn::DFromV<V>(), divisor))); }
};

template <class Lanes>
void fold_lanes(const FoldArgs& args) {
  using V = typename Lanes::V;
  switch (args.op) {
    case RedOp::sum:
      return fold<Lanes>(Sum<V>{}, args);
    case RedOp::prod:
      return fold<Lanes>(Prod<V>{}, args);
    case RedOp::min:
      return fold<Lanes>(Min<V>{}, args);
    case RedOp::max:
      return fold<Lanes>(Max<V>{}, args);
    case RedOp::avg:
      if (args.divisor == 0) return fold<Lanes>(Sum<V>{}, args);
      return fold<Lanes>(Mean<V>{static_cast<hn::TFromV<V>>(args.divisor)}, args);
  }
}

void fold_float_here(const FoldArgs& args) {
  if (args.dtype == DType::fp32) return fold_lanes<PlainLanes<float>>(args);
  if (args.dtype == DType::fp64) return fold_lanes<PlainLanes<double>>(args);
  if (args.dtype == DType::fp16) return fold_lanes<Fp16Lanes>(args);
  return fold_lanes<Bf16Lanes>(args);
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
