// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "collective.hpp"

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
    case UMBEL_FP16:
    case UMBEL_BF16:
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
    case UMBEL_AVG:
      return MPI_OP_NULL;
  }
  return MPI_OP_NULL;
}

}  // namespace umbel::bench
