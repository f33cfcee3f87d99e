/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026, the Umbel authors
 *
 * The C interface of Umbel. C99. It includes neither mpi.h nor CUDA headers: a communicator is made from a table of
 * bootstrap callbacks; umbel_mpi.h fills that table from an MPI_Comm.
 *
 * Every function that can fail returns an umbel_result_t; umbel_last_error() then gives the message of the calling
 * thread's last failure: what was wrong, on which rank and host, and what to do.
 *
 * Threads: a communicator is used by one thread at a time, by any; umbel_comm_check alone may be called beside another
 * call on it. Different communicators may be used by different threads at the same time, also while others are made or
 * destroyed. What takes no communicator may be called by any thread at any time.
 *
 * Structs begin with struct_size: set it to sizeof the struct. A smaller one, of an older header, is accepted down to
 * that of the first release: fields that it lacks count as zero, or are not filled in. Of a larger one, of a newer
 * header, the fields that the library does not know must be zero where it reads the struct, and stay as they are where
 * it fills it in.
 */
#ifndef UMBEL_H
#define UMBEL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define UMBEL_API __attribute__((visibility("default")))
#else
#define UMBEL_API
#endif

#define UMBEL_VERSION_MAJOR 0
#define UMBEL_VERSION_MINOR 1
#define UMBEL_VERSION_PATCH 0

typedef enum umbel_result {
  UMBEL_SUCCESS = 0,
  UMBEL_ERROR_INVALID_ARGUMENT = 1, /* the call or the configuration is wrong; the communicator stays usable */
  UMBEL_ERROR_UNSUPPORTED = 2,      /* the forced algorithm cannot serve this case, or none can: in reproducible mode,
                                     * or because the windows are too small; the message says why */
  UMBEL_ERROR_MISMATCH = 3,         /* ranks called with different collectives or arguments */
  UMBEL_ERROR_TIMEOUT = 4,          /* a deadline passed; the message says who is missing */
  UMBEL_ERROR_PEER_FAILURE = 5,     /* a rank died, was cut off, or failed the communicator */
  UMBEL_ERROR_SYSTEM = 6,           /* the operating system or a library refused */
  UMBEL_ERROR_INTERNAL = 7          /* a defect in Umbel */
} umbel_result_t;

typedef enum umbel_dtype {
  UMBEL_INT8 = 0,
  UMBEL_INT16 = 1,
  UMBEL_INT32 = 2,
  UMBEL_INT64 = 3,
  UMBEL_UINT8 = 4,
  UMBEL_UINT16 = 5,
  UMBEL_UINT32 = 6,
  UMBEL_UINT64 = 7,
  UMBEL_FP16 = 8,
  UMBEL_BF16 = 9,
  UMBEL_FP32 = 10,
  UMBEL_FP64 = 11,
  UMBEL_FP8_E4M3 = 12, /* OCP 8-bit floats; e4m3 is the variant without infinities: what is too large becomes NaN */
  UMBEL_FP8_E5M2 = 13,
  UMBEL_COMPLEX64 = 14, /* real and imaginary part, 4 bytes each: float _Complex, std::complex<float> */
  UMBEL_COMPLEX128 = 15,
  UMBEL_FP32_INT32 = 16, /* value and index for MINLOC and MAXLOC, as struct {float value; int32_t index;} has them, and
                          * so on; padding of a result is zero. MPI_FLOAT_INT */
  UMBEL_FP64_INT32 = 17, /* 16 bytes. MPI_DOUBLE_INT */
  UMBEL_INT32_INT32 = 18, /* MPI_2INT */
  UMBEL_INT64_INT32 = 19, /* 16 bytes. MPI_LONG_INT where long has 64 bits */
  UMBEL_INT16_INT32 = 20  /* 8 bytes, the index at 4. MPI_SHORT_INT */
} umbel_dtype_t;

