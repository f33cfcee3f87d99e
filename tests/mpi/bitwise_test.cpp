// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// All ranks get the same bits, on values for which the order of the operations shows.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "layouts.hpp"

namespace {

using namespace umbel;
using namespace umbel::test;

constexpr std::size_t kCount = 4099;

std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 33U;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33U;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33U);
}

/// Either sign, a full significand, exponents between −8 and 8.
template <class T>
T mixed_magnitude(int rank, std::size_t index) {
  const std::uint64_t random = mix(mix(static_cast<std::uint64_t>(rank) + 1) + index);
  const double significand = 1.0 + std::ldexp(static_cast<double>(random >> 12U), -52);
  const int exponent = static_cast<int>(random % 17) - 8;
  return static_cast<T>(std::ldexp((random & 64U) != 0 ? -significand : significand, exponent));
}

template <class T>
std::vector<T> input_of(int rank) {
  std::vector<T> values(kCount);
  for (std::size_t i = 0; i < kCount; ++i) values[i] = mixed_magnitude<T>(rank, i);
  return values;
}

template <class T>
std::size_t elements_where_orders_differ(int ranks) {
  std::size_t differing = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    T forward = mixed_magnitude<T>(0, i);
    T backward = mixed_magnitude<T>(ranks - 1, i);
    for (int r = 1; r < ranks; ++r) {
      forward += mixed_magnitude<T>(r, i);
      backward += mixed_magnitude<T>(ranks - 1 - r, i);
    }
    differing += forward != backward ? 1U : 0U;
  }
  return differing;
}

/// The bytes of all ranks are those of rank 0.
template <class T>
std::size_t ranks_with_other_bits(const std::vector<T>& mine) {
  std::vector<T> first = mine;
  MPI_Bcast(first.data(), static_cast<int>(first.size() * sizeof(T)), MPI_BYTE, 0, MPI_COMM_WORLD);
  std::uint64_t other = std::memcmp(first.data(), mine.data(), mine.size() * sizeof(T)) == 0 ? 0 : 1;
  MPI_Allreduce(MPI_IN_PLACE, &other, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return other;
}

/// Sums in double, and how far a sum in T may be off: ranks roundings of what was added.
template <class T>
std::size_t elements_out_of_bounds(const std::vector<T>& result, int ranks) {
  const double unit = std::ldexp(1.0, -std::numeric_limits<T>::digits);
  std::size_t bad = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    long double sum = 0;
    double magnitude = 0;
    for (int r = 0; r < ranks; ++r) {
      sum += mixed_magnitude<T>(r, i);
      magnitude += std::abs(static_cast<double>(mixed_magnitude<T>(r, i)));
    }
    if (std::abs(static_cast<double>(static_cast<long double>(result[i]) - sum)) > ranks * unit * magnitude) ++bad;
  }
  return bad;
}

template <class T>
void expect_equal_bits() {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > 2) {
    ASSERT_GT(elements_where_orders_differ<T>(ranks), kCount / 10) << "the values do not tell orders apart";
  }
  const std::vector<T> input = input_of<T>(rank);
  int ran = 0;
  for (const Layout& layout : layouts_for(ranks)) {
    Comm comm = make_comm(layout.nodes);
    for (const std::string& algorithm : algorithms_of(UMBEL_ALL_REDUCE)) {
      if (comm.refusal(algorithm, {.count = kCount, .dtype = dtype_of<T>})) continue;
      comm.set_algorithm(algorithm);
      for (const umbel_op_t op : {UMBEL_SUM, UMBEL_AVG, UMBEL_PROD}) {
        std::vector<T> result = input;
        if (rank % 2 == 0) {
          comm.all_reduce(input, result, op);
        } else {
          comm.all_reduce_in_place(result, op);
        }
        EXPECT_EQ(ranks_with_other_bits(result), 0U) << algorithm << ", " << layout.name << ", op " << op;
        if (op == UMBEL_SUM) {
          EXPECT_EQ(elements_out_of_bounds(result, ranks), 0U) << algorithm << ", " << layout.name;
        }
        ++ran;
      }
    }
    comm.close();
  }
  EXPECT_GT(ran, 0);
}

