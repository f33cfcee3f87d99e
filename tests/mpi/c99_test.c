/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026, the Umbel authors
 *
 * A C99 program (-std=c99 -pedantic -Werror) that uses the whole C ABI. Exit status 0 when all is as documented. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "umbel/umbel.h"
#include "umbel/umbel_mpi.h"

static int failures = 0;

#define EXPECT(condition)                                                                                  \
  do {                                                                                                     \
    if (!(condition)) {                                                                                    \
      fprintf(stderr, "%s:%d: %s (last error: %s)\n", __FILE__, __LINE__, #condition, umbel_last_error()); \
      ++failures;                                                                                          \
    }                                                                                                      \
  } while (0)

enum { COUNT = 1000 };

int main(int argc, char** argv) {
  umbel_comm_t comm = NULL;
  umbel_config_t config = UMBEL_CONFIG_INIT;
  umbel_comm_info_t info;
  umbel_call_info_t call;
  float send[COUNT];
  float recv[COUNT];
  void* memory;
  int rank;
  int size;
  int i;
  size_t index;
  int bad;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  config.timeout_s = 30.0;
  EXPECT(umbel_comm_create_from_mpi(&comm, MPI_COMM_WORLD, &config) == UMBEL_SUCCESS);
  if (comm == NULL) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }

  memset(&info, 0, sizeof(info));
  info.struct_size = sizeof(info);
  EXPECT(umbel_comm_get_info(comm, &info) == UMBEL_SUCCESS);
  EXPECT(info.rank == rank && info.ranks == size && info.nodes >= 1 && info.node >= 0);

  for (i = 0; i < COUNT; ++i) {
    send[i] = (float)(rank + i);
  }
  EXPECT(umbel_all_reduce(send, recv, COUNT, UMBEL_FP32, UMBEL_SUM, comm) == UMBEL_SUCCESS);
  bad = 0;
  for (i = 0; i < COUNT; ++i) {
    bad += recv[i] != (float)(size * i + size * (size - 1) / 2);
    bad += send[i] != (float)(rank + i);
  }
  EXPECT(bad == 0);

  memory = NULL;
  EXPECT(umbel_mem_alloc(&memory, sizeof(recv)) == UMBEL_SUCCESS);
  EXPECT(umbel_all_reduce(send, memory, COUNT, UMBEL_FP32, UMBEL_SUM, comm) == UMBEL_SUCCESS);
  EXPECT(memory != NULL && memcmp(memory, recv, sizeof(recv)) == 0);
  EXPECT(umbel_mem_free(memory) == UMBEL_SUCCESS);

  memset(&call, 0, sizeof(call));
  call.struct_size = sizeof(call);
  EXPECT(umbel_comm_last_call(comm, &call) == UMBEL_SUCCESS);
  EXPECT(call.algorithm != NULL && umbel_algorithm_summary(UMBEL_ALL_REDUCE, call.algorithm) != NULL);

  /* values outside of the enums, as a C caller can pass them */
  EXPECT(umbel_all_reduce(send, recv, COUNT, (umbel_dtype_t)21, UMBEL_SUM, comm) == UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT(strstr(umbel_last_error(), "dtype 21") != NULL);
  EXPECT(umbel_all_reduce(send, recv, COUNT, (umbel_dtype_t)-1, UMBEL_SUM, comm) == UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT(umbel_all_reduce(send, recv, COUNT, UMBEL_FP32, 13, comm) == UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT(strstr(umbel_last_error(), "op 13") != NULL);
  EXPECT(umbel_all_reduce(send, recv, COUNT, UMBEL_FP32, UMBEL_BAND, comm) == UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT(strstr(umbel_last_error(), "band does not serve fp32") != NULL);
  EXPECT(strcmp(umbel_result_name((umbel_result_t)99), "unknown result") == 0);

  for (index = 0; umbel_algorithm_name(UMBEL_ALL_REDUCE, index) != NULL; ++index) {
    const char* name = umbel_algorithm_name(UMBEL_ALL_REDUCE, index);
    EXPECT(strlen(name) > 0 && umbel_algorithm_summary(UMBEL_ALL_REDUCE, name) != NULL);
  }
  EXPECT(index >= 8);
  EXPECT(strcmp(umbel_version(), "0.1.0") == 0);
  EXPECT(strlen(umbel_revision()) > 0);
  EXPECT(umbel_comm_check(comm) == UMBEL_SUCCESS);
  EXPECT(umbel_comm_destroy(comm) == UMBEL_SUCCESS);

  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
