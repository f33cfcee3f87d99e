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
#include <stdlib.h>

#include "umbel/umbel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Internal: what the start-up over MPI needs. On the heap: MPI may still use it when a deadline has passed. */
typedef struct {
  MPI_Comm comm;
  double patience_s;
  int timed_out;
} umbel_mpi_start_t_;

/* Internal: the deadline of the start-up, as that of every other wait. */
static inline double umbel_mpi_patience_(const umbel_config_t* config) {
  const char* text = getenv("UMBEL_TIMEOUT_S");
  double seconds = config != NULL ? config->timeout_s : 0;
  if (!(seconds > 0) && text != NULL) {
    seconds = strtod(text, NULL);
  }
  return seconds > 0 ? seconds : UMBEL_DEFAULT_TIMEOUT_S;
}

/* Internal: waits without spinning: while some ranks measure the links, the others leave them the cores. */
static inline int umbel_mpi_wait_(umbel_mpi_start_t_* start, MPI_Request* request) {
  const double end = MPI_Wtime() + start->patience_s;
  int done = 0;
  int code;
  while ((code = MPI_Test(request, &done, MPI_STATUS_IGNORE)) == MPI_SUCCESS && !done) {
    if (MPI_Wtime() > end) {
      start->timed_out = 1;
      return MPI_ERR_OTHER;
    }
    sched_yield();
  }
  return code;
}

/* Internal: the bootstrap callbacks. They return MPI's error code, which is 0 on success. */
static inline int umbel_mpi_allgather_(void* context, const void* send, void* recv, size_t bytes) {
  umbel_mpi_start_t_* start = (umbel_mpi_start_t_*)context;
  MPI_Request request = MPI_REQUEST_NULL;
  int code;
  if (bytes > (size_t)INT_MAX) {
    return MPI_ERR_COUNT; /* MPI's counts are int */
  }
  code = MPI_Iallgather(send, (int)bytes, MPI_BYTE, recv, (int)bytes, MPI_BYTE, start->comm, &request);
  return code == MPI_SUCCESS ? umbel_mpi_wait_(start, &request) : code;
}

static inline int umbel_mpi_barrier_(void* context) {
  umbel_mpi_start_t_* start = (umbel_mpi_start_t_*)context;
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = MPI_Ibarrier(start->comm, &request);
  return code == MPI_SUCCESS ? umbel_mpi_wait_(start, &request) : code;
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

/* Internal: after the deadline. */
static inline umbel_result_t umbel_mpi_late_(const umbel_mpi_start_t_* start, MPI_Comm mpi_comm) {
  char message[256];
  int rank = -1;
  int size = 0;
  MPI_Comm_rank(mpi_comm, &rank);
  MPI_Comm_size(mpi_comm, &size);
  snprintf(
      message, sizeof(message),
      "umbel_comm_create_from_mpi: rank %d of %d waited %g s for the others: it is collective, and not all ranks of "
      "the MPI communicator are in it (UMBEL_TIMEOUT_S and timeout_s set the time)",
      rank, size, start->patience_s);
  return umbel_report(UMBEL_ERROR_TIMEOUT, message);
}

/* Internal: umbel_comm_create_from_mpi once everything is known to be in order. */
static inline umbel_result_t umbel_mpi_create_(umbel_comm_t* comm, MPI_Comm mpi_comm, umbel_mpi_start_t_* start,
                                               const umbel_config_t* config) {
  MPI_Request request = MPI_REQUEST_NULL;
  umbel_bootstrap_t bootstrap;
  umbel_result_t result;
  int code = MPI_Comm_idup(mpi_comm, &start->comm, &request);
  if (code == MPI_SUCCESS) {
    code = umbel_mpi_wait_(start, &request);
  }
  if (start->timed_out) {
    return umbel_mpi_late_(start, mpi_comm);
  }
  if (code != MPI_SUCCESS) {
    return umbel_mpi_fail_("MPI_Comm_idup", code);
  }
  MPI_Comm_set_errhandler(start->comm, MPI_ERRORS_RETURN);

  bootstrap.struct_size = sizeof(bootstrap);
  bootstrap.rank = 0;
  bootstrap.size = 0;
  bootstrap.context = start;
  bootstrap.allgather = umbel_mpi_allgather_;
  bootstrap.barrier = umbel_mpi_barrier_;
  code = MPI_Comm_rank(start->comm, &bootstrap.rank);
  if (code == MPI_SUCCESS) {
    code = MPI_Comm_size(start->comm, &bootstrap.size);
  }
  if (code != MPI_SUCCESS) {
    return umbel_mpi_fail_("MPI_Comm_rank", code);
  }
  result = umbel_comm_create(comm, &bootstrap, config);
  return start->timed_out ? umbel_mpi_late_(start, mpi_comm) : result;
}

/* Makes a communicator over the ranks of `mpi_comm` (an intracommunicator). Collective over it; each of its waits for
 * the other ranks has the configuration's deadline (UMBEL_ERROR_TIMEOUT; MPI cannot take back what it has begun, so
 * MPI_Finalize may then wait for the missing ranks: end the job).
 * The MPI communicator is duplicated for the start-up and not used afterwards: it may be freed, and MPI finalized,
 * before the communicator is destroyed. config may be NULL. *comm is set only on success. */
static inline umbel_result_t umbel_comm_create_from_mpi(umbel_comm_t* comm, MPI_Comm mpi_comm,
                                                        const umbel_config_t* config) {
  umbel_mpi_start_t_* start;
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
  start = (umbel_mpi_start_t_*)calloc(1, sizeof(*start));
  if (start == NULL) {
    return umbel_report(UMBEL_ERROR_SYSTEM, "umbel_comm_create_from_mpi: out of memory");
  }
  start->comm = MPI_COMM_NULL;
  start->patience_s = umbel_mpi_patience_(config);
  result = umbel_mpi_create_(comm, mpi_comm, start, config);
  /* Freeing is collective: after a failure the other ranks may never get here, and a small leak is better than a hang.
   */
  if (result == UMBEL_SUCCESS) {
    MPI_Comm_free(&start->comm);
    free(start);
  } else if (!start->timed_out) {
    free(start);
  }
  return result;
}

#ifdef __cplusplus
}
#endif

#endif /* UMBEL_MPI_H */