/* SUM, PROD and AVG serve integers, floats and complex numbers; MIN and MAX integers and floats; BAND … LXOR integers;
 * MINLOC and MAXLOC pairs. Another combination is UMBEL_ERROR_INVALID_ARGUMENT. */
enum umbel_op {
  UMBEL_SUM = 0,
  UMBEL_PROD = 1,
  UMBEL_MIN = 2,
  UMBEL_MAX = 3,
  UMBEL_AVG = 4, /* sum ÷ ranks; integers: the wrapped sum divided, rounded toward zero */
  UMBEL_BAND = 5,
  UMBEL_BOR = 6,
  UMBEL_BXOR = 7,
  UMBEL_LAND = 8, /* the logical ones give 0 or 1 */
  UMBEL_LOR = 9,
  UMBEL_LXOR = 10,
  UMBEL_MINLOC = 11, /* the least value with its index; of equal values the lowest index */
  UMBEL_MAXLOC = 12
};
/* One of enum umbel_op, or a handle that umbel_op_create or umbel_op_create_premul_sum made. */
typedef int umbel_op_t;

typedef struct umbel_comm* umbel_comm_t;

typedef enum umbel_collective {
  UMBEL_ALL_REDUCE = 0,
  UMBEL_BROADCAST = 1,
  UMBEL_REDUCE = 2,
  UMBEL_ALL_GATHER = 3,
  UMBEL_REDUCE_SCATTER = 4,
  UMBEL_ALL_TO_ALL = 5,
  UMBEL_GATHER = 6,
  UMBEL_SCATTER = 7,
  UMBEL_BARRIER = 8,
  UMBEL_ALL_GATHERV = 9,
  UMBEL_REDUCE_SCATTERV = 10,
  UMBEL_ALL_TO_ALLV = 11,
  UMBEL_GATHERV = 12,
  UMBEL_SCATTERV = 13
} umbel_collective_t;

/* How ranks find each other. The callbacks are called only inside umbel_comm_create, by all ranks in the same order.
 * They return 0 on success. */
typedef struct umbel_bootstrap {
  size_t struct_size; /* sizeof(umbel_bootstrap_t) */
  int rank;           /* of the caller, 0 … size−1 */
  int size;           /* number of ranks */
  void* context;      /* passed to the callbacks */
  /* Gathers `bytes` bytes from every rank: recv holds size·bytes bytes, in rank order. */
  int (*allgather)(void* context, const void* send, void* recv, size_t bytes);
  int (*barrier)(void* context);
} umbel_bootstrap_t;

/* Options of one communicator. Start from UMBEL_CONFIG_INIT; environment variables (UMBEL_*) give the defaults of what
 * is left unset. Equal on all ranks. */
typedef struct umbel_config {
  size_t struct_size;    /* sizeof(umbel_config_t) */
  const char* algorithm; /* as umbel_comm_set_algorithm takes it; NULL or "auto": chosen per call */
  int reproducible; /* nonzero: the same bits whatever the algorithm and the placement of the ranks; partial sums of
                     * 16- and 8-bit floats are then carried in fp32 and rounded once */
  double timeout_s; /* deadline of every wait in seconds; 0: UMBEL_TIMEOUT_S or UMBEL_DEFAULT_TIMEOUT_S */
  int registered;   /* nonzero: a hint that buffers of calls come from umbel_mem_alloc, for the choice of algorithms */
} umbel_config_t;

#define UMBEL_DEFAULT_TIMEOUT_S 300.0

#define UMBEL_CONFIG_INIT \
  { sizeof(umbel_config_t), NULL, 0, 0.0, 0 }

/* Facts of the last collective on a communicator, on this rank. */
typedef struct umbel_call_info {
  size_t struct_size;    /* sizeof(umbel_call_info_t) */
  const char* algorithm; /* that ran; a static string; NULL before the first call */
  double predicted_s;    /* by the cost model, seconds */
} umbel_call_info_t;

