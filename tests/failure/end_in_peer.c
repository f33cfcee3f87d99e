/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026, the Umbel authors
 *
 * Preloaded (LD_PRELOAD): rank END_IN_PEER_RANK sends itself END_IN_PEER_SIGNAL in its seventh MPI_Allreduce, when the
 * others are in theirs. In the perf app only the peer of --peer mpi is called by that name.
 */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static int number(const char* name) {
  const char* text = getenv(name);
  return text == NULL ? -1 : atoi(text);
}

int MPI_Allreduce(const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  static int calls = 0;
  ++calls;
  if (calls == 7 && number("OMPI_COMM_WORLD_RANK") == number("END_IN_PEER_RANK")) {
    usleep(100000);
    raise(number("END_IN_PEER_SIGNAL"));
  }
  return PMPI_Allreduce(send, recv, count, type, op, comm);
}
