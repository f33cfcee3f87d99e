// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Sums and products wrap, so signed types share the code of the unsigned ones.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/host/reduce_integer.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "kernels/host/fold-inl.hpp"
#include "kernels/host/fold.hpp"

HWY_BEFORE_NAMESPACE();
namespace umbel::kernels::HWY_NAMESPACE {
namespace {

template <class V>
HWY_INLINE V wrapping_product(V a, V b) {
  const hn::DFromV<V> d;
  using T = hn::TFromV<V>;
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(d, static_cast<T>(static_cast<std::uint64_t>(hn::GetLane(a)) * hn::GetLane(b)));
#else
  if constexpr (sizeof(T) == 1) {
    // The low byte of a 16-bit product depends on the low bytes of its factors only.
    const hn::Repartition<std::uint16_t, hn::DFromV<V>> wide;
    const auto a16 = hn::BitCast(wide, a);
    const auto b16 = hn::BitCast(wide, b);
    const auto even = hn::And(hn::Mul(a16, b16), hn::Set(wide, 0xffU));
    const auto odd = hn::ShiftLeft<8>(hn::Mul(hn::ShiftRight<8>(a16), hn::ShiftRight<8>(b16)));
    return hn::BitCast(d, hn::Or(even, odd));
  } else {
    return hn::Mul(a, b);
  }
#endif
}

template <class V>
struct Sum {
  HWY_INLINE V step(V acc, V x) const { return hn::Add(acc, x); }
  HWY_INLINE V finish(V acc) const { return acc; }
};

template <class V>
struct Prod {
  HWY_INLINE V step(V acc, V x) const { return wrapping_product(acc, x); }
  HWY_INLINE V finish(V acc) const { return acc; }
};

template <class V>
struct Min {
  HWY_INLINE V step(V acc, V x) const { return hn::Min(acc, x); }
  HWY_INLINE V finish(V acc) const { return acc; }
};

template <class V>
struct Max {
  HWY_INLINE V step(V acc, V x) const { return hn::Max(acc, x); }
  HWY_INLINE V finish(V acc) const { return acc; }
};

template <class T>
void fold_lanes(const FoldArgs& args) {
  using Lanes = PlainLanes<T>;
  using Unsigned = PlainLanes<hwy::MakeUnsigned<T>>;
  switch (args.op) {
    case RedOp::sum:
    case RedOp::avg:
      return fold<Unsigned>(Sum<typename Unsigned::V>{}, args);
    case RedOp::prod:
      return fold<Unsigned>(Prod<typename Unsigned::V>{}, args);
    case RedOp::min:
      return fold<Lanes>(Min<typename Lanes::V>{}, args);
    case RedOp::max:
      return fold<Lanes>(Max<typename Lanes::V>{}, args);
    case RedOp::band:
    case RedOp::bor:
    case RedOp::bxor:
    case RedOp::land:
    case RedOp::lor:
    case RedOp::lxor:
    case RedOp::minloc:
    case RedOp::maxloc:
    case RedOp::user:
      return;  // fold_bits, or none
  }
}

void fold_integer_here(const FoldArgs& args) {
  with_integer(args.dtype, [&args](auto zero) { fold_lanes<decltype(zero)>(args); });
}

}  // namespace
}  // namespace umbel::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace umbel::kernels {

HWY_EXPORT(fold_integer_here);

void fold_integer(const FoldArgs& args) { HWY_DYNAMIC_DISPATCH(fold_integer_here)(args); }

}  // namespace umbel::kernels
#endif
