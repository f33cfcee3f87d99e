// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "data.hpp"

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

std::uint64_t random_of(std::uint64_t seed, int rank, std::size_t index) {
  return mix(mix(seed + 0x9e3779b97f4a7c15ULL * (static_cast<std::uint64_t>(rank) + 1)) + index);
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

double averaged(const TypeInfo& type, std::uint64_t random, int ranks, int rank, std::size_t index) {
  const auto p = static_cast<std::uint64_t>(ranks);
  // p·Σ must fit into the significand (only p's odd part costs bits) and, for fp16, into the range
  std::uint64_t budget = (std::uint64_t{1} << static_cast<unsigned>(type.significand_bits)) / odd_part(p);
  constexpr std::uint64_t kLargestHalf = 32768;
  if (type.dtype == UMBEL_FP16) budget = std::min(budget, kLargestHalf / p);
  return static_cast<double>(ranks) * summand(random, ranks, rank, index, budget);
}

double factor(const TypeInfo& type, std::uint64_t random, int ranks, int rank, std::size_t index) {
  constexpr int kHalfExponents = 14;
  constexpr int kFloatExponents = 120;
  constexpr int kDoubleExponents = 1000;
  constexpr int kWidest = 8;
  int budget = kFloatExponents;
  if (type.dtype == UMBEL_FP16) budget = kHalfExponents;
  if (type.dtype == UMBEL_FP64) budget = kDoubleExponents;
  const double sign = (random >> 63U) != 0 ? -1.0 : 1.0;
  if (!contributes(ranks, rank, index, static_cast<std::uint64_t>(budget))) return sign;
  const int most = std::min(kWidest, budget / std::min(ranks, budget));
  return std::ldexp(sign, static_cast<int>(whole_number(random, static_cast<std::uint64_t>(most))));
}

double floating_input(const TypeInfo& type, umbel_op_t op, std::uint64_t random, int ranks, int rank,
                      std::size_t index) {
  const std::uint64_t representable = std::uint64_t{1} << static_cast<unsigned>(type.significand_bits);
  switch (op) {
    case UMBEL_SUM:
      return summand(random, ranks, rank, index, representable);
    case UMBEL_AVG:
      return averaged(type, random, ranks, rank, index);
    case UMBEL_PROD:
      return factor(type, random, ranks, rank, index);
    case UMBEL_MIN:
    case UMBEL_MAX:
      return std::ldexp(whole_number(random, representable - 1), -type.significand_bits / 2);
  }
  return 0;
}

/// Cuts to the type's width; signed types are extended again.
std::uint64_t wrapped(const TypeInfo& type, std::uint64_t bits) {
  const auto unused = static_cast<unsigned>(64 - 8 * type.size);
  const std::uint64_t shifted = bits << unused;
  if (type.kind == Kind::signed_integer)
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(shifted) >> unused);
  return shifted >> unused;
}

bool less(const TypeInfo& type, const Scalar& a, const Scalar& b) {
  if (type.kind == Kind::floating) return a.value < b.value;
  if (type.kind == Kind::signed_integer) return static_cast<std::int64_t>(a.bits) < static_cast<std::int64_t>(b.bits);
  return a.bits < b.bits;
}

Scalar combined(const TypeInfo& type, umbel_op_t op, const Scalar& a, const Scalar& b) {
  switch (op) {
    case UMBEL_SUM:
    case UMBEL_AVG:
      return {wrapped(type, a.bits + b.bits), a.value + b.value};
    case UMBEL_PROD:
      return {wrapped(type, a.bits * b.bits), a.value * b.value};
    case UMBEL_MIN:
      return less(type, b, a) ? b : a;
    case UMBEL_MAX:
      return less(type, a, b) ? b : a;
  }
  return a;
}

Scalar divided(const TypeInfo& type, const Scalar& sum, int ranks) {
  if (type.kind == Kind::floating) return {0, sum.value / ranks};
  if (type.kind == Kind::unsigned_integer) return {sum.bits / static_cast<std::uint64_t>(ranks), 0};
  return {static_cast<std::uint64_t>(static_cast<std::int64_t>(sum.bits) / ranks), 0};
}

/// IEEE binary16 of a value that is 0 or a normal number of that type.
std::uint16_t half_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 31U;
  const std::uint32_t exponent = bits >> 23U & 0xFFU;
  const std::uint32_t fraction = bits >> 13U & 0x3FFU;
  const std::uint32_t rebiased = exponent == 0 ? 0 : exponent - 127 + 15;
  return static_cast<std::uint16_t>(sign << 15U | rebiased << 10U | fraction);
}