/* Facts of a communicator. */
typedef struct umbel_comm_info {
  size_t struct_size; /* sizeof(umbel_comm_info_t) */
  int rank;
  int ranks;
  int nodes;
  int node;               /* of this rank, 0 … nodes−1 */
  double busbw_limit_gbs; /* highest all-reduce busbw to expect of what was measured at the start, GB/s (10^9): an
                           * estimate from one stream between one pair of ranks or nodes */
  double timeout_s;       /* deadline of every wait, seconds: of the configuration, UMBEL_TIMEOUT_S or its default */
} umbel_comm_info_t;

/* A reduction of the caller's: right_inout[i] = left[i] op right_inout[i] for `count` elements of `dtype`. It must be
 * associative, and leaves `left` as it is; the two do not overlap. Called by the thread that calls the collective. */
typedef void (*umbel_op_fn)(const void* left, void* right_inout, size_t count, umbel_dtype_t dtype, void* context);

/* Makes an operator of a function. commutative: nonzero when the order of the operands does not matter; else they are
 * taken in the order of the ranks. Local; like a built-in operator it is the same on all ranks of a call, though its
 * handle may differ. *op is set only on success. */
UMBEL_API umbel_result_t umbel_op_create(umbel_op_fn fn, void* context, int commutative, umbel_op_t* op);

/* Makes an operator that multiplies this rank's input by a scalar and sums: each rank may have another scalar.
 * scalar: one element of `dtype` in host memory, copied; calls must then be of that type. The product is that of
 * UMBEL_PROD: 16- and 8-bit floats are multiplied in 32 bits and rounded, integers wrap. Local. */
UMBEL_API umbel_result_t umbel_op_create_premul_sum(const void* scalar, umbel_dtype_t dtype, umbel_op_t* op);

/* Frees what the two above made; calls that have begun still end well. Handles are not used again. Local. */
UMBEL_API umbel_result_t umbel_op_destroy(umbel_op_t op);

/* Allocates `bytes` bytes of host memory for the buffers of calls: zeroed, aligned to a page, with pages behind all of
 * it, and in huge pages where the system gives them to shared memory. Ranks of a node read it in place, where other
 * memory costs them a system call or a copy; nothing else is different: any call takes it as well as other memory, at
 * any offset, and each rank may choose anew for each buffer and call. Set umbel_config_t.registered where the buffers
 * of a communicator's calls usually come from here. *ptr is set only on success; 0 bytes give NULL. Local; belongs to
 * the process, needs no communicator and outlives them all. A child of fork does not have it. UMBEL_ERROR_SYSTEM when
 * there is not enough memory. */
UMBEL_API umbel_result_t umbel_mem_alloc(void** ptr, size_t bytes);

/* Frees what umbel_mem_alloc gave, all of it, once the calls that use it are done; of a call that failed, see below.
 * NULL is allowed; any other pointer is UMBEL_ERROR_INVALID_ARGUMENT. Local. */
UMBEL_API umbel_result_t umbel_mem_free(void* ptr);

/* Makes a communicator. Collective: called by every rank of the bootstrap. *comm is set only on success. */
UMBEL_API umbel_result_t umbel_comm_create(umbel_comm_t* comm, const umbel_bootstrap_t* bootstrap,
                                           const umbel_config_t* config);

/* Frees a communicator. Collective, but never blocks for long on a failed one. NULL is allowed. */
UMBEL_API umbel_result_t umbel_comm_destroy(umbel_comm_t comm);

