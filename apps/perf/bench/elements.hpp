// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Elements of the inputs and of the result. How the inputs are chosen, so that no rounding can happen anywhere:
//   integers      any bits; the arithmetic wraps, which is associative (prod: odd numbers, or all would soon be 0)
//   float sum     small whole numbers; every partial sum over any subset of ranks fits into the significand
//   float avg     the same, times the number of ranks: the sum is divisible
//   float prod    ± powers of two, the sum of all exponents in range
//   float min/max multiples of a power of two that fit
//   complex       parts as above; prod: ±(2 + i) times a power of two: no power of it has a zero part, whose sign would
//                 depend on the order
//   bitwise and logical  of up to 8 ranks at each index, the others neutral, so that either result is common
//   minloc/maxloc few values and few indices, so that values are equal often
// Where so many ranks cannot all contribute (256 for a bf16 sum), a part of them does, another one at each index. For
// avg of 16- and 8-bit floats over more ranks than the significand can count the data is zero.
#pragma once

#include <cstddef>
#include <cstdint>

#include "types.hpp"

namespace umbel::bench {

/// One element. It is representable in the type that it is of.
struct Scalar {
  std::uint64_t bits = 0;  ///< of an integer, or that in a pair: sign-extended
  double value = 0;        ///< of a float, or that in a pair; the real part
  double imaginary = 0;
  std::int32_t index = 0;  ///< of a pair
  bool operator==(const Scalar&) const = default;
};
Scalar input_element(const TypeInfo& type, const OpInfo& op, int ranks, int rank, std::uint64_t seed,
                     std::size_t index);
/// Uniform bits, which only these three decide.
std::uint64_t random_of(std::uint64_t seed, int rank, std::size_t index);
/// The reduction over all ranks, done one after another in rank order.
Scalar expected_element(const TypeInfo& type, const OpInfo& op, int ranks, std::uint64_t seed, std::size_t index);
/// Writes the element as `type` has it in memory. The value is representable.
void encode(const TypeInfo& type, const Scalar& scalar, void* element);

}  // namespace umbel::bench