std::size_t shift_of(std::uint64_t iteration) {
  constexpr std::uint64_t kStride = 7919;  // far enough that consecutive iterations of small counts share nothing
  return static_cast<std::size_t>((iteration % Pattern::kPeriod) * kStride % Pattern::kPeriod);
}

/// visit(offset in the data, offset in the table, elements) for each piece of `count` elements that lies contiguous in
/// the periodic table.
template <class Visit>
void for_each_piece(std::size_t count, std::uint64_t iteration, Visit&& visit) {
  std::size_t position = shift_of(iteration);
  for (std::size_t done = 0; done < count;) {
    const std::size_t piece = std::min(count - done, Pattern::kPeriod - position);
    visit(done, position, piece);
    done += piece;
    position = 0;
  }
}

}  // namespace

Scalar input_element(const TypeInfo& type, const OpInfo& op, int ranks, int rank, std::uint64_t seed,
                     std::size_t index) {
  const std::uint64_t random = random_of(seed, rank, index);
  if (type.kind == Kind::floating) return {0, floating_input(type, op.op, random, ranks, rank, index)};
  return {wrapped(type, op.op == UMBEL_PROD ? random | 1U : random), 0};
}

Scalar expected_element(const TypeInfo& type, const OpInfo& op, int ranks, std::uint64_t seed, std::size_t index) {
  Scalar result = input_element(type, op, ranks, 0, seed, index);
  for (int rank = 1; rank < ranks; ++rank) {
    result = combined(type, op.op, result, input_element(type, op, ranks, rank, seed, index));
  }
  return op.op == UMBEL_AVG ? divided(type, result, ranks) : result;
}

void encode(const TypeInfo& type, const Scalar& scalar, void* element) {
  if (type.kind != Kind::floating) {
    std::memcpy(element, &scalar.bits, type.size);  // little-endian: the low bytes come first
    return;
  }
  const auto single = static_cast<float>(scalar.value);
  if (type.dtype == UMBEL_FP64) {
    std::memcpy(element, &scalar.value, sizeof(double));
  } else if (type.dtype == UMBEL_FP32) {
    std::memcpy(element, &single, sizeof(float));
  } else {
    const auto upper = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(single) >> 16U);
    const std::uint16_t bits = type.dtype == UMBEL_BF16 ? upper : half_bits(single);
    std::memcpy(element, &bits, sizeof(bits));
  }
}
static_assert(std::endian::native == std::endian::little);

Pattern::Pattern(const TypeInfo& type, const OpInfo& op, int ranks, int rank, std::uint64_t seed)
    : size_(type.size), input_(kPeriod * type.size), expected_(kPeriod * type.size) {
  for (std::size_t i = 0; i < kPeriod; ++i) {
    encode(type, input_element(type, op, ranks, rank, seed, i), &input_[i * size_]);
    encode(type, expected_element(type, op, ranks, seed, i), &expected_[i * size_]);
  }
}

void Pattern::fill(void* input, std::size_t count, std::uint64_t iteration) const {
  auto* bytes = static_cast<std::byte*>(input);
  for_each_piece(count, iteration, [&](std::size_t at, std::size_t from, std::size_t elements) {
    std::memcpy(bytes + at * size_, &input_[from * size_], elements * size_);
  });
}

std::size_t Pattern::wrong_results(const void* result, std::size_t count, std::uint64_t iteration) const {
  return count_wrong(expected_, result, count, iteration);
}

std::size_t Pattern::wrong_inputs(const void* input, std::size_t count, std::uint64_t iteration) const {
  return count_wrong(input_, input, count, iteration);
}

std::size_t Pattern::count_wrong(const std::vector<std::byte>& table, const void* data, std::size_t count,
                                 std::uint64_t iteration) const {
  const auto* bytes = static_cast<const std::byte*>(data);
  std::size_t wrong = 0;
  for_each_piece(count, iteration, [&](std::size_t at, std::size_t from, std::size_t elements) {
    if (std::memcmp(bytes + at * size_, &table[from * size_], elements * size_) == 0) return;
    for (std::size_t i = 0; i < elements; ++i) {
      wrong += std::memcmp(bytes + (at + i) * size_, &table[(from + i) * size_], size_) != 0 ? 1U : 0U;
    }
  });
  return wrong;
}

}  // namespace umbel::bench
