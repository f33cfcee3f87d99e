// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

#include "traits.hpp"
#include "types.hpp"
#include "umbel/umbel.h"

namespace umbel::bench {

/// Elements to and from each rank, one after the other in the buffers, of a call with uneven shares.
struct Shares {
  std::vector<std::size_t> send_counts, recv_counts;
  std::vector<int> mpi_send_counts, mpi_send_displs, mpi_recv_counts, mpi_recv_displs;
};
Shares shares_of(const Extent& extent);

/// The arguments of one call. A rank that has no such buffer passes NULL.
struct Call {
  const void* send = nullptr;
  void* recv = nullptr;
  Extent extent;
  const TypeInfo* type = nullptr;
  const OpInfo* op = nullptr;
  const Shares* shares = nullptr;

  bool is_root() const { return extent.rank == extent.root; }
  /// MPI's counts; Collective::peer_lacks has looked.
  int int_count() const { return static_cast<int>(extent.count); }
};

/// What a perf app is about. One constant per app; everything else is shared.
struct Collective {
  const Traits& traits;
  umbel_result_t (*run)(const Call&, umbel_comm_t) = nullptr;
  /// The same by MPI, out-of-place; returns MPI's code.
  int (*run_peer)(const Call&, MPI_Comm) = nullptr;
  const char* peer_name = nullptr;  ///< the peer's call: MPI_Allreduce
  /// Why MPI has no such call; empty when it has.
  std::string (*peer_lacks)(const Call&) = nullptr;
};

/// MPI's names; MPI_DATATYPE_NULL and MPI_OP_NULL where it has none.
MPI_Datatype mpi_type(const TypeInfo& type);
MPI_Op mpi_op(const OpInfo& op);
/// To move elements: a type of the same size where MPI has not this one.
MPI_Datatype mpi_type_to_move(const TypeInfo& type);

/// For Collective::peer_lacks.
std::string lacks_reduction(const Call& call);
std::string lacks_nothing(const Call& call);

/// The whole program. Returns or exits with the documented status.
int run(int argc, char** argv, const Collective& collective);

}  // namespace umbel::bench
