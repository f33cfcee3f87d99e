// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Test data by element, and byte buffers with guards around them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "base/types.hpp"
#include "unit/kernels/reference.hpp"

namespace umbel::test {

using Random = std::mt19937_64;

/// A type and an operator that serves it.
using Served = std::tuple<DType, RedOp>;
std::vector<Served> served();
std::string name_of_served(const testing::TestParamInfo<Served>& info);

/// Random bits, mixed with the type's special values: zeroes, ones, extremes, denormals, infinities, NaNs.
Word random_word(DType dtype, Random& random);
/// A value of ordinary size, so that sums and products of a few neither overflow nor vanish.
Word tame_word(DType dtype, Random& random);

/// `bytes` bytes, `misalignment` past a 64-byte boundary, between guards.
class GuardedBuffer {
 public:
  GuardedBuffer(std::size_t bytes, std::size_t misalignment);
  std::uint8_t* data() { return data_; }
  void set(DType dtype, std::size_t i, Word word) { std::memcpy(data_ + i * size_of(dtype), &word, size_of(dtype)); }
  Word get(DType dtype, std::size_t i) const {
    Word word = 0;
    std::memcpy(&word, data_ + i * size_of(dtype), size_of(dtype));
    return word;
  }
  bool guards_intact() const;

 private:
  std::vector<std::uint8_t> memory_;
  std::uint8_t* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Calls `body(name)` once for every SIMD target of this CPU that was compiled, while that is the one in use.
void for_each_target(const std::function<void(const std::string& target)>& body);

}  // namespace umbel::test
