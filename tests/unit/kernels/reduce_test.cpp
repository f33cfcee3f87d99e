// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "kernels/host/reduce.hpp"

#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include "base/error.hpp"
#include "unit/kernels/data.hpp"
#include "unit/kernels/reference.hpp"

namespace umbel::kernels {
namespace {

using test::GuardedBuffer;
using test::Random;
using test::Word;

#if defined(__SANITIZE_THREAD__)  // nothing here has threads
constexpr int kSourceCounts[] = {1, 3};
constexpr std::size_t kCounts[] = {0, 1, 17, 100};
#else
constexpr int kSourceCounts[] = {1, 2, 3, 5, 8};
constexpr std::size_t kCounts[] = {0, 1, 2, 3, 7, 15, 16, 17, 31, 33, 64, 100, 1003};
#endif
constexpr int kNotInPlace = -1;

/// One call of reduce: its sources and the words that it should give.
struct Case {
  DType dtype = DType::fp32;
  RedOp op = RedOp::sum;
  std::uint32_t divisor = 0;
  std::size_t count = 0;
  std::vector<std::vector<Word>> sources;
  std::vector<Word> expected;
};

Case make_case(DType dtype, RedOp op, int source_count, std::size_t count, std::uint32_t divisor, bool tame,
               Random& random) {
  Case c{dtype, op, divisor, count, {}, {}};
  c.sources.assign(static_cast<std::size_t>(source_count), std::vector<Word>(count));
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<Word> column;
    for (auto& source : c.sources) {
      source[i] = tame ? test::tame_word(dtype, random) : test::random_word(dtype, random);
      column.push_back(source[i]);
    }
    c.expected.push_back(test::reference_fold(dtype, op, column, divisor));
  }
  return c;
}

/// Runs the case with buffers that lie `misalignment`, `misalignment + stride`, … past cache lines, the destination
/// being source `in_place` or a buffer of its own.
void run(const Case& c, std::size_t misalignment, std::size_t stride, int in_place, const std::string& context) {
  std::vector<std::unique_ptr<GuardedBuffer>> buffers;
  std::vector<const void*> pointers;
  const std::size_t bytes = c.count * size_of(c.dtype);
  for (const auto& source : c.sources) {
    buffers.push_back(std::make_unique<GuardedBuffer>(bytes, (misalignment + stride * (buffers.size() + 1)) % 64));
    for (std::size_t i = 0; i < c.count; ++i) buffers.back()->set(c.dtype, i, source[i]);
    pointers.push_back(buffers.back()->data());
  }
  GuardedBuffer own(bytes, misalignment);
  GuardedBuffer& dst = in_place == kNotInPlace ? own : *buffers[static_cast<std::size_t>(in_place)];
  reduce(c.dtype, c.op, dst.data(), pointers.data(), static_cast<int>(pointers.size()), c.count, c.divisor);
  for (std::size_t i = 0; i < c.count; ++i) {
    ASSERT_EQ(dst.get(c.dtype, i), c.expected[i])
        << context << " element " << i << " of " << c.count << ", " << c.sources.size() << " sources, divisor "
        << c.divisor << ", misaligned by " << misalignment << " + k·" << stride << ", in place: " << in_place;
  }
  EXPECT_TRUE(own.guards_intact()) << context;
  for (std::size_t k = 0; k < buffers.size(); ++k) {
    EXPECT_TRUE(buffers[k]->guards_intact()) << context << " source " << k;
    if (static_cast<int>(k) == in_place) continue;
    for (std::size_t i = 0; i < c.count; ++i) {
      ASSERT_EQ(buffers[k]->get(c.dtype, i), c.sources[k][i]) << context << " wrote to source " << k;
    }
  }
}

class Reduce : public testing::TestWithParam<test::Served> {
 protected:
  DType dtype() const { return std::get<0>(GetParam()); }
  RedOp op() const { return std::get<1>(GetParam()); }
};

TEST_P(Reduce, EveryTargetGivesTheBitsOfTheReference) {
  Random random(7);
  for (int source_count : kSourceCounts) {
    for (std::size_t count : kCounts) {
      const std::uint32_t divisor = op() == RedOp::avg && count % 2 == 1 ? static_cast<std::uint32_t>(source_count) : 0;
      const Case c = make_case(dtype(), op(), source_count, count, divisor, count % 3 == 0, random);
      test::for_each_target([&](const std::string& target) {
        const std::size_t size = size_of(dtype());
        run(c, 0, 0, kNotInPlace, target);
        run(c, size, 0, kNotInPlace, target);  // all off the line alike
        run(c, 0, size, kNotInPlace, target);  // each source off by its own
        run(c, 64 - size, 3 * size, kNotInPlace, target);
        run(c, 1, 1, kNotInPlace, target);  // off the element's own alignment
      });
    }
  }
}

TEST_P(Reduce, TheDestinationMayBeAnySource) {
  Random random(11);
  for (int source_count : kSourceCounts) {
    for (std::size_t count : {std::size_t{1}, std::size_t{17}, std::size_t{100}, std::size_t{1003}}) {
      const std::uint32_t divisor = op() == RedOp::avg ? 3U : 0U;
      const Case c = make_case(dtype(), op(), source_count, count, divisor, false, random);
      test::for_each_target([&](const std::string& target) {
        for (int k = 0; k < source_count; ++k) run(c, size_of(dtype()), size_of(dtype()), k, target);
      });
    }
  }
}

TEST_P(Reduce, ALongBufferIsRightToTheLastElement) {
  Random random(13);
  const Case c = make_case(dtype(), op(), 2, 20011, op() == RedOp::avg ? 7U : 0U, false, random);
  test::for_each_target([&](const std::string& target) {
    run(c, 0, 0, kNotInPlace, target);
    run(c, 2 * size_of(dtype()), 3, 1, target);
  });
}

/// Operands that lie alike and operands that do not, on every byte of a cache line.
TEST_P(Reduce, EveryAlignment) {
  Random random(19);
  const Case c = make_case(dtype(), op(), 3, 67, op() == RedOp::avg ? 3U : 0U, false, random);
  test::for_each_target([&](const std::string& target) {
    for (std::size_t misalignment = 0; misalignment < 64; ++misalignment) {
      run(c, misalignment, 0, misalignment % 2 == 0 ? kNotInPlace : 2, target);
      run(c, misalignment, 7, kNotInPlace, target);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(All, Reduce, testing::ValuesIn(test::served()), test::name_of_served);

/// Folds single elements.
Word fold(DType dtype, RedOp op, const std::vector<Word>& sources, std::uint32_t divisor = 0) {
  std::vector<const void*> pointers;
  for (const Word& word : sources) pointers.push_back(&word);
  Word out = 0;
  reduce(dtype, op, &out, pointers.data(), static_cast<int>(pointers.size()), 1, divisor);
  return out;
}

TEST(Targets, TheOneInUseIsTheOneAskedFor) {
  std::set<std::string> seen;
  test::for_each_target([&](const std::string& target) {
    EXPECT_EQ(target, reduce_target());
    seen.insert(target);
  });
#if HWY_ARCH_X86
  EXPECT_EQ(seen.count("SCALAR") + seen.count("EMU128"), 1U);  // the version without SIMD is among them
  EXPECT_GE(seen.size(), 2U);
#endif
}

// 2048 + 1 is 2048 in fp16, 256 + 1 is 256 in bf16, and so on: only a wider accumulator counts the ones.
TEST(Accumulation, SmallFloatsAccumulateInFp32) {
  const struct {
    DType dtype;
    double big;
  } kinds[] = {{DType::fp16, 2048}, {DType::bf16, 256}, {DType::fp8_e4m3, 16}, {DType::fp8_e5m2, 8}};
  test::for_each_target([&](const std::string& target) {
    for (const auto& kind : kinds) {
      const test::SmallFloat format = test::small_float(kind.dtype);
      const Word big = test::encode(format, kind.big);
      const Word one = test::encode(format, 1);
      EXPECT_EQ(fold(kind.dtype, RedOp::sum, {big, one, one}), test::encode(format, kind.big + 2)) << target;
      const Word twice_rounded = fold(kind.dtype, RedOp::sum, {fold(kind.dtype, RedOp::sum, {big, one}), one});
      EXPECT_EQ(twice_rounded, big) << target << ": the data would not tell the two apart";
    }
  });
}

TEST(Accumulation, AvgDividesBeforeTheOnlyRounding) {
  test::for_each_target([&](const std::string& target) {
    // 40000 + 40000 overflows fp16, its half does not.
    const Word big = test::encode(test::kFp16, 40000);
    EXPECT_EQ(fold(DType::fp16, RedOp::avg, {big, big}, 2), big) << target;
    EXPECT_EQ(fold(DType::fp16, RedOp::avg, {big, big}), 0x7c00U) << target;
    // (2048 + 1 + 0) / 3 = 683; of the rounded sum it would be 682.5 (from 2048).
    const Word sum =
        fold(DType::fp16, RedOp::avg, {test::encode(test::kFp16, 2048), test::encode(test::kFp16, 1), 0}, 3);
    EXPECT_EQ(sum, test::encode(test::kFp16, 683)) << target;
  });
}

TEST(Integers, WrapAndDivideTowardZero) {
  test::for_each_target([&](const std::string& target) {
    EXPECT_EQ(fold(DType::int16, RedOp::sum, {16384, 16384}), 0x8000U) << target;
    EXPECT_EQ(fold(DType::int8, RedOp::prod, {100, 3}), 44U) << target;  // 300 − 256
    EXPECT_EQ(fold(DType::uint8, RedOp::sum, {200, 100}), 44U) << target;
    EXPECT_EQ(fold(DType::int8, RedOp::avg, {0xf9U, 0}, 2), 0xfdU) << target;         // −7 / 2 = −3
    EXPECT_EQ(fold(DType::int16, RedOp::avg, {16384, 16384}, 2), 0xc000U) << target;  // the wrapped sum: −32768 / 2
    EXPECT_EQ(fold(DType::int8, RedOp::avg, {100, 20}, 200), 0U) << target;           // a divisor beyond the type
    EXPECT_EQ(fold(DType::uint64, RedOp::avg, {~std::uint64_t{0}, 0}, 2), ~std::uint64_t{0} / 2) << target;
  });
}

TEST(Floats, NanAndZeroRules) {
  constexpr Word kPlusZero = 0;
  constexpr Word kMinusZero = 0x80000000U;
  constexpr Word kOne = 0x3f800000U;
  constexpr Word kInf = 0x7f800000U;
  constexpr Word kNan = 0x7fc00000U;
  constexpr Word kOddNan = 0xffc01234U;
  test::for_each_target([&](const std::string& target) {
    for (RedOp op : {RedOp::min, RedOp::max}) {
      EXPECT_EQ(fold(DType::fp32, op, {kPlusZero, kMinusZero}), kPlusZero) << target;
      EXPECT_EQ(fold(DType::fp32, op, {kMinusZero, kPlusZero}), kMinusZero) << target;
    }
    for (RedOp op : all_redops()) {
      if (!serves(op, DType::fp32)) continue;
      EXPECT_EQ(fold(DType::fp32, op, {kOne, kOddNan, kOne}), kNan) << target << ' ' << name_of(op);
      EXPECT_EQ(fold(DType::fp32, op, {kOddNan, kOne}), kNan) << target << ' ' << name_of(op);
    }
    EXPECT_EQ(fold(DType::fp32, RedOp::sum, {kInf, kInf | kMinusZero}), kNan) << target;
    EXPECT_EQ(fold(DType::fp32, RedOp::max, {kInf, kOne}), kInf) << target;
  });
}

constexpr DType kSmallFloats[] = {DType::fp16, DType::bf16, DType::fp8_e4m3, DType::fp8_e5m2};

/// Every code comes through a fold of one source: denormals exact, infinities kept, NaNs made one.
TEST(Floats, EveryCodeSurvives) {
  for (DType dtype : kSmallFloats) {
    const test::SmallFloat format = test::small_float(dtype);
    const std::size_t codes = std::size_t{1} << static_cast<unsigned>(format.bits);
    GuardedBuffer in(codes * size_of(dtype), 0);
    GuardedBuffer out(codes * size_of(dtype), 0);
    for (std::size_t i = 0; i < codes; ++i) in.set(dtype, i, i);
    test::for_each_target([&](const std::string& target) {
      const void* source = in.data();
      reduce(dtype, RedOp::max, out.data(), &source, 1, codes, 0);
      for (std::size_t i = 0; i < codes; ++i) {
        const Word expected = test::encode(format, test::decode(format, static_cast<std::uint32_t>(i)));
        ASSERT_EQ(out.get(dtype, i), expected) << target << ' ' << name_of(dtype) << ' ' << i;
      }
    });
  }
}

/// The products of random floats (of 8-bit ones: all): fp32 values of all sizes, on and around the ties.
TEST(Floats, RoundsToNearestEven) {
  constexpr std::size_t kPairs = 1U << 16U;
  Random random(5);
  for (DType dtype : kSmallFloats) {
    GuardedBuffer a(kPairs * size_of(dtype), 0);
    GuardedBuffer b(kPairs * size_of(dtype), 0);
    std::vector<Word> expected(kPairs);
    for (std::size_t i = 0; i < kPairs; ++i) {
      const bool eight = size_of(dtype) == 1;
      const Word x = eight ? i % 256 : random() % 65536;
      const Word y = eight ? i / 256 : random() % 65536;
      a.set(dtype, i, x);
      b.set(dtype, i, y);
      expected[i] = test::reference_fold(dtype, RedOp::prod, {x, y}, 0);
    }
    test::for_each_target([&](const std::string& target) {
      GuardedBuffer out(kPairs * size_of(dtype), 0);
      const void* sources[] = {a.data(), b.data()};
      reduce(dtype, RedOp::prod, out.data(), sources, 2, kPairs, 0);
      for (std::size_t i = 0; i < kPairs; ++i) {
        ASSERT_EQ(out.get(dtype, i), expected[i]) << target << ' ' << name_of(dtype) << ' ' << i;
      }
    });
  }
}

TEST(Floats, EightBitsOverflowAsDocumented) {
  test::for_each_target([&](const std::string& target) {
    constexpr Word kMost = 0x7eU;  // 448
    constexpr Word kMinusMost = 0xfeU;
    const Word sixteen = test::encode(test::kE4m3, 16);
    const Word thirty_two = test::encode(test::kE4m3, 32);
    EXPECT_EQ(fold(DType::fp8_e4m3, RedOp::sum, {kMost, sixteen}), kMost) << target;  // 464 is a tie: to even
    EXPECT_EQ(fold(DType::fp8_e4m3, RedOp::sum, {kMost, thirty_two}), 0x7fU) << target;
    EXPECT_EQ(fold(DType::fp8_e4m3, RedOp::sum, {kMinusMost, kMinusMost}), 0x7fU) << target;
    EXPECT_EQ(fold(DType::fp8_e4m3, RedOp::avg, {kMost, kMost}, 2), kMost) << target;
    EXPECT_EQ(fold(DType::fp8_e5m2, RedOp::sum, {0x7bU, 0x7bU}), 0x7cU) << target;  // 57344 twice
    EXPECT_EQ(fold(DType::fp8_e5m2, RedOp::sum, {0xfbU, 0xfbU}), 0xfcU) << target;
    EXPECT_EQ(fold(DType::fp8_e5m2, RedOp::sum, {0x7cU, 0xfcU}), 0x7eU) << target;  // ∞ − ∞
  });
}

TEST(Bits, LogicalOperatorsGiveZeroOrOne) {
  test::for_each_target([&](const std::string& target) {
    EXPECT_EQ(fold(DType::int8, RedOp::land, {2, 4}), 1U) << target;  // no bit in common
    EXPECT_EQ(fold(DType::int8, RedOp::lor, {0, 4}), 1U) << target;
    EXPECT_EQ(fold(DType::int8, RedOp::lxor, {2, 4}), 0U) << target;
    EXPECT_EQ(fold(DType::uint64, RedOp::land, {Word{1} << 63U}), 1U) << target;  // of one source too
    EXPECT_EQ(fold(DType::int8, RedOp::band, {6, 12}), 4U) << target;
  });
}

TEST(Pairs, TakeTheLowerIndexOfEqualValues) {
  const auto pair = [](std::uint32_t value, std::uint32_t index) { return Word{index} << 32U | value; };
  constexpr std::uint32_t kMinusZero = 0x80000000U;
  constexpr std::uint32_t kNan = 0x7fc00000U;
  constexpr std::uint32_t kOne = 0x3f800000U;
  EXPECT_EQ(fold(DType::int32_int32, RedOp::minloc, {pair(5, 9), pair(5, 2), pair(7, 0)}), pair(5, 2));
  EXPECT_EQ(fold(DType::int32_int32, RedOp::maxloc, {pair(5, 9), pair(7, 3), pair(7, 2)}), pair(7, 2));
  EXPECT_EQ(fold(DType::fp32_int32, RedOp::minloc, {pair(0, 3), pair(kMinusZero, 1)}), pair(kMinusZero, 1));
  EXPECT_EQ(fold(DType::fp32_int32, RedOp::maxloc, {pair(kOne, 0), pair(kNan | 1U, 4), pair(kNan, 3)}), pair(kNan, 3));
}

TEST(Operators, AreRefusedWhereTheyDoNotServe) {
  int refused = 0;
  for (DType dtype : all_dtypes()) {
    for (RedOp op : all_redops()) {
      if (serves(op, dtype)) continue;
      EXPECT_THROW(fold(dtype, op, {1, 1}), InvalidArgument) << name_of(dtype) << ' ' << name_of(op);
      ++refused;
    }
    EXPECT_THROW(fold(dtype, RedOp::user, {1, 1}), InvalidArgument);
  }
  EXPECT_EQ(refused, 21 * 13 - 134);
}

}  // namespace
}  // namespace umbel::kernels
