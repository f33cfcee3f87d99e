// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "unit/kernels/reference.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace umbel::test {
namespace {

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

int exponent_bits(int mantissa) { return 15 - mantissa; }
int bias_of(int mantissa) { return (1 << (exponent_bits(mantissa) - 1)) - 1; }

Wide fold_integers(RedOp op, const std::vector<Wide>& values) {
  Wide result = values[0];
  for (std::size_t k = 1; k < values.size(); ++k) {
    switch (op) {
      case RedOp::sum:
      case RedOp::avg:
        result += values[k];
        break;
      case RedOp::prod:
        // The low 64 bits of a product need no more of its factors.
        result = static_cast<Wide>(static_cast<UnsignedWide>(result) * static_cast<UnsignedWide>(values[k]) &
                                   static_cast<UnsignedWide>(~Word{0}));
        break;
      case RedOp::min:
        result = result <= values[k] ? result : values[k];
        break;
      case RedOp::max:
        result = result >= values[k] ? result : values[k];
        break;
    }
  }
  return result;
}

/// The value in [low, low + 2^bits) that equals `value` modulo 2^bits.
Wide wrapped(Wide value, int bits, bool is_signed) {
  const Wide modulus = Wide{1} << bits;
  Wide rest = value % modulus;
  if (rest < 0) rest += modulus;
  return is_signed && rest >= modulus / 2 ? rest - modulus : rest;
}

Word reference_integer(RedOp op, const std::vector<Word>& sources, std::uint32_t divisor, int bits, bool is_signed) {
  std::vector<Wide> values;
  for (Word word : sources) values.push_back(wrapped(static_cast<Wide>(word), bits, is_signed));
  Wide result = wrapped(fold_integers(op, values), bits, is_signed);
  if (op == RedOp::avg && divisor != 0) result /= static_cast<Wide>(divisor);
  return static_cast<Word>(wrapped(result, bits, false));
}

/// Whether `candidate` replaces `best` in a min or max.
template <class T>
bool replaces(RedOp op, T candidate, T best) {
  if (std::isnan(best)) return false;
  if (std::isnan(candidate)) return true;
  return op == RedOp::min ? candidate < best : best < candidate;
}

template <class T>
T fold_floats(RedOp op, const std::vector<T>& values, std::uint32_t divisor) {
  volatile T result = values[0];  // every operation rounds to T
  for (std::size_t k = 1; k < values.size(); ++k) {
    switch (op) {
      case RedOp::sum:
      case RedOp::avg:
        result = result + values[k];
        break;
      case RedOp::prod:
        result = result * values[k];
        break;
      case RedOp::min:
      case RedOp::max:
        if (replaces<T>(op, values[k], result)) result = values[k];
        break;
    }
  }
  if (op == RedOp::avg && divisor != 0) result = result / static_cast<T>(divisor);
  return std::isnan(result) ? std::numeric_limits<T>::quiet_NaN() : result;
}

Word reference_half(RedOp op, const std::vector<Word>& sources, std::uint32_t divisor, int mantissa) {
  std::vector<float> values;
  for (Word word : sources) {
    values.push_back(static_cast<float>(decode_half(static_cast<std::uint16_t>(word), mantissa)));
  }
  return encode_half(fold_floats(op, values, divisor), mantissa);
}

}  // namespace

double decode_half(std::uint16_t bits, int mantissa) {
  const int exponent = (bits & 0x7fff) >> mantissa;
  const int fraction = bits & ((1 << mantissa) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits(mantissa)) - 1) {
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias_of(mantissa) - mantissa);
  return sign * std::ldexp(fraction + (1 << mantissa), exponent - bias_of(mantissa) - mantissa);
}

std::uint16_t encode_half(double value, int mantissa) {
  const int bias = bias_of(mantissa);
  const int infinite = ((1 << exponent_bits(mantissa)) - 1) << mantissa;
  if (std::isnan(value)) return static_cast<std::uint16_t>(infinite | (1 << (mantissa - 1)));
  const int sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | infinite);
  int exponent = 0;
  std::frexp(value, &exponent);  // |value| in [2^(exponent−1), 2^exponent)
  const int ulp = std::max(exponent - 1, 1 - bias) - mantissa;
  double units = std::nearbyint(std::ldexp(std::fabs(value), -ulp));
  if (units == 0) return static_cast<std::uint16_t>(sign);
  // In units of the last place the encoding is linear, denormals included.
  const int base = (ulp + mantissa + bias - 1) << mantissa;
  const int magnitude = std::min(base + static_cast<int>(units), infinite);
  return static_cast<std::uint16_t>(sign | magnitude);
}

Word reference_fold(DType dtype, RedOp op, const std::vector<Word>& sources, std::uint32_t divisor) {
  const int bits = static_cast<int>(size_of(dtype) * 8);
  switch (dtype) {
    case DType::int8:
    case DType::int16:
    case DType::int32:
    case DType::int64:
      return reference_integer(op, sources, divisor, bits, true);
    case DType::uint8:
    case DType::uint16:
    case DType::uint32:
    case DType::uint64:
      return reference_integer(op, sources, divisor, bits, false);
    case DType::fp16:
      return reference_half(op, sources, divisor, 10);
    case DType::bf16:
      return reference_half(op, sources, divisor, 7);
    case DType::fp32: {
      std::vector<float> values;
      for (Word word : sources) values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(word)));
      return std::bit_cast<std::uint32_t>(fold_floats(op, values, divisor));
    }
    case DType::fp64: {
      std::vector<double> values;
      for (Word word : sources) values.push_back(std::bit_cast<double>(word));
      return std::bit_cast<std::uint64_t>(fold_floats(op, values, divisor));
    }
  }
  return 0;
}

}  // namespace umbel::test