/// 16- and 8-bit floats: any significand, exponents so near to 1 that nothing overflows.
template <class T>
T small_float(int rank, std::size_t index) {
  constexpr unsigned kBits = 8 * sizeof(T);
  constexpr unsigned kFractionBits = std::same_as<T, Half>       ? 10
                                     : std::same_as<T, BFloat16> ? 7
                                     : std::same_as<T, Fp8E4M3>  ? 3
                                                                 : 2;
  constexpr unsigned kBias = (1U << (kBits - kFractionBits - 2)) - 1;
  constexpr unsigned kSpan = kBias > 7 ? 5 : 2;
  const std::uint64_t random = mix(mix(static_cast<std::uint64_t>(rank) + 1) + index);
  const auto fraction = static_cast<unsigned>(random >> 40U) & ((1U << kFractionBits) - 1);
  const unsigned exponent = kBias - kSpan + static_cast<unsigned>(random % (2 * kSpan + 1));
  const unsigned sign = static_cast<unsigned>(random >> 63U) << (kBits - 1);
  return {static_cast<decltype(T::bits)>(sign | exponent << kFractionBits | fraction)};
}

std::complex<float> complex_number(int rank, std::size_t index) {
  return {mixed_magnitude<float>(rank, index), mixed_magnitude<float>(rank, index + kCount)};
}

/// @param make  an element of a rank and an index
template <class T, class Make>
void expect_equal_everywhere(Make make, const std::vector<umbel_op_t>& ops) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<T> input(kCount);
  for (std::size_t i = 0; i < kCount; ++i) input[i] = make(rank, i);
  for (const Layout& layout : layouts_for(ranks)) {
    Comm comm = make_comm(layout.nodes);
    for (const std::string& algorithm : algorithms_of(UMBEL_ALL_REDUCE)) {
      if (comm.refusal(algorithm, {.count = kCount, .dtype = dtype_of<T>})) continue;
      comm.set_algorithm(algorithm);
      for (const umbel_op_t op : ops) {
        std::vector<T> result(kCount);
        comm.all_reduce(input, result, op);
        EXPECT_EQ(ranks_with_other_bits(result), 0U) << algorithm << ", " << layout.name << ", op " << op;
      }
    }
    comm.close();
  }
}

TEST(Bitwise, Fp16) { expect_equal_everywhere<Half>(small_float<Half>, {UMBEL_SUM, UMBEL_AVG}); }
TEST(Bitwise, Bf16) { expect_equal_everywhere<BFloat16>(small_float<BFloat16>, {UMBEL_SUM, UMBEL_AVG}); }
TEST(Bitwise, Fp8E4M3) { expect_equal_everywhere<Fp8E4M3>(small_float<Fp8E4M3>, {UMBEL_SUM, UMBEL_AVG}); }
TEST(Bitwise, Fp8E5M2) { expect_equal_everywhere<Fp8E5M2>(small_float<Fp8E5M2>, {UMBEL_SUM, UMBEL_AVG}); }
TEST(Bitwise, Complex64) { expect_equal_everywhere<std::complex<float>>(complex_number, {UMBEL_SUM, UMBEL_PROD}); }
TEST(Bitwise, Fp32) { expect_equal_bits<float>(); }
TEST(Bitwise, Fp64) { expect_equal_bits<double>(); }

/// Special values: whatever comes out, it is the same everywhere.
TEST(Bitwise, NanInfinityAndNegativeZero) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const float specials[] = {std::nanf("1"), -std::nanf("2"), INFINITY, -INFINITY, -0.0F, 0.0F, 1.0F, 1e-45F};
  std::vector<float> input(512);
  for (std::size_t i = 0; i < input.size(); ++i)
    input[i] = specials[mix(i * 64 + static_cast<std::uint64_t>(rank)) % 8];
  for (const Layout& layout : layouts_for(ranks)) {
    Comm comm = make_comm(layout.nodes);
    for (const std::string& algorithm : algorithms_of(UMBEL_ALL_REDUCE)) {
      if (comm.refusal(algorithm, {.count = input.size(), .op = UMBEL_MAX})) continue;
      comm.set_algorithm(algorithm);
      for (const umbel_op_t op : {UMBEL_SUM, UMBEL_PROD, UMBEL_MIN, UMBEL_MAX}) {
        std::vector<float> result(input.size());
        comm.all_reduce(input, result, op);
        EXPECT_EQ(ranks_with_other_bits(result), 0U) << algorithm << ", " << layout.name << ", op " << op;
      }
    }
    comm.close();
  }
}

}  // namespace
