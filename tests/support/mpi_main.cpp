// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// main() of the tests that run under mpirun: every rank runs every test; rank 0 reports, the others speak only of
// their failures; every rank exits with the worst status of all.
#include <cstdio>
#include <memory>

#include <gtest/gtest.h>
#include <mpi.h>

namespace {

/// Prints failed assertions only, with the rank in front.
class FailuresOfRank : public ::testing::EmptyTestEventListener {
 public:
  explicit FailuresOfRank(int rank) : rank_(rank) {}

 private:
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "[rank %d] %s:%d: %s\n", rank_, result.file_name() != nullptr ? result.file_name() : "?",
                 result.line_number(), result.message());
  }

  int rank_;
};

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) {
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    const std::unique_ptr<::testing::TestEventListener> chatty(listeners.Release(listeners.default_result_printer()));
    listeners.Append(new FailuresOfRank(rank));  // owned by GoogleTest from here on
  }
  const int mine = RUN_ALL_TESTS();
  int worst = mine;
  MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return worst;
}
