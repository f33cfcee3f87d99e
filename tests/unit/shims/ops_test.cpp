// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Operators and their handles, through the C interface, on a communicator of one rank.
#include <complex>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "umbel/umbel.hpp"

namespace umbel {
namespace {

using ::testing::HasSubstr;

void keep_left(const void* left, void* right_inout, std::size_t count, umbel_dtype_t /*dtype*/, void* /*context*/) {
  std::memcpy(right_inout, left, count * sizeof(float));
}

Comm lone_rank() {
  umbel_bootstrap_t bootstrap{};
  bootstrap.struct_size = sizeof(bootstrap);
  bootstrap.size = 1;
  bootstrap.allgather = [](void*, const void* send, void* recv, std::size_t bytes) {
    if (bytes != 0) std::memcpy(recv, send, bytes);
    return 0;
  };
  bootstrap.barrier = [](void*) { return 0; };
  return Comm(bootstrap);
}

TEST(Ops, HandlesAreDistinctAndNotUsedAgain) {
  std::set<umbel_op_t> seen;
  for (int i = 0; i < 100; ++i) {
    umbel_op_t op = -1;
    const float scalar = 2;
    ASSERT_EQ(
        i % 2 == 0 ? umbel_op_create(keep_left, nullptr, 0, &op) : umbel_op_create_premul_sum(&scalar, UMBEL_FP32, &op),
        UMBEL_SUCCESS);
    EXPECT_GE(op, 1024);
    EXPECT_TRUE(seen.insert(op).second) << op;
    EXPECT_EQ(umbel_op_destroy(op), UMBEL_SUCCESS);
    EXPECT_EQ(umbel_op_destroy(op), UMBEL_ERROR_INVALID_ARGUMENT);
    EXPECT_THAT(umbel_last_error(), HasSubstr("op " + std::to_string(op)));
  }
}

TEST(Ops, WrongArgumentsAreNamed) {
  const float scalar = 2;
  umbel_op_t op = -7;
  EXPECT_EQ(umbel_op_create(nullptr, nullptr, 1, &op), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(umbel_last_error(), HasSubstr("umbel_op_create: fn is NULL"));
  EXPECT_EQ(umbel_op_create(keep_left, nullptr, 1, nullptr), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(umbel_op_create_premul_sum(nullptr, UMBEL_FP32, &op), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(umbel_last_error(), HasSubstr("scalar is NULL"));
  EXPECT_EQ(umbel_op_create_premul_sum(&scalar, UMBEL_FP32, nullptr), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(umbel_op_create_premul_sum(&scalar, UMBEL_FP32_INT32, &op), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(umbel_last_error(), HasSubstr("does not serve fp32_int32"));
  EXPECT_EQ(umbel_op_create_premul_sum(&scalar, static_cast<umbel_dtype_t>(21), &op), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(op, -7);  // set only on success
  for (const umbel_op_t bad : {-1, 13, 1023}) {
    EXPECT_EQ(umbel_op_destroy(bad), UMBEL_ERROR_INVALID_ARGUMENT) << bad;
  }
  EXPECT_EQ(umbel_op_destroy(UMBEL_SUM), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(umbel_last_error(), HasSubstr("op sum is built in"));
}

TEST(Ops, ManyThreadsAtOnce) {
  constexpr int kThreads = 4;
  constexpr int kEach = 2000;
  std::vector<std::vector<umbel_op_t>> made(kThreads);
  std::vector<std::thread> threads;
  for (auto& mine : made) {
    threads.emplace_back([&mine] {
      for (int i = 0; i < kEach; ++i) {
        umbel_op_t op = -1;
        if (umbel_op_create(keep_left, nullptr, 0, &op) != UMBEL_SUCCESS) return;
        mine.push_back(op);
        if (i % 3 == 0 && umbel_op_destroy(op) != UMBEL_SUCCESS) return;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<umbel_op_t> all;
  for (const auto& mine : made) {
    EXPECT_EQ(mine.size(), kEach);
    all.insert(mine.begin(), mine.end());
    for (std::size_t i = 0; i < mine.size(); ++i) {
      if (i % 3 != 0) EXPECT_EQ(umbel_op_destroy(mine[i]), UMBEL_SUCCESS);
    }
  }
  EXPECT_EQ(all.size(), static_cast<std::size_t>(kThreads) * kEach);
}

TEST(Ops, TheOwnerFreesItsHandle) {
  umbel_op_t handle = -1;
  {
    Op op = Op::premul_sum(std::complex<float>(0, 1));
    Op other(keep_left, nullptr, false);
    std::swap(op, other);
    handle = op;
    const Op last(std::move(op));
    EXPECT_EQ(umbel_op_t{last}, handle);
  }
  EXPECT_EQ(umbel_op_destroy(handle), UMBEL_ERROR_INVALID_ARGUMENT);
}

TEST(Ops, ACallTakesOnlyWhatServesItsType) {
  const Comm comm = lone_rank();
  std::vector<float> x(8, 3.0F);
  const auto call = [&](umbel_dtype_t dtype, umbel_op_t op) {
    return umbel_all_reduce(x.data(), x.data(), 2, dtype, op, comm.native());
  };
  EXPECT_EQ(call(UMBEL_FP32, UMBEL_BXOR), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(umbel_last_error(), HasSubstr("op bxor does not serve fp32"));
  EXPECT_EQ(call(UMBEL_COMPLEX64, UMBEL_MIN), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(umbel_last_error(), HasSubstr("op min does not serve complex64"));
  EXPECT_EQ(call(UMBEL_INT32_INT32, UMBEL_SUM), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(call(UMBEL_COMPLEX64, UMBEL_AVG), UMBEL_SUCCESS);
  EXPECT_EQ(call(UMBEL_INT32_INT32, UMBEL_MAXLOC), UMBEL_SUCCESS);
  EXPECT_EQ(call(UMBEL_FP32, 13), UMBEL_ERROR_INVALID_ARGUMENT);
  umbel_op_t gone = -1;
  {
    const Op scaled = Op::premul_sum(2.0F);
    EXPECT_EQ(call(UMBEL_FP64, scaled), UMBEL_ERROR_INVALID_ARGUMENT);
    EXPECT_THAT(umbel_last_error(), HasSubstr("a scalar of fp32: it does not serve fp64"));
    gone = scaled;
  }
  EXPECT_EQ(call(UMBEL_FP32, gone), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(umbel_last_error(), HasSubstr("or destroyed"));
}

TEST(Ops, OfALoneRankAreItsOwnInput) {
  const Comm comm = lone_rank();
  float x = 3;
  EXPECT_EQ(umbel_all_reduce(&x, &x, 1, UMBEL_FP32, Op(keep_left), comm.native()), UMBEL_SUCCESS);
  EXPECT_EQ(x, 3);
  EXPECT_EQ(umbel_all_reduce(&x, &x, 1, UMBEL_FP32, Op::premul_sum(2.0F), comm.native()), UMBEL_SUCCESS);
  EXPECT_EQ(x, 6);
  EXPECT_FALSE(comm.refusal("auto", {.count = 1, .op = Op(keep_left)}));
}

}  // namespace
}  // namespace umbel