/* Collectives. Blocking; called by every rank of the communicator, in the same order, with the same arguments but for
 * the buffers: a difference is UMBEL_ERROR_MISMATCH, on every rank that is inside a call within a second, and on the
 * others at their next call.
 *
 * Counts are elements, not bytes; 0 is allowed. A buffer may be NULL where it has no elements or is not significant
 * (the send buffer of other ranks than the root in a broadcast, …); what is not significant is not looked at. send is
 * never modified, unless it is the same memory as recv.
 *
 * In-place, one rule for each; ranks may mix in-place and out-of-place:
 *   all_reduce, broadcast, reduce  recv == send
 *   all_gather, gather             send == recv + rank * count elements: the own share at its place
 *   scatter                        recv == send + rank * count elements
 *   reduce_scatter                 recv == send + rank * count elements, as NCCL has it,
 *                                  or recv == send, the result at the start, as MPI has it; the rest stays as it is
 *   all_to_all                     recv == send
 *
 * Of rooted collectives that concerns the root. Otherwise send and recv must be disjoint.
 *
 * After UMBEL_ERROR_MISMATCH, _TIMEOUT, _PEER_FAILURE or _SYSTEM the communicator has failed, recv is unspecified, and
 * transfers of the failed call may still touch its buffers: keep send and recv allocated until umbel_comm_destroy has
 * returned. UMBEL_ERROR_INVALID_ARGUMENT and _UNSUPPORTED leave the communicator usable. A rank that gets
 * INVALID_ARGUMENT has not taken part in the call: the others, if their arguments were right, wait for it until their
 * deadline. */

/* Sum (or min, …) over all ranks; every rank gets the result, bitwise equal on all.
 * send, recv: [count] */
UMBEL_API umbel_result_t umbel_all_reduce(const void* send, void* recv, size_t count, umbel_dtype_t dtype,
                                          umbel_op_t op, umbel_comm_t comm);
/* Every rank gets the root's elements. send: [count] on the root, else not significant. recv: [count] */
UMBEL_API umbel_result_t umbel_broadcast(const void* send, void* recv, size_t count, umbel_dtype_t dtype, int root,
                                         umbel_comm_t comm);
/* Sum (or min, …) over all ranks; the root gets the result. send: [count]. recv: [count] on the root, else not
 * significant. */
UMBEL_API umbel_result_t umbel_reduce(const void* send, void* recv, size_t count, umbel_dtype_t dtype, umbel_op_t op,
                                      int root, umbel_comm_t comm);
/* Every rank gets every rank's elements, in the order of ranks. send: [count]. recv: [ranks * count] */
UMBEL_API umbel_result_t umbel_all_gather(const void* send, void* recv, size_t count, umbel_dtype_t dtype,
                                          umbel_comm_t comm);
/* Sum (or min, …) over all ranks; rank r gets share r of the result. send: [ranks * count]. recv: [count] */
UMBEL_API umbel_result_t umbel_reduce_scatter(const void* send, void* recv, size_t count, umbel_dtype_t dtype,
                                              umbel_op_t op, umbel_comm_t comm);
/* Rank r gets share r of every rank's elements, in the order of ranks. send, recv: [ranks * count] */
UMBEL_API umbel_result_t umbel_all_to_all(const void* send, void* recv, size_t count, umbel_dtype_t dtype,
                                          umbel_comm_t comm);
/* The root gets every rank's elements, in the order of ranks. send: [count]. recv: [ranks * count] on the root, else
 * not significant. */
UMBEL_API umbel_result_t umbel_gather(const void* send, void* recv, size_t count, umbel_dtype_t dtype, int root,
                                      umbel_comm_t comm);
/* Rank r gets share r of the root's elements. send: [ranks * count] on the root, else not significant. recv: [count] */
UMBEL_API umbel_result_t umbel_scatter(const void* send, void* recv, size_t count, umbel_dtype_t dtype, int root,
                                       umbel_comm_t comm);
/* No rank returns before every rank has called it. */
UMBEL_API umbel_result_t umbel_barrier(umbel_comm_t comm);

