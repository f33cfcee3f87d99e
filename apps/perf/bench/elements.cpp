// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "elements.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace umbel::bench {
namespace {

/// splitmix64's finalizer: every bit of the input moves every bit of the output.
std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 30U;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27U;
  x *= 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

/// Uniform in −most … most.
double whole_number(std::uint64_t random, std::uint64_t most) {
  const std::uint64_t width = 2 * most + 1;
  return static_cast<double>(static_cast<std::int64_t>(random % width) - static_cast<std::int64_t>(most));
}

/// At each index, at most `most` of the ranks contribute.
bool contributes(int ranks, int rank, std::size_t index, std::uint64_t most) {
  const auto p = static_cast<std::uint64_t>(ranks);
  return (static_cast<std::uint64_t>(rank) + index) % p < most;
}

/// Whole numbers whose absolute values sum to at most `budget` over all ranks.
double summand(std::uint64_t random, int ranks, int rank, std::size_t index, std::uint64_t budget) {
  const auto p = static_cast<std::uint64_t>(ranks);
  if (budget == 0 || !contributes(ranks, rank, index, budget)) return 0;
  return whole_number(random, budget / std::min(p, budget));
}

std::uint64_t odd_part(std::uint64_t n) { return n >> static_cast<unsigned>(std::countr_zero(n)); }

/// A power of two that the type has; 0: larger than any that is needed.
std::uint64_t large_power(const TypeInfo& type) {
  constexpr std::uint64_t kLargestHalf = 32768;
  constexpr std::uint64_t kLargestE4M3 = 256;
  if (type.dtype == UMBEL_FP8_E4M3) return kLargestE4M3;
  return type.dtype == UMBEL_FP16 || type.dtype == UMBEL_FP8_E5M2 ? kLargestHalf : 0;
}

double averaged(const TypeInfo& type, std::uint64_t random, int ranks, int rank, std::size_t index) {
  const auto p = static_cast<std::uint64_t>(ranks);
  // p·Σ must fit into the significand (only p's odd part costs bits), and into the range of a small type
  std::uint64_t budget = (std::uint64_t{1} << static_cast<unsigned>(type.significand_bits)) / odd_part(p);
  if (large_power(type) != 0) budget = std::min(budget, large_power(type) / p);
  return static_cast<double>(ranks) * summand(random, ranks, rank, index, budget);
}

/// The sum of all ranks' exponents stays within ± this.
int exponents(const TypeInfo& type) {
  switch (type.dtype) {
    case UMBEL_FP8_E4M3:
      return 6;
    case UMBEL_FP16:
    case UMBEL_FP8_E5M2:
      return 14;
    case UMBEL_FP64:
    case UMBEL_COMPLEX128:
      return 1000;
    default:
      return 100;
  }
}

/// A power of two.
double factor(const TypeInfo& type, std::uint64_t random, int ranks, int rank, std::size_t index) {
  constexpr int kWidest = 8;
  const int budget = exponents(type);
  if (!contributes(ranks, rank, index, static_cast<std::uint64_t>(budget))) return 1;
  const int most = std::min(kWidest, budget / std::min(ranks, budget));
  return std::ldexp(1.0, static_cast<int>(whole_number(random, static_cast<std::uint64_t>(most))));
}

double sign_of(std::uint64_t random) { return (random >> 63U) != 0 ? -1.0 : 1.0; }

constexpr std::uint64_t kFew = 8;  // ranks that contribute, where more would make all results alike

double floating_input(const TypeInfo& type, umbel_op_t op, std::uint64_t random, int ranks, int rank,
                      std::size_t index) {
  const std::uint64_t representable = std::uint64_t{1} << static_cast<unsigned>(type.significand_bits);
  switch (op) {
    case UMBEL_SUM:
      return summand(random, ranks, rank, index, representable);
    case UMBEL_AVG:
      return averaged(type, random, ranks, rank, index);
    case UMBEL_PROD:
      return sign_of(random) * factor(type, random, ranks, rank, index);
    case UMBEL_MIN:
    case UMBEL_MAX:
      return std::ldexp(whole_number(random, representable - 1), -type.significand_bits / 2);
    default:
      return 0;  // see combine()
  }
}

Scalar complex_input(const TypeInfo& type, umbel_op_t op, std::uint64_t random, int ranks, int rank,
                     std::size_t index) {
  if (op != UMBEL_PROD) {
    return {.value = floating_input(type, op, random, ranks, rank, index),
            .imaginary = floating_input(type, op, mix(random), ranks, rank, index)};
  }
  const double power = factor(type, random, ranks, rank, index);
  if (!contributes(ranks, rank, index, kFew)) return {.value = power};
  return {.value = 2 * power * sign_of(random), .imaginary = power * sign_of(random)};
}

Scalar pair_input(const TypeInfo& type, std::uint64_t random) {
  constexpr std::uint64_t kMost = 3;
  constexpr std::uint64_t kIndices = 64;
  const double value = whole_number(random, kMost);
  const auto index = static_cast<std::int32_t>(mix(random) % kIndices);
  if (type.significand_bits != 0) return {.value = value, .index = index};
  return {.bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(value)), .index = index};
}

