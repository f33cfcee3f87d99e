// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Data: random, different in every iteration, and with a result that is known exactly, for a reduction whatever the
// order of the operations. Every rank can make every rank's data, so that the reference needs no communication.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "elements.hpp"
#include "types.hpp"

namespace umbel::bench {

/// One rank's input in one iteration is a window, sliding with the iteration, of a periodic sequence; the period is
/// prime, so that a block out of place does not go unnoticed. Filling and checking thus cost a copy and a comparison.
class Pattern {
 public:
  static constexpr std::size_t kPeriod = 65521;

  /// Data to be reduced.
  Pattern(const TypeInfo& type, const OpInfo& op, int ranks, int rank, std::uint64_t seed);
  /// Data to be moved: any bits.
  Pattern(const TypeInfo& type, int rank, std::uint64_t seed);

  /// This rank's input of an iteration.
  void fill(void* input, std::size_t count, std::uint64_t iteration) const;
  // Elements that are not what they should be. The data begins `from` elements into the input or the result.
  /// Of the reduction. @pre made for one
  std::size_t wrong_results(const void* result, std::size_t count, std::uint64_t iteration, std::size_t from = 0) const;
  /// Of this rank's input, where it was made.
  std::size_t wrong_inputs(const void* input, std::size_t count, std::uint64_t iteration, std::size_t from = 0) const;
  /// Of a copy of `source`'s input. @pre made for data to be moved
  std::size_t wrong_copies(int source, const void* data, std::size_t count, std::uint64_t iteration,
                           std::size_t from = 0) const;

 private:
  std::size_t count_wrong(const std::vector<std::byte>& table, std::size_t position, const void* data,
                          std::size_t count) const;

  std::size_t size_;  // bytes of an element
  std::uint64_t seed_;
  std::vector<std::byte> input_;     // kPeriod elements
  std::vector<std::byte> expected_;  // kPeriod elements, of data to be reduced
};

}  // namespace umbel::bench
