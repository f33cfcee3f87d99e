// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "collective.hpp"

#include <cstdint>

namespace umbel::bench {

MPI_Datatype mpi_type(const TypeInfo& type) {
  switch (type.dtype) {
    case UMBEL_INT8:
      return MPI_INT8_T;
    case UMBEL_INT16:
      return MPI_INT16_T;
    case UMBEL_INT32:
      return MPI_INT32_T;
    case UMBEL_INT64:
      return MPI_INT64_T;
    case UMBEL_UINT8:
      return MPI_UINT8_T;
    case UMBEL_UINT16:
      return MPI_UINT16_T;
    case UMBEL_UINT32:
      return MPI_UINT32_T;
    case UMBEL_UINT64:
      return MPI_UINT64_T;
    case UMBEL_FP32:
      return MPI_FLOAT;
    case UMBEL_FP64:
      return MPI_DOUBLE;
    case UMBEL_COMPLEX64:
      return MPI_C_FLOAT_COMPLEX;
    case UMBEL_COMPLEX128:
      return MPI_C_DOUBLE_COMPLEX;
    case UMBEL_FP32_INT32:
      return MPI_FLOAT_INT;
    case UMBEL_FP64_INT32:
      return MPI_DOUBLE_INT;
    case UMBEL_INT32_INT32:
      return MPI_2INT;
    case UMBEL_INT64_INT32:
      static_assert(sizeof(long) == sizeof(std::int64_t));
      return MPI_LONG_INT;
    case UMBEL_INT16_INT32:
      return MPI_SHORT_INT;
    case UMBEL_FP16:
    case UMBEL_BF16:
    case UMBEL_FP8_E4M3:
    case UMBEL_FP8_E5M2:
      return MPI_DATATYPE_NULL;
  }
  return MPI_DATATYPE_NULL;
}

MPI_Op mpi_op(const OpInfo& op) {
  switch (op.op) {
    case UMBEL_SUM:
      return MPI_SUM;
    case UMBEL_PROD:
      return MPI_PROD;
    case UMBEL_MIN:
      return MPI_MIN;
    case UMBEL_MAX:
      return MPI_MAX;
    case UMBEL_BAND:
      return MPI_BAND;
    case UMBEL_BOR:
      return MPI_BOR;
    case UMBEL_BXOR:
      return MPI_BXOR;
    case UMBEL_LAND:
      return MPI_LAND;
    case UMBEL_LOR:
      return MPI_LOR;
    case UMBEL_LXOR:
      return MPI_LXOR;
    case UMBEL_MINLOC:
      return MPI_MINLOC;
    case UMBEL_MAXLOC:
      return MPI_MAXLOC;
    default:
      return MPI_OP_NULL;  // avg
  }
}

MPI_Datatype mpi_type_to_move(const TypeInfo& type) {
  const MPI_Datatype own = mpi_type(type);
  if (own != MPI_DATATYPE_NULL) return own;
  return type.size == 1 ? MPI_UINT8_T : MPI_UINT16_T;  // small floats
}

std::string lacks_reduction(const Call& call) {
  if (mpi_type(*call.type) == MPI_DATATYPE_NULL) return "MPI has no type " + std::string(call.type->name);
  if (mpi_op(*call.op) == MPI_OP_NULL) return "MPI has no operation " + std::string(call.op->name);
  return {};
}

std::string lacks_nothing(const Call& /*call*/) { return {}; }

Shares shares_of(const Extent& extent) {
  Shares shares;
  std::size_t sent = 0;
  std::size_t received = 0;
  for (int rank = 0; rank < extent.ranks; ++rank) {
    shares.send_counts.push_back(share_between(extent.rank, rank, extent));
    shares.recv_counts.push_back(share_between(rank, extent.rank, extent));
    shares.mpi_send_counts.push_back(static_cast<int>(shares.send_counts.back()));
    shares.mpi_recv_counts.push_back(static_cast<int>(shares.recv_counts.back()));
    shares.mpi_send_displs.push_back(static_cast<int>(sent));
    shares.mpi_recv_displs.push_back(static_cast<int>(received));
    sent += shares.send_counts.back();
    received += shares.recv_counts.back();
  }
  return shares;
}

}  // namespace umbel::bench