/* The same with shares of different lengths, the v-forms. `counts` are elements, one for each rank, and may be 0;
 * `displs` are the places of the shares in the buffer, in elements from its start, in any order and with gaps, or NULL:
 * one after the other. Shares that are received must not overlap. Both arrays are [ranks], read before the function
 * returns and not kept. Buffers are as long as that makes them; what lies in gaps is not touched.
 *
 * A giver's and a taker's count must agree, 0 included: another is UMBEL_ERROR_MISMATCH, within a second on a rank that
 * waits for what does not come; on the others, or where nobody waits, in the calls that follow.
 *
 * In-place: all_gatherv, gatherv  send == recv + displs[rank]: the own share at its place
 *           scatterv              recv == send + displs[rank]
 *           reduce_scatterv       recv == send + the counts of lower ranks, or recv == send: the result at the start
 *           all_to_allv           recv == send, with the same counts and displs for both
 * Algorithms are those of the plain forms, forced by the same names; not all serve shares of different lengths. Which
 * one runs depends on no count in all_to_allv, gatherv and scatterv, in the others on the longest share. */

/* send: [send_count]. counts: the same on all ranks; counts[rank] == send_count. displs: each rank's own. */
UMBEL_API umbel_result_t umbel_all_gatherv(const void* send, size_t send_count, void* recv, const size_t* counts,
                                           const size_t* displs, umbel_dtype_t dtype, umbel_comm_t comm);
/* send: all shares, one after the other. recv: [counts[rank]]. counts: the same on all ranks. */
UMBEL_API umbel_result_t umbel_reduce_scatterv(const void* send, void* recv, const size_t* counts, umbel_dtype_t dtype,
                                               umbel_op_t op, umbel_comm_t comm);
/* send_counts[r] elements go to rank r, whose recv_counts[rank] is the same. */
UMBEL_API umbel_result_t umbel_all_to_allv(const void* send, const size_t* send_counts, const size_t* send_displs,
                                           void* recv, const size_t* recv_counts, const size_t* recv_displs,
                                           umbel_dtype_t dtype, umbel_comm_t comm);
/* send: [send_count], which is the root's counts[rank]. recv, counts, displs: significant on the root. */
UMBEL_API umbel_result_t umbel_gatherv(const void* send, size_t send_count, void* recv, const size_t* counts,
                                       const size_t* displs, umbel_dtype_t dtype, int root, umbel_comm_t comm);
/* recv: [recv_count], which is the root's counts[rank]. send, counts, displs: significant on the root. */
UMBEL_API umbel_result_t umbel_scatterv(const void* send, const size_t* counts, const size_t* displs, void* recv,
                                        size_t recv_count, umbel_dtype_t dtype, int root, umbel_comm_t comm);

/* Messages between two ranks, which alone take part. Blocking: a call returns when its buffers are the caller's again.
 *
 * Of the messages from one rank to another the first send meets the first receive, and so on; between messages to or
 * from different ranks there is no order. count and dtype of a receive are those of its send; a difference is
 * UMBEL_ERROR_MISMATCH on both, at once or, where the send has returned already, at its rank's next call. A send may
 * return before its receive is called, but need not: ranks that send to each other do so in a group, or by
 * umbel_sendrecv. count may be 0, and buf then NULL.
 *
 * Started operations (umbel_start) go on meanwhile. What is said above of errors holds here too. */

/* buf: [count], for rank `peer` */
UMBEL_API umbel_result_t umbel_send(const void* buf, size_t count, umbel_dtype_t dtype, int peer, umbel_comm_t comm);
/* buf: [count], from rank `peer` */
UMBEL_API umbel_result_t umbel_recv(void* buf, size_t count, umbel_dtype_t dtype, int peer, umbel_comm_t comm);
/* Both at once. send: [send_count], for rank `dest`. recv: [recv_count], from rank `source`; disjoint from send. */
UMBEL_API umbel_result_t umbel_sendrecv(const void* send, size_t send_count, int dest, void* recv, size_t recv_count,
                                        int source, umbel_dtype_t dtype, umbel_comm_t comm);
