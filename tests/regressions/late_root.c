// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Preloaded: rank 0 comes late to every broadcast, as on a host with more ranks than cores.
#include <mpi.h>
#include <unistd.h>

int MPI_Ibcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request* request) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) usleep(400 * 1000);
  return PMPI_Ibcast(buffer, count, datatype, root, comm, request);
}
