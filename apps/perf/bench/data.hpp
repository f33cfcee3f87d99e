// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Data for a reduction: random, different in every iteration, and with a result that is known exactly whatever the
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

}  // namespace umbel::bench
