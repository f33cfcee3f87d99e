// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "kernels/host/convert.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "unit/kernels/data.hpp"
#include "unit/kernels/reference.hpp"

namespace umbel::kernels {
namespace {

using test::GuardedBuffer;
using test::Random;
using test::Word;

constexpr std::uint32_t kNan = 0x7fc00000U;

class SmallFloats : public testing::TestWithParam<DType> {
 protected:
  DType dtype() const { return GetParam(); }
  test::SmallFloat format() const { return test::small_float(dtype()); }
  std::uint32_t codes() const { return 1U << static_cast<unsigned>(format().bits); }

  /// narrow() of these, on every target and from another alignment each, against the reference.
  void expect_narrow(const std::vector<float>& values, std::uint32_t divisor) {
    std::size_t misalignment = 0;
    test::for_each_target([&](const std::string& target) {
      misalignment += 5;
      GuardedBuffer from(values.size() * sizeof(float), misalignment);
      GuardedBuffer to(values.size() * size_of(dtype()), misalignment + 2);
      std::memcpy(from.data(), values.data(), values.size() * sizeof(float));
      narrow(dtype(), to.data(), reinterpret_cast<const float*>(from.data()), values.size(), divisor);
      for (std::size_t i = 0; i < values.size(); ++i) {
        volatile float value = values[i];
        if (divisor != 0) value = value / static_cast<float>(divisor);
        ASSERT_EQ(to.get(dtype(), i), test::encode(format(), value)) << target << ' ' << values[i] << " / " << divisor;
      }
      EXPECT_TRUE(to.guards_intact());
    });
  }
};

TEST_P(SmallFloats, EveryCodeWidensToItsValue) {
  GuardedBuffer from(codes() * size_of(dtype()), 3);
  for (std::uint32_t code = 0; code < codes(); ++code) from.set(dtype(), code, code);
  test::for_each_target([&](const std::string& target) {
    GuardedBuffer to(codes() * sizeof(float), 4);
    widen(dtype(), reinterpret_cast<float*>(to.data()), from.data(), codes());
    for (std::uint32_t code = 0; code < codes(); ++code) {
      const double value = test::decode(format(), code);
      const std::uint32_t expected = std::isnan(value) ? kNan : std::bit_cast<std::uint32_t>(static_cast<float>(value));
      ASSERT_EQ(to.get(DType::fp32, code), expected) << target << ' ' << code;
    }
  });
}

/// Between every two neighbours: the middle, which is a tie, and the nearest fp32 on either side of it; for the largest
/// number, where it becomes infinite or NaN.
TEST_P(SmallFloats, NarrowRoundsTiesToEven) {
  std::vector<float> values;
  const std::uint32_t magnitudes = codes() / 2;
  for (std::uint32_t code = 0; code < magnitudes; ++code) {
    const double low = test::decode(format(), code);
    double high = code + 1 < magnitudes ? test::decode(format(), code + 1) : low;
    if (!std::isfinite(low)) continue;
    if (!std::isfinite(high)) high = 2 * low - test::decode(format(), code - 1);  // the next, were there one
    const auto middle = static_cast<float>((low + high) / 2);
    for (const float value :
         {static_cast<float>(low), std::nextafterf(middle, 0.0F), middle,
          std::nextafterf(middle, std::numeric_limits<float>::infinity()), static_cast<float>(high)}) {
      values.push_back(value);
      values.push_back(-value);
    }
  }
  expect_narrow(values, 0);
}

TEST_P(SmallFloats, NarrowTakesEveryKindOfFloat) {
  Random random(43);
  std::vector<float> values = {0.0F,
                               -0.0F,
                               std::numeric_limits<float>::infinity(),
                               -std::numeric_limits<float>::infinity(),
                               std::bit_cast<float>(0xffc01234U),
                               std::bit_cast<float>(0x7f800001U),
                               std::numeric_limits<float>::denorm_min(),
                               -std::numeric_limits<float>::max()};
  for (int i = 0; i < 100001; ++i) values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
  const double large = std::ldexp(1.0, format().bits == 8 ? 9 : 17);  // where all codes are
  for (int i = 0; i < 100001; ++i) {
    values.push_back(static_cast<float>(std::ldexp(large, -static_cast<int>(random() % 30)) *
                                        (static_cast<double>(random() % 2000001) / 1e6 - 1)));
  }
  for (std::uint32_t divisor : {0U, 1U, 3U, 8U}) expect_narrow(values, divisor);
}

TEST_P(SmallFloats, EveryAlignmentAndCount) {
  Random random(47);
  for (std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{33}, std::size_t{101}}) {
    test::for_each_target([&](const std::string& target) {
      for (std::size_t misalignment = 0; misalignment < 64; ++misalignment) {
        GuardedBuffer from(count * size_of(dtype()), misalignment);
        GuardedBuffer wide(count * sizeof(float), 63 - misalignment);
        GuardedBuffer to(count * size_of(dtype()), (misalignment * 7) % 64);
        for (std::size_t i = 0; i < count; ++i) from.set(dtype(), i, test::random_word(dtype(), random));
        widen(dtype(), reinterpret_cast<float*>(wide.data()), from.data(), count);
        narrow(dtype(), to.data(), reinterpret_cast<const float*>(wide.data()), count, 0);
        for (std::size_t i = 0; i < count; ++i) {
          const auto code = static_cast<std::uint32_t>(from.get(dtype(), i));
          ASSERT_EQ(to.get(dtype(), i), test::encode(format(), test::decode(format(), code))) << target << ' ' << code;
        }
        ASSERT_TRUE(wide.guards_intact() && to.guards_intact());
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(All, SmallFloats, testing::Values(DType::fp16, DType::bf16, DType::fp8_e4m3, DType::fp8_e5m2),
                         [](const auto& instance) { return std::string(name_of(instance.param)); });

TEST(Scale, MultipliesInTheTypesArithmetic) {
  Random random(53);
  for (DType dtype : all_dtypes()) {
    if (!serves(RedOp::prod, dtype)) continue;
    for (std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{9001}}) {
      const Word scalar = test::tame_word(dtype, random);
      std::vector<Word> words;
      for (std::size_t i = 0; i < count; ++i) words.push_back(test::random_word(dtype, random));
      for (const bool in_place : {false, true}) {
        GuardedBuffer from(count * size_of(dtype), 5);
        GuardedBuffer other(count * size_of(dtype), 9);
        for (std::size_t i = 0; i < count; ++i) from.set(dtype, i, words[i]);
        GuardedBuffer& to = in_place ? from : other;
        scale(dtype, to.data(), from.data(), count, &scalar);
        for (std::size_t i = 0; i < count; ++i) {
          ASSERT_EQ(to.get(dtype, i), test::reference_fold(dtype, RedOp::prod, {words[i], scalar}, 0))
              << name_of(dtype) << ' ' << i;
          if (!in_place) ASSERT_EQ(from.get(dtype, i), words[i]);
        }
        EXPECT_TRUE(from.guards_intact() && other.guards_intact());
      }
    }
  }
}

}  // namespace
}  // namespace umbel::kernels
