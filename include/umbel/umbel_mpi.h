/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026, the Umbel authors
 *
 * A communicator of Umbel from an MPI communicator. Compiled in the user's program, with the user's MPI: libumbel
 * itself links none. C99 and C++.
 */
#ifndef UMBEL_MPI_H
#define UMBEL_MPI_H

#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>

#include "umbel/umbel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Internal: waits without spinning: while some ranks measure the links, the others leave them the cores. */
static inline int umbel_mpi_wait_(MPI_Request* request) {
  int done = 0;
  int code;
  while ((code = MPI_Test(request, &done, MPI_STATUS_IGNORE)) == MPI_SUCCESS && !done) {
    sched_yield();
  }
  return code;
}

/* Internal: the bootstrap callbacks. They return MPI's error code, which is 0 on success. */
static inline int umbel_mpi_allgather_(void* context, const void* send, void* recv, size_t bytes) {
  MPI_Comm* comm = (MPI_Comm*)context;
  MPI_Request request = MPI_REQUEST_NULL;
  int code;
  if (bytes > (size_t)INT_MAX) {
    return MPI_ERR_COUNT; /* MPI's counts are int */
  }
  code = MPI_Iallgather(send, (int)bytes, MPI_BYTE, recv, (int)bytes, MPI_BYTE, *comm, &request);
  return code == MPI_SUCCESS ? umbel_mpi_wait_(&request) : code;
}

static inline int umbel_mpi_barrier_(void* context) {
  MPI_Comm* comm = (MPI_Comm*)context;
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = MPI_Ibarrier(*comm, &request);
  return code == MPI_SUCCESS ? umbel_mpi_wait_(&request) : code;
}

/* Internal: "umbel_comm_create_from_mpi: WHAT: MPI's text" as the last error. */
static inline umbel_result_t umbel_mpi_fail_(const char* what, int code) {
  char text[MPI_MAX_ERROR_STRING + 1];
  char message[MPI_MAX_ERROR_STRING + 160];
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) {
    length = 0;
  }
  text[length] = '\0';
  snprintf(message, sizeof(message), "umbel_comm_create_from_mpi: %s failed: %s", what, text);
  return umbel_report(UMBEL_ERROR_SYSTEM, message);
}

/* Makes a communicator over the ranks of `mpi_comm` (an intracommunicator). Collective over it.
 * The MPI communicator is duplicated for the start-up and not used afterwards: it may be freed, and MPI finalized,
 * before the communicator is destroyed. config may be NULL. *comm is set only on success. */
static inline umbel_result_t umbel_comm_create_from_mpi(umbel_comm_t* comm, MPI_Comm mpi_comm,
                                                        const umbel_config_t* config) {
  MPI_Comm own = MPI_COMM_NULL;
  umbel_bootstrap_t bootstrap;
  umbel_result_t result;
  int flag = 0;
  int code;

  if (MPI_Initialized(&flag) != MPI_SUCCESS || !flag) {
    return umbel_report(UMBEL_ERROR_INVALID_ARGUMENT,
                        "umbel_comm_create_from_mpi: MPI is not initialized: call MPI_Init first");
  }
  if (MPI_Finalized(&flag) != MPI_SUCCESS || flag) {
    return umbel_report(UMBEL_ERROR_INVALID_ARGUMENT, "umbel_comm_create_from_mpi: MPI is already finalized");
  }
  if (mpi_comm == MPI_COMM_NULL) {
    return umbel_report(UMBEL_ERROR_INVALID_ARGUMENT, "umbel_comm_create_from_mpi: the communicator is MPI_COMM_NULL");
  }
  code = MPI_Comm_test_inter(mpi_comm, &flag);
  if (code == MPI_SUCCESS && flag) {
    return umbel_report(UMBEL_ERROR_INVALID_ARGUMENT,
                        "umbel_comm_create_from_mpi: an intercommunicator cannot be used");
  }
  code = MPI_Comm_dup(mpi_comm, &own);
  if (code != MPI_SUCCESS) {
    return umbel_mpi_fail_("MPI_Comm_dup", code);
  }
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);

  bootstrap.struct_size = sizeof(bootstrap);
  bootstrap.rank = 0;
  bootstrap.size = 0;
  bootstrap.context = &own;
  bootstrap.allgather = umbel_mpi_allgather_;
  bootstrap.barrier = umbel_mpi_barrier_;
  code = MPI_Comm_rank(own, &bootstrap.rank);
  if (code == MPI_SUCCESS) {
    code = MPI_Comm_size(own, &bootstrap.size);
  }
  result = code == MPI_SUCCESS ? umbel_comm_create(comm, &bootstrap, config) : umbel_mpi_fail_("MPI_Comm_rank", code);
  /* Freeing is collective: after a failure the other ranks may never get here, and a small leak is better than a hang.
   */
  if (result == UMBEL_SUCCESS) {
    MPI_Comm_free(&own);
  }
  return result;
}

#ifdef __cplusplus
}
#endif

#endif /* UMBEL_MPI_H */