std::uint64_t integer_input(umbel_op_t op, std::uint64_t random, bool one_of_few) {
  const std::uint64_t sparse = random & mix(random) & mix(~random);  // one bit in eight
  const bool rare = mix(random) % 8 == 0;
  switch (op) {
    case UMBEL_PROD:
      return random | 1U;
    case UMBEL_BAND:
      return one_of_few ? ~sparse : ~std::uint64_t{0};
    case UMBEL_BOR:
      return one_of_few ? sparse : 0;
    case UMBEL_LAND:
      return one_of_few && rare ? 0 : random | 1U;
    case UMBEL_LOR:
      return one_of_few && rare ? random | 1U : 0;
    case UMBEL_LXOR:
      return rare ? 0 : random | 1U;
    default:
      return random;
  }
}

/// Cuts an integer to its type's width; signed types are extended again. Other types have no bits to cut.
std::uint64_t wrapped(const TypeInfo& type, std::uint64_t bits) {
  if (type.kind != Kind::signed_integer && type.kind != Kind::unsigned_integer) return 0;
  const auto unused = static_cast<unsigned>(64 - 8 * type.size);
  const std::uint64_t shifted = bits << unused;
  if (type.kind == Kind::signed_integer)
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(shifted) >> unused);
  return shifted >> unused;
}

bool less(const TypeInfo& type, const Scalar& a, const Scalar& b) {
  if (type.significand_bits != 0) return a.value < b.value;
  if (type.kind != Kind::unsigned_integer) return static_cast<std::int64_t>(a.bits) < static_cast<std::int64_t>(b.bits);
  return a.bits < b.bits;
}

Scalar located(const TypeInfo& type, umbel_op_t op, const Scalar& a, const Scalar& b) {
  if (less(type, a, b)) return op == UMBEL_MINLOC ? a : b;
  if (less(type, b, a)) return op == UMBEL_MINLOC ? b : a;
  return b.index < a.index ? b : a;
}

Scalar combined(const TypeInfo& type, umbel_op_t op, const Scalar& a, const Scalar& b) {
  const auto truth = [](bool value) { return Scalar{.bits = value ? 1U : 0U}; };
  switch (op) {
    case UMBEL_SUM:
    case UMBEL_AVG:
      return {wrapped(type, a.bits + b.bits), a.value + b.value, a.imaginary + b.imaginary};
    case UMBEL_PROD:
      return {wrapped(type, a.bits * b.bits), a.value * b.value - a.imaginary * b.imaginary,
              a.value * b.imaginary + a.imaginary * b.value};
    case UMBEL_MIN:
      return less(type, b, a) ? b : a;
    case UMBEL_MAX:
      return less(type, a, b) ? b : a;
    case UMBEL_BAND:
      return {.bits = a.bits & b.bits};
    case UMBEL_BOR:
      return {.bits = a.bits | b.bits};
    case UMBEL_BXOR:
      return {.bits = a.bits ^ b.bits};
    case UMBEL_LAND:
      return truth(a.bits != 0 && b.bits != 0);
    case UMBEL_LOR:
      return truth(a.bits != 0 || b.bits != 0);
    case UMBEL_LXOR:
      return truth((a.bits != 0) != (b.bits != 0));
    default:
      return located(type, op, a, b);
  }
}

bool is_logical(umbel_op_t op) { return op == UMBEL_LAND || op == UMBEL_LOR || op == UMBEL_LXOR; }

