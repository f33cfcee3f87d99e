// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The C ABI and the C++ layer as callers meet them: arguments that are wrong, errors that are told, handles that are
// owned.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "layouts.hpp"

namespace {

using namespace umbel;
using ::testing::HasSubstr;

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

class Api : public ::testing::Test {
 protected:
  void TearDown() override {
    if (comm_) comm_.close();
  }
  /// Every misuse leaves the communicator usable.
  void expect_usable() {
    std::vector<std::int32_t> value{world_rank() + 1};
    comm_.all_reduce_in_place(value);
    EXPECT_EQ(value[0], world_size() * (world_size() + 1) / 2);
  }

  Comm comm_ = test::make_comm("1");
  std::array<float, 8> a_{};
  std::array<float, 8> b_{};
};

TEST_F(Api, NullArgumentsAreNamed) {
  EXPECT_EQ(umbel_all_reduce(nullptr, b_.data(), 8, UMBEL_FP32, UMBEL_SUM, comm_.native()),
            UMBEL_ERROR_INVALID_ARGUMENT);
  const std::string whose = " (rank " + std::to_string(world_rank()) + ")";
  EXPECT_EQ(umbel_last_error(), "umbel_all_reduce: send is NULL while count is 8" + whose);
  EXPECT_EQ(umbel_all_reduce(a_.data(), nullptr, 8, UMBEL_FP32, UMBEL_SUM, comm_.native()),
            UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(umbel_last_error(), "umbel_all_reduce: recv is NULL while count is 8" + whose);
  EXPECT_EQ(umbel_all_reduce(a_.data(), b_.data(), 8, UMBEL_FP32, UMBEL_SUM, nullptr), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_STREQ(umbel_last_error(), "umbel_all_reduce: comm is NULL");
  EXPECT_EQ(umbel_comm_get_info(comm_.native(), nullptr), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(umbel_last_error(), "umbel_comm_get_info: info is NULL" + whose);
  EXPECT_EQ(umbel_comm_last_call(comm_.native(), nullptr), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(umbel_comm_supports(comm_.native(), nullptr, nullptr), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(umbel_comm_create(nullptr, nullptr, nullptr), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_STREQ(umbel_last_error(), "umbel_comm_create: bootstrap is NULL");
  EXPECT_EQ(umbel_describe(comm_.native(), nullptr), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(umbel_comm_check(nullptr), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(umbel_comm_destroy(nullptr), UMBEL_SUCCESS);
  expect_usable();
}

TEST_F(Api, OverlapIsRefusedButInPlaceAndTouchingAreNot) {
  EXPECT_EQ(umbel_all_reduce(a_.data(), a_.data() + 1, 4, UMBEL_FP32, UMBEL_SUM, comm_.native()),
            UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(umbel_last_error(), HasSubstr("overlap"));
  EXPECT_EQ(umbel_all_reduce(a_.data() + 3, a_.data(), 4, UMBEL_FP32, UMBEL_SUM, comm_.native()),
            UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(umbel_all_reduce(a_.data(), a_.data() + 4, 4, UMBEL_FP32, UMBEL_SUM, comm_.native()), UMBEL_SUCCESS);
  EXPECT_EQ(umbel_all_reduce(a_.data(), a_.data(), 4, UMBEL_FP32, UMBEL_SUM, comm_.native()), UMBEL_SUCCESS);
  expect_usable();
}

TEST_F(Api, CountsThatOverflowAreRefused) {
  for (const std::size_t count : {std::numeric_limits<std::size_t>::max(),
                                  std::numeric_limits<std::size_t>::max() / 4 + 2, std::size_t{1} << 62U}) {
    EXPECT_EQ(umbel_all_reduce(a_.data(), b_.data(), count, UMBEL_FP32, UMBEL_SUM, comm_.native()),
              UMBEL_ERROR_INVALID_ARGUMENT);
    EXPECT_THAT(umbel_last_error(), HasSubstr(std::to_string(count)));
  }
  expect_usable();
}

TEST_F(Api, NothingToDoNeedsNoBuffers) {
  EXPECT_EQ(umbel_all_reduce(nullptr, nullptr, 0, UMBEL_FP64, UMBEL_AVG, comm_.native()), UMBEL_SUCCESS);
  expect_usable();
}

TEST_F(Api, UnknownAlgorithmIsNamed) {
  EXPECT_EQ(umbel_comm_set_algorithm(comm_.native(), "no_such_thing"), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(umbel_last_error(), HasSubstr("no_such_thing"));
  const umbel_call_t call{.struct_size = sizeof(umbel_call_t),
                          .collective = UMBEL_ALL_REDUCE,
                          .count = 1,
                          .dtype = UMBEL_FP32,
                          .op = UMBEL_SUM,
                          .root = 0};
  EXPECT_EQ(umbel_comm_supports(comm_.native(), "no_such_thing", &call), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(umbel_algorithm_summary(UMBEL_ALL_REDUCE, "no_such_thing"), nullptr);
  EXPECT_EQ(umbel_algorithm_summary(UMBEL_ALL_REDUCE, nullptr), nullptr);
  expect_usable();
}

TEST_F(Api, StructsOfOtherVersions) {
  umbel_comm_info_t info{};
  info.struct_size = 4;
  EXPECT_EQ(umbel_comm_get_info(comm_.native(), &info), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(umbel_last_error(), HasSubstr("struct_size"));
  // a caller whose header has no timeout_s yet: what lies behind its struct is left alone
  info.timeout_s = -1;
  info.struct_size = offsetof(umbel_comm_info_t, timeout_s);
  EXPECT_EQ(umbel_comm_get_info(comm_.native(), &info), UMBEL_SUCCESS);
  EXPECT_EQ(info.ranks, world_size());
  EXPECT_EQ(info.timeout_s, -1);
  struct {
    umbel_comm_info_t known;
    std::uint64_t from_the_future;
  } newer{};
  newer.from_the_future = 77;
  newer.known.struct_size = sizeof(newer);
  EXPECT_EQ(umbel_comm_get_info(comm_.native(), &newer.known), UMBEL_SUCCESS);
  EXPECT_EQ(newer.known.ranks, world_size());
  EXPECT_EQ(newer.known.struct_size, sizeof(newer));
  EXPECT_EQ(newer.from_the_future, 77U);

  struct {
    umbel_config_t known;
    std::uint64_t from_the_future;
  } config{UMBEL_CONFIG_INIT, 1};
  config.known.struct_size = sizeof(config);
  umbel_comm_t handle = nullptr;
  EXPECT_EQ(umbel_comm_create_from_mpi(&handle, MPI_COMM_WORLD, &config.known), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(umbel_last_error(), HasSubstr("umbel_config_t"));
  EXPECT_EQ(handle, nullptr);
  config.from_the_future = 0;
  EXPECT_EQ(umbel_comm_create_from_mpi(&handle, MPI_COMM_WORLD, &config.known), UMBEL_SUCCESS) << umbel_last_error();
  EXPECT_EQ(umbel_comm_destroy(handle), UMBEL_SUCCESS);
}

TEST_F(Api, AConfigurationOfTheFirstHeader) {
  umbel_config_t config = UMBEL_CONFIG_INIT;
  config.struct_size = offsetof(umbel_config_t, registered);
  config.registered = 1;  // what lies behind the caller's struct
  umbel_comm_t handle = nullptr;
  ASSERT_EQ(umbel_comm_create_from_mpi(&handle, MPI_COMM_WORLD, &config), UMBEL_SUCCESS) << umbel_last_error();
  const char* json = nullptr;
  ASSERT_EQ(umbel_describe(handle, &json), UMBEL_SUCCESS);
  EXPECT_THAT(json, ::testing::Not(HasSubstr("registered buffers")));
  EXPECT_EQ(umbel_comm_destroy(handle), UMBEL_SUCCESS);
  config.struct_size = sizeof(config);
  ASSERT_EQ(umbel_comm_create_from_mpi(&handle, MPI_COMM_WORLD, &config), UMBEL_SUCCESS) << umbel_last_error();
  ASSERT_EQ(umbel_describe(handle, &json), UMBEL_SUCCESS);
  EXPECT_THAT(json, HasSubstr("registered buffers"));
  EXPECT_EQ(umbel_comm_destroy(handle), UMBEL_SUCCESS);
}

TEST_F(Api, RegisteredMemoryIsCheckedToo) {
  EXPECT_EQ(umbel_mem_alloc(nullptr, 8), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_STREQ(umbel_last_error(), "umbel_mem_alloc: ptr is NULL");
  void* memory = a_.data();
  EXPECT_EQ(umbel_mem_alloc(&memory, 0), UMBEL_SUCCESS);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(umbel_mem_free(nullptr), UMBEL_SUCCESS);
  memory = a_.data();
  EXPECT_EQ(umbel_mem_alloc(&memory, std::numeric_limits<std::size_t>::max()), UMBEL_ERROR_SYSTEM);
  EXPECT_EQ(memory, a_.data()) << "set only on success";
  EXPECT_EQ(umbel_mem_free(a_.data()), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(umbel_last_error(), HasSubstr("umbel_mem_free: "));
  ASSERT_EQ(umbel_mem_alloc(&memory, 100), UMBEL_SUCCESS);
  EXPECT_EQ(umbel_mem_free(static_cast<char*>(memory) + 1), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(umbel_mem_free(memory), UMBEL_SUCCESS);
  EXPECT_EQ(umbel_mem_free(memory), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(umbel_last_error(), HasSubstr("freed already"));
}

TEST_F(Api, CppRegisteredArrays) {
  static_assert(WritableElementRange<RegisteredArray<float>> && !std::is_copy_constructible_v<RegisteredArray<float>>);
  EXPECT_EQ(RegisteredArray<int>(0).data(), nullptr);
  EXPECT_THROW(RegisteredArray<double>(std::numeric_limits<std::size_t>::max() / 8 + 1), Error);
  RegisteredArray<std::int64_t> first(70'000), send;
  EXPECT_EQ(first[69'999], 0);
  for (std::int64_t& value : first) value = world_rank() + 1;
  send = std::move(first);
  EXPECT_EQ(first.size(), 0U);  // NOLINT(bugprone-use-after-move): what is promised of it
  RegisteredArray<std::int64_t> recv(send.size());
  comm_.all_reduce(send, recv);
  const std::int64_t sum = world_size() * (world_size() + 1) / 2;
  EXPECT_EQ(std::ranges::count(recv, sum), 70'000);
  comm_.all_reduce_in_place(send);
  EXPECT_EQ(std::ranges::count(send, sum), 70'000);
}

TEST_F(Api, BadBootstrapsAreRefused) {
  umbel_comm_t handle = nullptr;
  umbel_bootstrap_t bootstrap{};
  EXPECT_EQ(umbel_comm_create(&handle, &bootstrap, nullptr), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(umbel_last_error(), HasSubstr("struct_size"));
  bootstrap.struct_size = sizeof(bootstrap);
  bootstrap.size = 2;
  bootstrap.rank = 2;
  EXPECT_EQ(umbel_comm_create(&handle, &bootstrap, nullptr), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(umbel_last_error(), HasSubstr("rank 2 of size 2"));
  bootstrap.rank = 0;
  EXPECT_EQ(umbel_comm_create(&handle, &bootstrap, nullptr), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(umbel_last_error(), HasSubstr("callbacks"));
  bootstrap.allgather = [](void*, const void*, void*, std::size_t) { return 42; };
  bootstrap.barrier = [](void*) { return 0; };
  EXPECT_EQ(umbel_comm_create(&handle, &bootstrap, nullptr), UMBEL_ERROR_SYSTEM);
  EXPECT_THAT(umbel_last_error(), HasSubstr("42"));
  EXPECT_EQ(handle, nullptr);
}

TEST_F(Api, ConfigurationIsChecked) {
  umbel_comm_t handle = nullptr;
  for (const double seconds :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    umbel_config_t config = UMBEL_CONFIG_INIT;
    config.timeout_s = seconds;
    EXPECT_EQ(umbel_comm_create_from_mpi(&handle, MPI_COMM_WORLD, &config), UMBEL_ERROR_INVALID_ARGUMENT);
    EXPECT_THAT(umbel_last_error(), HasSubstr("timeout_s"));
  }
  // Of one rank alone: the others hear of it.
  umbel_config_t odd = UMBEL_CONFIG_INIT;
  if (world_rank() == world_size() - 1) odd.timeout_s = -1;
  EXPECT_EQ(umbel_comm_create_from_mpi(&handle, MPI_COMM_WORLD, &odd), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(umbel_last_error(), HasSubstr("timeout_s"));
  umbel_config_t config = UMBEL_CONFIG_INIT;
  config.algorithm = "no_such_thing";
  EXPECT_EQ(umbel_comm_create_from_mpi(&handle, MPI_COMM_WORLD, &config), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(umbel_last_error(), HasSubstr("no_such_thing"));
  EXPECT_EQ(handle, nullptr);
}

TEST_F(Api, TheDeadlineInForceIsTold) {
  EXPECT_EQ(comm_.info().timeout_s, 60);  // make_comm's
  Comm comm = Comm::from_mpi(MPI_COMM_WORLD);
  EXPECT_EQ(comm.info().timeout_s, 300);  // UMBEL_TIMEOUT_S's default
  comm.close();
}

TEST_F(Api, AConfiguredAlgorithmRuns) {
  umbel_config_t config = UMBEL_CONFIG_INIT;
  config.algorithm = "ring";
  umbel_comm_t handle = nullptr;
  check(umbel_comm_create_from_mpi(&handle, MPI_COMM_WORLD, &config));
  Comm comm(handle);
  if (!comm.refusal("ring", {.count = 8})) {
    comm.all_reduce(a_, b_);
    EXPECT_STREQ(comm.last_call().algorithm, "ring");
    EXPECT_GT(comm.last_call().predicted_s, 0.0);
  }
  comm.close();
}

TEST_F(Api, TheLastErrorIsTheThreads) {
  umbel_comm_set_algorithm(comm_.native(), "mine");
  const std::string before = umbel_last_error();
  std::string seen = "?";
  std::thread([&seen] { seen = umbel_last_error(); }).join();
  EXPECT_EQ(seen, "");
  EXPECT_THAT(before, HasSubstr("mine"));
  EXPECT_EQ(umbel_report(UMBEL_ERROR_SYSTEM, "from an adapter"), UMBEL_ERROR_SYSTEM);
  EXPECT_STREQ(umbel_last_error(), "from an adapter");
}

TEST_F(Api, AdapterRefusesWhatIsNoCommunicator) {
  umbel_comm_t handle = nullptr;
  EXPECT_EQ(umbel_comm_create_from_mpi(&handle, MPI_COMM_NULL, nullptr), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(umbel_last_error(), HasSubstr("MPI_COMM_NULL"));
}

TEST_F(Api, CppFromMpi) {
  EXPECT_EQ(Comm::from_mpi(MPI_COMM_WORLD).ranks(), world_size());
  umbel_config_t config = UMBEL_CONFIG_INIT;
  config.timeout_s = 17;
  Comm comm = Comm::from_mpi(MPI_COMM_SELF, config);
  EXPECT_EQ(comm.ranks(), 1);
  EXPECT_EQ(comm.info().timeout_s, 17);
  config.algorithm = "no_such_thing";
  try {
    Comm::from_mpi(MPI_COMM_SELF, config);
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), UMBEL_ERROR_INVALID_ARGUMENT);
    EXPECT_THAT(error.what(), HasSubstr("no_such_thing"));
  }
  EXPECT_THROW(Comm::from_mpi(MPI_COMM_NULL), Error);
}

TEST_F(Api, AdapterTakesSubgroups) {
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank() % 2, -world_rank(), &part);
  int size = 0;
  MPI_Comm_size(part, &size);
  umbel_comm_t handle = nullptr;
  check(umbel_comm_create_from_mpi(&handle, part, nullptr));
  MPI_Comm_free(&part);  // no longer needed
  Comm comm(handle);
  std::vector<double> ones(100, 1.0);
  comm.all_reduce_in_place(ones);
  EXPECT_EQ(ones[99], size);
  comm.close();
}

TEST_F(Api, CppTypesAndOwnership) {
  static_assert(dtype_of<long> == UMBEL_INT64 && dtype_of<unsigned char> == UMBEL_UINT8 &&
                dtype_of<Half> == UMBEL_FP16);
  static_assert(dtype_of<Fp8E4M3> == UMBEL_FP8_E4M3 && dtype_of<std::complex<double>> == UMBEL_COMPLEX128 &&
                dtype_of<ValueIndex<short>> == UMBEL_INT16_INT32 && !Element<std::complex<int>>);
  static_assert(!Element<bool> && !Element<long double> && !std::is_copy_constructible_v<Comm>);
  Comm moved = std::move(comm_);
  EXPECT_FALSE(comm_);
  comm_ = std::move(moved);
  EXPECT_TRUE(comm_);
  const std::vector<double> send(1000, 2.0);
  std::vector<double> recv(1000);
  comm_.all_reduce(send, recv, UMBEL_PROD);
  EXPECT_EQ(recv[999], static_cast<double>(1U << static_cast<unsigned>(world_size())));
  std::vector<double> shorter(999);
  EXPECT_THROW(comm_.all_reduce(send, shorter), Error);
  try {
    comm_.set_algorithm("no_such_thing");
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), UMBEL_ERROR_INVALID_ARGUMENT);
    EXPECT_THAT(error.what(), HasSubstr("invalid argument: "));
  }
  EXPECT_EQ(comm_.rank(), world_rank());
  EXPECT_NO_THROW(comm_.check_health());
}

TEST_F(Api, DescriptionIsComplete) {
  const char* json = nullptr;
  ASSERT_EQ(umbel_describe(comm_.native(), &json), UMBEL_SUCCESS) << umbel_last_error();
  for (const char* part :
       {"\"build\"", "\"variables\"", "\"host\"", "\"communicator\"", "UMBEL_NODES", "\"revision\""}) {
    EXPECT_THAT(json, HasSubstr(part));
  }
  ASSERT_EQ(umbel_describe(nullptr, &json), UMBEL_SUCCESS);
  EXPECT_THAT(json, ::testing::Not(HasSubstr("\"communicator\": {")));
}

TEST(ApiLifetime, ManyCommunicatorsOneAfterAnother) {
  for (int i = 0; i < 50; ++i) {
    Comm comm = test::make_comm("1");
    std::vector<int> one{1};
    comm.all_reduce_in_place(one);
    ASSERT_EQ(one[0], world_size());
    comm.close();
  }
}

TEST(Create, AloneItEndsAtTheDeadline) {
  if (world_size() > 1 && world_rank() == 0) {
    umbel_config_t config = UMBEL_CONFIG_INIT;
    config.timeout_s = 1;
    umbel_comm_t comm = nullptr;
    EXPECT_EQ(umbel_comm_create_from_mpi(&comm, MPI_COMM_WORLD, &config), UMBEL_ERROR_TIMEOUT);
    EXPECT_THAT(umbel_last_error(), HasSubstr("not all ranks"));
    EXPECT_EQ(comm, nullptr);
  } else if (world_size() > 1) {  // late, and only so that MPI can end what rank 0 has begun
    std::this_thread::sleep_for(std::chrono::seconds(2));
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&copy);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
