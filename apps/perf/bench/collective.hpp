// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "types.hpp"
#include "umbel/umbel.h"

namespace umbel::bench {

/// The arguments of one call.
struct Call {
  const void* send = nullptr;
  void* recv = nullptr;  ///< == send: in-place
  std::size_t count = 0;
  const TypeInfo* type = nullptr;
  const OpInfo* op = nullptr;
};

/// What a perf app is about. One constant per app; everything else is shared.
struct Collective {
  std::string_view name;        ///< in results: all_reduce
  std::string_view bus_factor;  ///< in words: 2(p−1)/p
  bool has_root = false;
  /// busbw = algbw × this
  double (*bus_factor_of)(int ranks) = nullptr;
  umbel_result_t (*run)(const Call&, umbel_comm_t) = nullptr;
  /// Why MPI has no such call; empty when it has.
  std::string (*peer_lacks)(const Call&) = nullptr;
  const char* peer_name = nullptr;  ///< the peer's call: MPI_Allreduce
  /// The same by MPI; returns MPI's code.
  int (*run_peer)(const Call&, MPI_Comm) = nullptr;
};

/// MPI's names; MPI_DATATYPE_NULL and MPI_OP_NULL where it has none.
MPI_Datatype mpi_type(const TypeInfo& type);
MPI_Op mpi_op(const OpInfo& op);

/// The whole program. Returns or exits with the documented status.
int run(int argc, char** argv, const Collective& collective);

}  // namespace umbel::bench
