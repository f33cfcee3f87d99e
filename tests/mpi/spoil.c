/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026, the Umbel authors
 *
 * Preloaded (LD_PRELOAD): what rank SPOIL_RANK gets of libumbel, in recv, has one bit wrong after every call. Where
 * that rank gets nothing, SPOIL_SEND spoils its input instead.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

#include "umbel/umbel.h"

static int named(const char* name) {
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  const char* text = getenv(name);
  return rank != NULL && text != NULL && atoi(rank) == atoi(text);
}

static umbel_result_t spoiled(const void* send, void* recv, umbel_result_t result) {
  if (recv != NULL && named("SPOIL_RANK")) *(unsigned char*)recv ^= 1U;
  if (send != NULL && named("SPOIL_SEND")) *(unsigned char*)(size_t)send ^= 1U;
  return result;
}

/* Calls the library's function of this name. */
#define SPOIL(name, parameters, ...)               \
  umbel_result_t name parameters {                 \
    umbel_result_t(*real) parameters = NULL;       \
    *(void**)&real = dlsym(RTLD_NEXT, #name);      \
    if (real == NULL) abort();                     \
    return spoiled(send, recv, real(__VA_ARGS__)); \
  }

SPOIL(umbel_all_reduce,
      (const void* send, void* recv, size_t count, umbel_dtype_t dtype, umbel_op_t op, umbel_comm_t comm), send, recv,
      count, dtype, op, comm)
SPOIL(umbel_broadcast, (const void* send, void* recv, size_t count, umbel_dtype_t dtype, int root, umbel_comm_t comm),
      send, recv, count, dtype, root, comm)
SPOIL(umbel_reduce,
      (const void* send, void* recv, size_t count, umbel_dtype_t dtype, umbel_op_t op, int root, umbel_comm_t comm),
      send, recv, count, dtype, op, root, comm)
SPOIL(umbel_all_gather, (const void* send, void* recv, size_t count, umbel_dtype_t dtype, umbel_comm_t comm), send,
      recv, count, dtype, comm)
SPOIL(umbel_reduce_scatter,
      (const void* send, void* recv, size_t count, umbel_dtype_t dtype, umbel_op_t op, umbel_comm_t comm), send, recv,
      count, dtype, op, comm)
SPOIL(umbel_all_to_all, (const void* send, void* recv, size_t count, umbel_dtype_t dtype, umbel_comm_t comm), send,
      recv, count, dtype, comm)
SPOIL(umbel_gather, (const void* send, void* recv, size_t count, umbel_dtype_t dtype, int root, umbel_comm_t comm),
      send, recv, count, dtype, root, comm)
SPOIL(umbel_scatter, (const void* send, void* recv, size_t count, umbel_dtype_t dtype, int root, umbel_comm_t comm),
      send, recv, count, dtype, root, comm)
SPOIL(umbel_all_to_allv,
      (const void* send, const size_t* send_counts, const size_t* send_displs, void* recv, const size_t* recv_counts,
       const size_t* recv_displs, umbel_dtype_t dtype, umbel_comm_t comm),
      send, send_counts, send_displs, recv, recv_counts, recv_displs, dtype, comm)
SPOIL(umbel_sendrecv,
      (const void* send, size_t send_count, int dest, void* recv, size_t recv_count, int source, umbel_dtype_t dtype,
       umbel_comm_t comm),
      send, send_count, dest, recv, recv_count, source, dtype, comm)
