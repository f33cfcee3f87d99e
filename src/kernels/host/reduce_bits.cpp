// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The bitwise and the logical operators of integers.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/host/reduce_bits.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "kernels/host/fold-inl.hpp"
#include "kernels/host/fold.hpp"

HWY_BEFORE_NAMESPACE();
namespace umbel::kernels::HWY_NAMESPACE {
namespace {

/// 1 where `v` is not 0.
template <class V>
HWY_INLINE V truth(V v) {
  const hn::DFromV<V> d;
  return hn::IfThenZeroElse(hn::Eq(v, hn::Zero(d)), hn::Set(d, hn::TFromV<V>{1}));
}

template <class V>
struct BitAnd {
  HWY_INLINE V step(V acc, V x) const { return hn::And(acc, x); }
  HWY_INLINE V finish(V acc) const { return acc; }
};

template <class V>
struct BitOr {
  HWY_INLINE V step(V acc, V x) const { return hn::Or(acc, x); }
  HWY_INLINE V finish(V acc) const { return acc; }
};

template <class V>
struct BitXor {
  HWY_INLINE V step(V acc, V x) const { return hn::Xor(acc, x); }
  HWY_INLINE V finish(V acc) const { return acc; }
};

// The logical ones: an accumulator is true when it is not 0, and becomes 1 at the end.

template <class V>
struct LogicalAnd {
  HWY_INLINE V step(V acc, V x) const { return hn::IfThenZeroElse(hn::Eq(x, hn::Zero(hn::DFromV<V>())), acc); }
  HWY_INLINE V finish(V acc) const { return truth(acc); }
};

template <class V>
struct LogicalOr {
  HWY_INLINE V step(V acc, V x) const { return hn::Or(acc, x); }
  HWY_INLINE V finish(V acc) const { return truth(acc); }
};

template <class V>
struct LogicalXor {
  HWY_INLINE V step(V acc, V x) const { return hn::Xor(truth(acc), truth(x)); }
  HWY_INLINE V finish(V acc) const { return truth(acc); }
};

template <class T>
void fold_logical(const FoldArgs& args) {
  using Lanes = PlainLanes<T>;
  using V = typename Lanes::V;
  if (args.op == RedOp::land) return fold<Lanes>(LogicalAnd<V>{}, args);
  if (args.op == RedOp::lor) return fold<Lanes>(LogicalOr<V>{}, args);
  return fold<Lanes>(LogicalXor<V>{}, args);
}

void fold_bits_here(const FoldArgs& args) {
  using Lanes = PlainLanes<std::uint64_t>;  // whatever the elements are
  using V = Lanes::V;
  if (args.op == RedOp::band) return fold<Lanes>(BitAnd<V>{}, args);
  if (args.op == RedOp::bor) return fold<Lanes>(BitOr<V>{}, args);
  if (args.op == RedOp::bxor) return fold<Lanes>(BitXor<V>{}, args);
  with_integer(args.dtype, [&args](auto zero) { fold_logical<hwy::MakeUnsigned<decltype(zero)>>(args); });
}

}  // namespace
}  // namespace umbel::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace umbel::kernels {

HWY_EXPORT(fold_bits_here);

void fold_bits(const FoldArgs& args) { HWY_DYNAMIC_DISPATCH(fold_bits_here)(args); }

}  // namespace umbel::kernels
#endif
