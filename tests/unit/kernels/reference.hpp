// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// What a reduce should give, one element at a time, from the definitions: small floats are taken apart with ldexp and
// rounded with nearbyint, integers are computed in 128 bits. Shares no code with the kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.hpp"

namespace umbel::test {

/// An element as its bytes, little end first.
__extension__ using Word = unsigned __int128;

/// Folds `sources` left to right; `divisor` as in kernels::reduce.
Word reference_fold(DType dtype, RedOp op, const std::vector<Word>& sources, std::uint32_t divisor);

/// A float of up to 16 bits.
struct SmallFloat {
  int bits;
  int mantissa;      ///< explicit bits
  bool finite_only;  ///< no infinities: all ones are NaN, the other codes numbers
};
inline constexpr SmallFloat kFp16{16, 10, false};
inline constexpr SmallFloat kBf16{16, 7, false};
inline constexpr SmallFloat kE4m3{8, 3, true};
inline constexpr SmallFloat kE5m2{8, 2, false};
SmallFloat small_float(DType dtype);

/// The value of a code, and the code nearest to a value (ties to even).
double decode(SmallFloat format, std::uint32_t code);
std::uint32_t encode(SmallFloat format, double value);

}  // namespace umbel::test