Scalar divided(const TypeInfo& type, const Scalar& sum, int ranks) {
  if (type.significand_bits != 0) return {0, sum.value / ranks, sum.imaginary / ranks};
  if (type.kind == Kind::unsigned_integer) return {sum.bits / static_cast<std::uint64_t>(ranks), 0};
  return {static_cast<std::uint64_t>(static_cast<std::int64_t>(sum.bits) / ranks), 0};
}

/// The code of a value that is 0 or a normal number of a type of at most 16 bits.
std::uint16_t small_float_bits(const TypeInfo& type, float value) {
  const auto width = static_cast<unsigned>(8 * type.size);
  const auto mantissa = static_cast<unsigned>(type.significand_bits - 1);
  const std::uint32_t bias = (1U << (width - mantissa - 2)) - 1;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t exponent = bits >> 23U & 0xFFU;
  const std::uint32_t rebiased = exponent == 0 ? 0 : exponent + bias - 127;
  const std::uint32_t fraction = (bits & 0x7FFFFFU) >> (23 - mantissa);
  return static_cast<std::uint16_t>(bits >> 31U << (width - 1) | rebiased << mantissa | fraction);
}

void encode_float(std::size_t bytes, double value, std::byte* at) {
  const auto single = static_cast<float>(value);
  if (bytes == sizeof(double)) {
    std::memcpy(at, &value, sizeof(double));
  } else {
    std::memcpy(at, &single, sizeof(float));
  }
}

}  // namespace

std::uint64_t random_of(std::uint64_t seed, int rank, std::size_t index) {
  return mix(mix(seed + 0x9e3779b97f4a7c15ULL * (static_cast<std::uint64_t>(rank) + 1)) + index);
}

Scalar input_element(const TypeInfo& type, const OpInfo& op, int ranks, int rank, std::uint64_t seed,
                     std::size_t index) {
  const std::uint64_t random = random_of(seed, rank, index);
  switch (type.kind) {
    case Kind::floating:
      return {.value = floating_input(type, op.op, random, ranks, rank, index)};
    case Kind::complex:
      return complex_input(type, op.op, random, ranks, rank, index);
    case Kind::pair:
      return pair_input(type, random);
    case Kind::signed_integer:
    case Kind::unsigned_integer:
      break;
  }
  return {.bits = wrapped(type, integer_input(op.op, random, contributes(ranks, rank, index, kFew)))};
}

Scalar expected_element(const TypeInfo& type, const OpInfo& op, int ranks, std::uint64_t seed, std::size_t index) {
  Scalar result = input_element(type, op, ranks, 0, seed, index);
  if (is_logical(op.op)) result.bits = result.bits != 0 ? 1U : 0U;
  for (int rank = 1; rank < ranks; ++rank) {
    result = combined(type, op.op, result, input_element(type, op, ranks, rank, seed, index));
  }
  return op.op == UMBEL_AVG ? divided(type, result, ranks) : result;
}

void encode(const TypeInfo& type, const Scalar& scalar, void* element) {
  auto* bytes = static_cast<std::byte*>(element);
  const std::size_t half = type.size / 2;
  switch (type.kind) {
    case Kind::signed_integer:
    case Kind::unsigned_integer:
      std::memcpy(bytes, &scalar.bits, type.size);  // little-endian: the low bytes come first
      return;
    case Kind::floating:
      if (type.size > sizeof(std::uint16_t)) return encode_float(type.size, scalar.value, bytes);
      {
        const std::uint16_t bits = small_float_bits(type, static_cast<float>(scalar.value));
        std::memcpy(bytes, &bits, type.size);
      }
      return;
    case Kind::complex:
      encode_float(half, scalar.value, bytes);
      encode_float(half, scalar.imaginary, bytes + half);
      return;
    case Kind::pair:
      std::memset(bytes, 0, type.size);  // the padding
      if (type.significand_bits != 0) {
        encode_float(half, scalar.value, bytes);
      } else {
        std::memcpy(bytes, &scalar.bits, type.dtype == UMBEL_INT16_INT32 ? sizeof(std::int16_t) : half);
      }
      std::memcpy(bytes + half, &scalar.index, sizeof(scalar.index));
      return;
  }
}
static_assert(std::endian::native == std::endian::little);

}  // namespace umbel::bench
