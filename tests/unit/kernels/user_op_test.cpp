// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// A caller's operator, folded by the host agent: products of 2 × 2 matrices, which neither commute nor fit a type that
// the kernels know.
#include "base/user_op.hpp"

#include <array>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/host/host_agent.hpp"
#include "unit/kernels/data.hpp"

namespace umbel::kernels {
namespace {

using test::GuardedBuffer;
using test::Random;

using Matrix = std::array<std::uint32_t, 4>;
constexpr DType kCarrier = DType::complex128;  // 16 bytes
constexpr int kNotInPlace = -1;

Matrix product(const Matrix& x, const Matrix& y) {
  return {x[0] * y[0] + x[1] * y[2], x[0] * y[1] + x[1] * y[3], x[2] * y[0] + x[3] * y[2], x[2] * y[1] + x[3] * y[3]};
}

/// Counts its calls in the context.
void multiply(const void* left, void* right_inout, std::size_t count, DType dtype, void* context) {
  EXPECT_EQ(dtype, kCarrier);
  for (std::size_t i = 0; i < count; ++i) {
    Matrix x;
    Matrix y;
    std::memcpy(&x, static_cast<const std::byte*>(left) + i * sizeof(x), sizeof(x));
    std::memcpy(&y, static_cast<std::byte*>(right_inout) + i * sizeof(y), sizeof(y));
    y = product(x, y);
    std::memcpy(static_cast<std::byte*>(right_inout) + i * sizeof(y), &y, sizeof(y));
  }
  ++*static_cast<int*>(context);
}

/// The memory of a fold: sources of random matrices, some of which only the reader reaches.
class Fold {
 public:
  Fold(int source_count, std::size_t count, std::size_t misalignment) : dst_(count * sizeof(Matrix), misalignment) {
    Random random(41);
    for (int k = 0; k < source_count; ++k) {
      std::vector<Matrix> matrices(count);
      for (Matrix& matrix : matrices) {
        for (std::uint32_t& entry : matrix) entry = static_cast<std::uint32_t>(random());
      }
      sources_.emplace_back(count * sizeof(Matrix), misalignment);
      if (count != 0) std::memcpy(sources_.back().data(), matrices.data(), count * sizeof(Matrix));
      matrices_.push_back(std::move(matrices));
    }
  }

  /// @param unmapped  by bits: the sources to read
  void run(HostContext context, unsigned unmapped, int in_place, std::size_t first, std::size_t count) {
    context.reader = [this](Rank rank, Buffer, std::uint64_t offset, std::byte* into, std::size_t bytes) {
      std::memcpy(into, sources_[static_cast<std::size_t>(rank)].data() + offset, bytes);
    };
    HostAgent agent(std::move(context));
    std::vector<HostAgent::Operand> operands;
    for (std::size_t k = 0; k < sources_.size(); ++k) {
      auto* mapped = reinterpret_cast<std::byte*>(sources_[k].data());
      operands.push_back({(unmapped >> k & 1U) != 0 ? nullptr : mapped, 0, static_cast<Rank>(k), Buffer::input});
    }
    GuardedBuffer& dst = in_place == kNotInPlace ? dst_ : sources_[static_cast<std::size_t>(in_place)];
    agent.reduce({reinterpret_cast<std::byte*>(dst.data()), 0, 0, Buffer::output}, operands.data(),
                 static_cast<int>(operands.size()), first, count, true);
  }

  void expect_products(int in_place, std::size_t first, std::size_t count) const {
    const GuardedBuffer& dst = in_place == kNotInPlace ? dst_ : sources_[static_cast<std::size_t>(in_place)];
    for (std::size_t i = first; i < first + count; ++i) {
      Matrix expected = matrices_[0][i];
      for (std::size_t k = 1; k < matrices_.size(); ++k) expected = product(expected, matrices_[k][i]);
      ASSERT_EQ(at(dst, i), expected) << i;
    }
    EXPECT_TRUE(dst.guards_intact());
    for (std::size_t k = 0; k < sources_.size(); ++k) {
      if (static_cast<int>(k) == in_place) continue;
      for (std::size_t i = 0; i < matrices_[k].size(); ++i) ASSERT_EQ(at(sources_[k], i), matrices_[k][i]);
    }
  }

 private:
  static Matrix at(const GuardedBuffer& buffer, std::size_t i) {
    const test::Word word = buffer.get(kCarrier, i);
    Matrix matrix;
    std::memcpy(&matrix, &word, sizeof(matrix));
    return matrix;
  }

  std::vector<std::vector<Matrix>> matrices_;
  std::vector<GuardedBuffer> sources_;
  GuardedBuffer dst_;
};

HostContext context_of(const UserOp& op) {
  HostContext context;
  context.dtype = kCarrier;
  context.op = RedOp::user;
  context.user = &op;
  context.divisor = 7;  // of avg: not for this operator
  return context;
}

TEST(UserOp, FoldsInTheGivenOrderAndLeavesTheInputsAlone) {
  int calls = 0;
  const UserOp op{multiply, &calls, false};
  for (int source_count : {1, 2, 3, 4, 7}) {
    for (std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{33}, std::size_t{20001}}) {
      for (unsigned unmapped : {0U, 1U, 2U, 0x55U, 0x7fU}) {
        for (int in_place = kNotInPlace; in_place < source_count; ++in_place) {
          if (in_place != kNotInPlace && (unmapped >> static_cast<unsigned>(in_place) & 1U) != 0) continue;
          if (count > 1000 && in_place > 0) continue;
          Fold fold(source_count, count, 4);
          calls = 0;
          fold.run(context_of(op), unmapped, in_place, 0, count);
          fold.expect_products(in_place, 0, count);
          EXPECT_EQ(calls > 0, count > 0 && source_count > 1);
        }
      }
    }
  }
}

TEST(UserOp, GoesOnInsideAnInstruction) {
  int calls = 0;
  const UserOp op{multiply, &calls, false};
  for (unsigned unmapped : {0U, 5U}) {
    Fold fold(3, 100, 8);
    fold.run(context_of(op), unmapped, kNotInPlace, 0, 37);
    fold.run(context_of(op), unmapped, kNotInPlace, 37, 63);
    fold.expect_products(kNotInPlace, 0, 100);
  }
}

TEST(UserOp, WhatItThrowsComesOut) {
  const UserOp op{[](const void*, void*, std::size_t, DType, void*) { throw std::runtime_error("no"); }, nullptr, true};
  Fold fold(2, 3, 0);
  EXPECT_THROW(fold.run(context_of(op), 0, kNotInPlace, 0, 3), std::runtime_error);
}

}  // namespace
}  // namespace umbel::kernels