/* Sends and receives that go on together: between the two, the three above return at once and begin nothing;
 * umbel_group_end begins all of them and returns when all are done. It may be any number, several to or from one rank
 * among them, and to and from this rank itself; those then meet in the same group, and a difference between them is
 * UMBEL_ERROR_INVALID_ARGUMENT, as is a collective in a group, or a group in a group. Without a message
 * umbel_group_end returns at once. */
UMBEL_API umbel_result_t umbel_group_start(umbel_comm_t comm);
UMBEL_API umbel_result_t umbel_group_end(umbel_comm_t comm);

/* A call with its buffers, for the forms that return at once. Start from UMBEL_ARGS_INIT. */
typedef struct umbel_args {
  size_t struct_size; /* sizeof(umbel_args_t) */
  umbel_collective_t collective;
  const void* send; /* as the blocking function takes it; so the rest */
  void* recv;
  size_t count;
  umbel_dtype_t dtype;
  umbel_op_t op; /* of a collective that reduces */
  int root;      /* of a rooted one */
  /* Of a v-form, which the start reads, and the preparation: counts and displs of what is sent (all_to_allv, scatterv)
   * and received (all_gatherv, reduce_scatterv, all_to_allv, gatherv). `count` is then send_count or recv_count. */
  const size_t* send_counts;
  const size_t* send_displs;
  const size_t* recv_counts;
  const size_t* recv_displs;
} umbel_args_t;

#define UMBEL_ARGS_INIT \
  { sizeof(umbel_args_t), UMBEL_ALL_REDUCE, NULL, NULL, 0, UMBEL_FP32, UMBEL_SUM, 0, NULL, NULL, NULL, NULL }

/* An operation that was, or is to be, started. Used by one thread at a time. */
typedef struct umbel_request* umbel_request_t;

/* Starts a call and returns. Collective: all ranks start and call in the same order, blocking calls among them. Any
 * number may be under way; they run one after another, in the order of their starts, and may be waited for in any
 * order. They go on while the program is inside a wait, a test or another call on the communicator, or, with
 * UMBEL_PROGRESS_THREAD=1, at any time. Until an operation is done its buffers are its own: nothing may write them, nor
 * read recv. A failure of the communicator ends all of them with its error.
 * *request is set only on success, and freed with umbel_request_free, before the communicator is destroyed. */
UMBEL_API umbel_result_t umbel_start(const umbel_args_t* args, umbel_comm_t comm, umbel_request_t* request);

/* Ends a group as umbel_group_end does, but returns at once. Its messages go on beside started calls, not among them;
 * of two groups only those messages wait for each other that go from the same rank to the same. What is said of
 * umbel_start holds but for that it is not collective. */
UMBEL_API umbel_result_t umbel_group_end_start(umbel_comm_t comm, umbel_request_t* request);

/* Prepares a call that is to be started many times, with umbel_request_start; each time it reads what is in the buffers
 * then. Collective and blocking; all ranks prepare in the same order, but may start what they have prepared in any
 * order: it has a communicator of its own, made of `comm`, with its algorithms as they are forced there at the time. */
UMBEL_API umbel_result_t umbel_prepare(const umbel_args_t* args, umbel_comm_t comm, umbel_request_t* request);
/* Starts a prepared call, once more. UMBEL_ERROR_INVALID_ARGUMENT while it is under way, or when it was not prepared.
 */
UMBEL_API umbel_result_t umbel_request_start(umbel_request_t request);

/* Goes on, without waiting; *done is nonzero when the operation is done, or was never started. The operation's error,
 * if it has failed. */
UMBEL_API umbel_result_t umbel_request_test(umbel_request_t request, int* done);
/* Returns when the operation is done; at once when it was never started. The operation's error, if it has failed. */
UMBEL_API umbel_result_t umbel_request_wait(umbel_request_t request);
/* Waits for all of them; the first error, if any has failed. NULLs are left out. */
UMBEL_API umbel_result_t umbel_wait_all(size_t count, const umbel_request_t* requests);
/* Frees a request; of an operation that is under way, once it is done (it waits). Of a prepared one collective. NULL is
 * allowed. */
