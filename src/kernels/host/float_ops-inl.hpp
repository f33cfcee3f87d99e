// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The operators of floats, on vectors of fp32 or fp64, for the files that fold these. Compiled once for every target.
#if defined(UMBEL_KERNELS_HOST_FLOAT_OPS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef UMBEL_KERNELS_HOST_FLOAT_OPS_INL
#undef UMBEL_KERNELS_HOST_FLOAT_OPS_INL
#else
#define UMBEL_KERNELS_HOST_FLOAT_OPS_INL
#endif

#include <hwy/highway.h>

#include "kernels/host/fold-inl.hpp"
#include "kernels/host/fold.hpp"

HWY_BEFORE_NAMESPACE();
namespace umbel::kernels::HWY_NAMESPACE {
namespace {

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
    case RedOp::band:
    case RedOp::bor:
    case RedOp::bxor:
    case RedOp::land:
    case RedOp::lor:
    case RedOp::lxor:
    case RedOp::minloc:
    case RedOp::maxloc:
    case RedOp::user:
      return;  // do not serve floats
  }
}

}  // namespace
}  // namespace umbel::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard
