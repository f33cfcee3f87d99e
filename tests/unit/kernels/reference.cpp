// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "unit/kernels/reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <type_traits>

namespace umbel::test {
namespace {

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

int bias_of(SmallFloat format) { return (1 << (format.bits - format.mantissa - 2)) - 1; }

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
                                   static_cast<UnsignedWide>(~std::uint64_t{0}));
        break;
      case RedOp::min:
        result = result <= values[k] ? result : values[k];
        break;
      case RedOp::max:
        result = result >= values[k] ? result : values[k];
        break;
      case RedOp::band:
        result &= values[k];
        break;
      case RedOp::bor:
        result |= values[k];
        break;
      case RedOp::bxor:
        result ^= values[k];
        break;
      default:
        break;  // the logical ones: below
    }
  }
  return result;
}

/// How many are not zero says it.
bool fold_logical(RedOp op, const std::vector<Wide>& values) {
  const auto truths = static_cast<std::size_t>(std::ranges::count_if(values, [](Wide value) { return value != 0; }));
  if (op == RedOp::land) return truths == values.size();
  return op == RedOp::lor ? truths > 0 : truths % 2 == 1;
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
  if (op == RedOp::land || op == RedOp::lor || op == RedOp::lxor) return fold_logical(op, values) ? 1U : 0U;
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
      default:
        break;
    }
  }
  if (op == RedOp::avg && divisor != 0) result = result / static_cast<T>(divisor);
  return std::isnan(result) ? std::numeric_limits<T>::quiet_NaN() : result;
}

Word reference_small(RedOp op, const std::vector<Word>& sources, std::uint32_t divisor, SmallFloat format) {
  std::vector<float> values;
  for (Word word : sources) values.push_back(static_cast<float>(decode(format, static_cast<std::uint32_t>(word))));
  return encode(format, fold_floats(op, values, divisor));
}

template <class T>
T take(const Word& word, std::size_t at) {
  T value;
  std::memcpy(&value, reinterpret_cast<const char*>(&word) + at, sizeof(value));
  return value;
}

template <class T>
void put(Word& word, std::size_t at, T value) {
  std::memcpy(reinterpret_cast<char*>(&word) + at, &value, sizeof(value));
}

template <class T>
Word reference_float(RedOp op, const std::vector<Word>& sources, std::uint32_t divisor) {
  std::vector<T> values;
  for (const Word& word : sources) values.push_back(take<T>(word, 0));
  Word result = 0;
  put(result, 0, fold_floats(op, values, divisor));
  return result;
}

template <class T>
Word reference_complex_product(const std::vector<Word>& sources) {
  volatile T re = take<T>(sources[0], 0);  // every operation rounds to T
  volatile T im = take<T>(sources[0], sizeof(T));
  for (std::size_t k = 1; k < sources.size(); ++k) {
    const T x = take<T>(sources[k], 0);
    const T y = take<T>(sources[k], sizeof(T));
    volatile T products[] = {re * x, im * y, re * y, im * x};
    re = products[0] - products[1];
    im = products[2] + products[3];
  }
  Word result = 0;
  put(result, 0, std::isnan(re) ? std::numeric_limits<T>::quiet_NaN() : T{re});
  put(result, sizeof(T), std::isnan(im) ? std::numeric_limits<T>::quiet_NaN() : T{im});
  return result;
}

template <class T>
Word reference_complex(RedOp op, const std::vector<Word>& sources, std::uint32_t divisor) {
  if (op == RedOp::prod) return reference_complex_product<T>(sources);
  Word result = 0;
  for (std::size_t at : {std::size_t{0}, sizeof(T)}) {
    std::vector<T> parts;
    for (const Word& word : sources) parts.push_back(take<T>(word, at));
    put(result, at, fold_floats(op, parts, divisor));
  }
  return result;
}

/// By a C struct.
template <class T>
Word reference_pair(RedOp op, const std::vector<Word>& sources) {
  struct Pair {
    T value;
    int index;
  };
  const auto goes_before = [op](const Pair& a, const Pair& b) {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a.value) || std::isnan(b.value)) {
        if (!std::isnan(b.value)) return true;
        return std::isnan(a.value) && a.index < b.index;
      }
    }
    if (a.value < b.value || b.value < a.value) return (a.value < b.value) == (op == RedOp::minloc);
    return a.index < b.index;
  };
  std::vector<Pair> pairs;
  for (const Word& word : sources) pairs.push_back(take<Pair>(word, 0));
  Pair best = *std::ranges::min_element(pairs, goes_before);  // the first of equals
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(best.value)) best.value = std::numeric_limits<T>::quiet_NaN();
  }
  Word result = 0;
  put(result, offsetof(Pair, value), best.value);
  put(result, offsetof(Pair, index), best.index);
  return result;
}

}  // namespace

SmallFloat small_float(DType dtype) {
  if (dtype == DType::fp16) return kFp16;
  if (dtype == DType::bf16) return kBf16;
  return dtype == DType::fp8_e4m3 ? kE4m3 : kE5m2;
}

double decode(SmallFloat format, std::uint32_t code) {
  const int mantissa = format.mantissa;
  const int magnitude = static_cast<int>(code) & ((1 << (format.bits - 1)) - 1);
  const int exponent = magnitude >> mantissa;
  const int fraction = magnitude & ((1 << mantissa) - 1);
  const double sign = (code >> static_cast<unsigned>(format.bits - 1) & 1U) != 0 ? -1.0 : 1.0;
  const bool ones = magnitude >> mantissa == (1 << (format.bits - 1 - mantissa)) - 1;
  if (format.finite_only ? magnitude == (1 << (format.bits - 1)) - 1 : ones && fraction != 0) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (ones && !format.finite_only) return sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias_of(format) - mantissa);
  return sign * std::ldexp(fraction + (1 << mantissa), exponent - bias_of(format) - mantissa);
}

std::uint32_t encode(SmallFloat format, double value) {
  const int mantissa = format.mantissa;
  const int bias = bias_of(format);
  const std::uint32_t sign = std::signbit(value) ? 1U << static_cast<unsigned>(format.bits - 1) : 0U;
  const int all_ones = (1 << (format.bits - 1)) - 1;
  const int infinite = format.finite_only ? all_ones : all_ones >> mantissa << mantissa;
  const int nan = format.finite_only ? all_ones : infinite | (1 << (mantissa - 1));
  if (std::isnan(value) || (format.finite_only && std::isinf(value))) return static_cast<std::uint32_t>(nan);
  if (std::isinf(value)) return sign | static_cast<std::uint32_t>(infinite);
  int exponent = 0;
  std::frexp(value, &exponent);  // |value| in [2^(exponent−1), 2^exponent)
  const int ulp = std::max(exponent - 1, 1 - bias) - mantissa;
  const double units = std::nearbyint(std::ldexp(std::fabs(value), -ulp));
  if (units == 0) return sign;
  // In units of the last place the encoding is linear, denormals included.
  const int base = (ulp + mantissa + bias - 1) << mantissa;
  const int magnitude = std::min(base + static_cast<int>(units), infinite);
  if (format.finite_only && magnitude == infinite) return static_cast<std::uint32_t>(nan);
  return sign | static_cast<std::uint32_t>(magnitude);
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
    case DType::bf16:
    case DType::fp8_e4m3:
    case DType::fp8_e5m2:
      return reference_small(op, sources, divisor, small_float(dtype));
    case DType::fp32:
      return reference_float<float>(op, sources, divisor);
    case DType::fp64:
      return reference_float<double>(op, sources, divisor);
    case DType::complex64:
      return reference_complex<float>(op, sources, divisor);
    case DType::complex128:
      return reference_complex<double>(op, sources, divisor);
    case DType::fp32_int32:
      return reference_pair<float>(op, sources);
    case DType::fp64_int32:
      return reference_pair<double>(op, sources);
    case DType::int32_int32:
      return reference_pair<int>(op, sources);
    case DType::int64_int32:
      return reference_pair<std::int64_t>(op, sources);
    case DType::int16_int32:
      return reference_pair<std::int16_t>(op, sources);
  }
  return 0;
}

}  // namespace umbel::test