UMBEL_API umbel_result_t umbel_request_free(umbel_request_t request);

/* Makes a communicator of the ranks that give the same `color`, in the order of `key`, then of rank. Collective over
 * `comm`. It has the options of `comm`. With a negative color a rank is in none: *made is NULL. */
UMBEL_API umbel_result_t umbel_comm_split(umbel_comm_t comm, int color, int key, umbel_comm_t* made);
/* Makes another communicator of the same ranks. Collective. */
UMBEL_API umbel_result_t umbel_comm_dup(umbel_comm_t comm, umbel_comm_t* made);

/* Forces algorithms for the calls that follow. Collective in effect: every rank must set the same.
 * NULL or "auto": the cost model chooses. "ring": for every collective that has an algorithm of this name; the others
 * choose. "all_reduce:ring,broadcast:chain": for these collectives; the others choose. */
UMBEL_API umbel_result_t umbel_comm_set_algorithm(umbel_comm_t comm, const char* algorithm);

/* A call without its buffers. */
typedef struct umbel_call {
  size_t struct_size; /* sizeof(umbel_call_t) */
  umbel_collective_t collective;
  size_t count; /* as the call takes it */
  umbel_dtype_t dtype;
  umbel_op_t op; /* of a collective that reduces */
  int root;      /* of a rooted one */
} umbel_call_t;

/* UMBEL_SUCCESS when `algorithm` ("auto": any) of the call's collective can serve it here; UMBEL_ERROR_UNSUPPORTED with
 * the reason as the last error when it cannot. Local. */
UMBEL_API umbel_result_t umbel_comm_supports(umbel_comm_t comm, const char* algorithm, const umbel_call_t* call);

/* Health. UMBEL_SUCCESS while the communicator is usable, else the code of its failure (a dead rank, an abort by
 * another rank). Local: it does not wait for other ranks. It waits while another thread is inside a call on the same
 * communicator, and a failure may take it some 0.15 s, in which the other nodes are told. For programs that wait for
 * something else than Umbel and want to hear of dead ranks meanwhile. */
UMBEL_API umbel_result_t umbel_comm_check(umbel_comm_t comm);

UMBEL_API umbel_result_t umbel_comm_get_info(umbel_comm_t comm, umbel_comm_info_t* info);
UMBEL_API umbel_result_t umbel_comm_last_call(umbel_comm_t comm, umbel_call_info_t* info);

/* Names of a collective's algorithms: index 0 … until NULL. Static strings. */
UMBEL_API const char* umbel_algorithm_name(umbel_collective_t collective, size_t index);
/* One line about it; NULL when there is no such name. */
UMBEL_API const char* umbel_algorithm_summary(umbel_collective_t collective, const char* name);
/* "all_reduce", …; NULL when there is no such collective. */
UMBEL_API const char* umbel_collective_name(umbel_collective_t collective);

/* Message of the calling thread's last failure; "" when there was none. Valid until its next failing call. */
UMBEL_API const char* umbel_last_error(void);
/* For adapters such as umbel_mpi.h: makes `message` the calling thread's last failure and returns `result`. */
UMBEL_API umbel_result_t umbel_report(umbel_result_t result, const char* message);
UMBEL_API const char* umbel_result_name(umbel_result_t result);

/* "0.1.0", and the revision it was built from ("unknown" outside a checkout). Static strings. */
UMBEL_API const char* umbel_version(void);
UMBEL_API const char* umbel_revision(void);

/* Facts as a JSON object, for people and tools (umbel_info): the build ("build"), every configuration variable
 * ("variables"), the host ("host"), and, with a communicator, this rank's view of it ("communicator"). comm may be
 * NULL. Local. *json is valid until the calling thread's next umbel_describe. */
UMBEL_API umbel_result_t umbel_describe(umbel_comm_t comm, const char** json);

#ifdef __cplusplus
}
#endif

#endif /* UMBEL_H */
