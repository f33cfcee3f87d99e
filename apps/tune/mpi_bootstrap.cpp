// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "mpi_bootstrap.hpp"

#include <memory>

#include <fmt/format.h>

#include "base/error.hpp"
#include "umbel/umbel_mpi.h"

namespace umbel::tune {
namespace {

void throw_unless_done(const umbel_mpi_start_t_& start, int code) {
  if (start.timed_out != 0)
    throw TimeoutError(
        fmt::format("waited {:g} s for the other ranks (UMBEL_TIMEOUT_S sets the time)", start.patience_s));
  if (code != MPI_SUCCESS) throw SystemError(fmt::format("MPI failed with code {}", code));
}

}  // namespace

net::Bootstrap mpi_bootstrap() {
  const auto start = std::make_shared<umbel_mpi_start_t_>(
      umbel_mpi_start_t_{.comm = MPI_COMM_WORLD, .patience_s = umbel_mpi_patience_(nullptr), .timed_out = 0});
  MPI_Comm_set_errhandler(start->comm, MPI_ERRORS_RETURN);
  net::Bootstrap bootstrap;
  MPI_Comm_rank(start->comm, &bootstrap.rank);
  MPI_Comm_size(start->comm, &bootstrap.size);
  bootstrap.allgather = [start](const void* send, void* recv, std::size_t bytes) {
    throw_unless_done(*start, umbel_mpi_allgather_(start.get(), send, recv, bytes));
  };
  bootstrap.barrier = [start] { throw_unless_done(*start, umbel_mpi_barrier_(start.get())); };
  return bootstrap;
}

}  // namespace umbel::tune
