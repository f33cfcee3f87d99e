// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The same collectives by the host MPI.
#pragma once

#include <mpi.h>

#include "support/cases.hpp"

namespace umbel::test {

/// MPI_DATATYPE_NULL where MPI has none.
inline MPI_Datatype mpi_type(DType dtype) {
  switch (dtype) {
    case DType::int8:
      return MPI_INT8_T;
    case DType::int16:
      return MPI_INT16_T;
    case DType::int32:
      return MPI_INT32_T;
    case DType::int64:
      return MPI_INT64_T;
    case DType::uint8:
      return MPI_UINT8_T;
    case DType::uint16:
      return MPI_UINT16_T;
    case DType::uint32:
      return MPI_UINT32_T;
    case DType::uint64:
      return MPI_UINT64_T;
    case DType::fp32:
      return MPI_FLOAT;
    case DType::fp64:
      return MPI_DOUBLE;
    case DType::complex64:
      return MPI_C_FLOAT_COMPLEX;
    case DType::complex128:
      return MPI_C_DOUBLE_COMPLEX;
    default:
      return MPI_DATATYPE_NULL;
  }
}

/// MPI_OP_NULL where MPI has none.
inline MPI_Op mpi_op(RedOp op) {
  switch (op) {
    case RedOp::sum:
      return MPI_SUM;
    case RedOp::prod:
      return MPI_PROD;
    case RedOp::min:
      return MPI_MIN;
    case RedOp::max:
      return MPI_MAX;
    case RedOp::band:
      return MPI_BAND;
    case RedOp::bor:
      return MPI_BOR;
    case RedOp::bxor:
      return MPI_BXOR;
    case RedOp::land:
      return MPI_LAND;
    case RedOp::lor:
      return MPI_LOR;
    case RedOp::lxor:
      return MPI_LXOR;
    default:
      return MPI_OP_NULL;
  }
}

/// MPI leaves a lone rank's value as it is; here a logical result is 0 or 1.
inline bool mpi_serves(const Case& c, int ranks) {
  if (ranks == 1 && (c.op == RedOp::land || c.op == RedOp::lor || c.op == RedOp::lxor)) return false;
  return mpi_type(c.dtype) != MPI_DATATYPE_NULL && (!reduces(c.collective) || mpi_op(c.op) != MPI_OP_NULL);
}

/// @pre mpi_serves(c, ranks), counts that an int holds
inline void run_mpi(const Case& c, const void* send, void* recv, Rank me) {
  const auto count = static_cast<int>(c.count);
  const MPI_Datatype type = mpi_type(c.dtype);
  const MPI_Op op = mpi_op(c.op);
  const MPI_Comm comm = MPI_COMM_WORLD;
  switch (c.collective) {
    case Collective::all_reduce:
      MPI_Allreduce(send, recv, count, type, op, comm);
      break;
    case Collective::broadcast:
      if (me == c.root && count != 0) std::memcpy(recv, send, c.count * size_of(c.dtype));
      MPI_Bcast(recv, count, type, c.root, comm);
      break;
    case Collective::reduce:
      MPI_Reduce(send, recv, count, type, op, c.root, comm);
      break;
    case Collective::all_gather:
      MPI_Allgather(send, count, type, recv, count, type, comm);
      break;
    case Collective::reduce_scatter:
      MPI_Reduce_scatter_block(send, recv, count, type, op, comm);
      break;
    case Collective::all_to_all:
      MPI_Alltoall(send, count, type, recv, count, type, comm);
      break;
    case Collective::gather:
      MPI_Gather(send, count, type, recv, count, type, c.root, comm);
      break;
    case Collective::scatter:
      MPI_Scatter(send, count, type, recv, count, type, c.root, comm);
      break;
    default:
      MPI_Barrier(comm);
      break;
  }
}

}  // namespace umbel::test
