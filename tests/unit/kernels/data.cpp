// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "unit/kernels/data.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <hwy/highway.h>

namespace umbel::test {
namespace {

constexpr std::size_t kGuardBytes = 128;
constexpr std::uint8_t kGuard = 0xa5;

int mantissa_bits(DType dtype) {
  switch (dtype) {
    case DType::fp16:
      return 10;
    case DType::bf16:
      return 7;
    case DType::fp8_e4m3:
      return 3;
    case DType::fp8_e5m2:
      return 2;
    case DType::fp32:
      return 23;
    case DType::fp64:
      return 52;
    default:
      return 0;
  }
}

std::vector<Word> specials(DType dtype) {
  const int bits = static_cast<int>(size_of(dtype) * 8);
  const int mantissa = mantissa_bits(dtype);
  const Word sign = Word{1} << (bits - 1);
  if (mantissa == 0) return {0, 1, 2, sign - 1, sign, sign + 1, ~Word{0}, ~Word{1}, sign / 2};
  const Word infinite = (sign - 1) >> mantissa << mantissa;
  const Word one = (infinite >> mantissa) / 2 << mantissa;
  std::vector<Word> all = {0,                          // +0
                           1,                          // smallest denormal
                           (Word{1} << mantissa) - 1,  // largest denormal
                           Word{1} << mantissa,        // smallest normal
                           one,
                           one + 1,
                           infinite - 1,  // largest
                           infinite,
                           infinite + 1,                                 // signalling NaN
                           infinite + (Word{1} << (mantissa - 1)),       // quiet NaN
                           infinite + (Word{1} << (mantissa - 1)) + 5};  // quiet NaN with a payload
  const std::size_t positive = all.size();
  for (std::size_t k = 0; k < positive; ++k) all.push_back(all[k] | sign);
  return all;
}

/// What a complex number or a pair is made of; else the type itself.
DType part_of(DType dtype) {
  switch (dtype) {
    case DType::complex64:
    case DType::fp32_int32:
      return DType::fp32;
    case DType::complex128:
    case DType::fp64_int32:
      return DType::fp64;
    case DType::int32_int32:
      return DType::int32;
    case DType::int64_int32:
      return DType::int64;
    case DType::int16_int32:
      return DType::int16;
    default:
      return dtype;
  }
}

/// An element of parts that `part(dtype)` makes. Few different indices, so that they are equal now and then; noise in
/// the padding.
template <class Part>
Word composed(DType dtype, Random& random, Part part) {
  const DType half = part_of(dtype);
  if (half == dtype) return part(dtype);
  const auto half_bits = static_cast<unsigned>(size_of(dtype)) * 4;
  if (family_of(dtype) == Family::complex) return part(half) | part(half) << half_bits;
  const auto index = static_cast<std::uint32_t>(random() % 5) - 2;
  const Word noise = Word{random()} << static_cast<unsigned>(size_of(half) * 8);
  const Word low = (part(half) | noise) & ((Word{1} << half_bits) - 1);
  const Word high = half_bits == 64 ? Word{random()} << 32U | index : Word{index};
  return low | high << half_bits;
}

Word random_part(DType dtype, Random& random) {
  const Word mask = (Word{1} << static_cast<unsigned>(size_of(dtype) * 8)) - 1;
  if (random() % 3 != 0) return random() & mask;
  const std::vector<Word> all = specials(dtype);
  return all[random() % all.size()] & mask;
}

Word tame_part(DType dtype, Random& random) {
  const double value = std::ldexp(static_cast<double>(random() % 4096) - 2048.0, static_cast<int>(random() % 12) - 14);
  if (folds_in_fp32(dtype)) return encode(small_float(dtype), value);
  if (dtype == DType::fp32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (dtype == DType::fp64) return std::bit_cast<std::uint64_t>(value);
  return random() % 7;
}

}  // namespace

std::vector<Served> served() {
  std::vector<Served> all;
  for (DType dtype : all_dtypes()) {
    for (RedOp op : all_redops()) {
      if (serves(op, dtype)) all.emplace_back(dtype, op);
    }
  }
  return all;
}

std::string name_of_served(const testing::TestParamInfo<Served>& info) {
  const auto [dtype, op] = info.param;
  return std::string(name_of(dtype)) + "_" + std::string(name_of(op));
}

Word random_word(DType dtype, Random& random) {
  return composed(dtype, random, [&](DType part) { return random_part(part, random); });
}

Word tame_word(DType dtype, Random& random) {
  return composed(dtype, random, [&](DType part) { return tame_part(part, random); });
}

GuardedBuffer::GuardedBuffer(std::size_t bytes, std::size_t misalignment)
    : memory_(bytes + misalignment + 2 * kGuardBytes + 64, kGuard), bytes_(bytes) {
  const auto start = reinterpret_cast<std::uintptr_t>(memory_.data()) + kGuardBytes;
  const std::size_t to_line = (64 - start % 64) % 64;
  data_ = memory_.data() + kGuardBytes + to_line + misalignment;
}

bool GuardedBuffer::guards_intact() const {
  const std::uint8_t* end = memory_.data() + memory_.size();
  auto intact = [](std::uint8_t byte) { return byte == kGuard; };
  return std::all_of(memory_.data(), static_cast<const std::uint8_t*>(data_), intact) &&
         std::all_of(static_cast<const std::uint8_t*>(data_) + bytes_, end, intact);
}

void for_each_target(const std::function<void(const std::string& target)>& body) {
  for (std::int64_t rest = hwy::SupportedTargets() & HWY_TARGETS; rest != 0; rest &= rest - 1) {
    const std::int64_t target = rest & -rest;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    body(hwy::TargetName(target));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace umbel::test
