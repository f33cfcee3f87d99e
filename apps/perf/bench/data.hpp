// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Data for a reduction: random, different in every iteration, and with a result that is known exactly whatever the
// order of the operations. Every rank can make every rank's data, so that the reference needs no communication.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "types.hpp"

namespace umbel::bench {

/// How the inputs are chosen, so that no rounding can happen anywhere:
///   integers      any bits; the arithmetic wraps, which is associative (prod: odd numbers, or all would soon be 0)
///   float sum     small whole numbers; every partial sum over any subset of ranks fits into the significand
///   float avg     the same, times the number of ranks: the sum is divisible
///   float prod    ± powers of two, the sum of all exponents in range
///   float min/max multiples of a power of two that fit
///   complex       sum and avg: parts as above; prod: ±(2 + i) times a power of two, whose powers have no zero part,
///   the
///                 sign of which would depend on the order
///   bitwise, logical  of up to 8 ranks at each index, the others neutral, such that either result is common
///   minloc/maxloc few values and few indices, so that values are equal often
/// Where so many ranks cannot all contribute (256 for a bf16 sum), a part of them does, another one at each index. For
/// avg of 16- and 8-bit floats over more ranks than the significand can count the data is zero.
///
/// One rank's input in one iteration is a window, sliding with the iteration, of a periodic sequence; the period is
/// prime, so that a block out of place does not go unnoticed. Filling and checking thus cost a copy and a comparison.
class Pattern {
 public:
  static constexpr std::size_t kPeriod = 65521;

  Pattern(const TypeInfo& type, const OpInfo& op, int ranks, int rank, std::uint64_t seed);

  /// This rank's input of an iteration.
  void fill(void* input, std::size_t count, std::uint64_t iteration) const;
  /// Elements of the result that are not what they should be.
  std::size_t wrong_results(const void* result, std::size_t count, std::uint64_t iteration) const;
  /// Elements of the input that somebody has changed.
  std::size_t wrong_inputs(const void* input, std::size_t count, std::uint64_t iteration) const;

 private:
  std::size_t count_wrong(const std::vector<std::byte>& table, const void* data, std::size_t count,
                          std::uint64_t iteration) const;

  std::size_t size_;                 // bytes of an element
  std::vector<std::byte> input_;     // kPeriod elements
  std::vector<std::byte> expected_;  // kPeriod elements
};

/// One element, as the pattern's tables hold it; for tests.
struct Scalar {
  std::uint64_t bits = 0;  ///< of an integer, or that in a pair: sign-extended
  double value = 0;        ///< of a float, or that in a pair; the real part
  double imaginary = 0;
  std::int32_t index = 0;  ///< of a pair
  bool operator==(const Scalar&) const = default;
};
Scalar input_element(const TypeInfo& type, const OpInfo& op, int ranks, int rank, std::uint64_t seed,
                     std::size_t index);
/// The reduction over all ranks, done one after another in rank order.
Scalar expected_element(const TypeInfo& type, const OpInfo& op, int ranks, std::uint64_t seed, std::size_t index);
/// Writes the element as `type` has it in memory. The value is representable.
void encode(const TypeInfo& type, const Scalar& scalar, void* element);

}  // namespace umbel::bench
