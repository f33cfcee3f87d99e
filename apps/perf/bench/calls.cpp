// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "calls.hpp"

namespace umbel::bench::calls {
namespace {

umbel_result_t all_reduce(const Call& call, umbel_comm_t comm) {
  return umbel_all_reduce(call.send, call.recv, call.extent.count, call.type->dtype, call.op->op, comm);
}

int mpi_all_reduce(const Call& call, MPI_Comm comm) {
  return MPI_Allreduce(call.send, call.recv, call.int_count(), mpi_type(*call.type), mpi_op(*call.op), comm);
}

umbel_result_t broadcast(const Call& call, umbel_comm_t comm) {
  return umbel_broadcast(call.send, call.recv, call.extent.count, call.type->dtype, call.extent.root, comm);
}

int mpi_broadcast(const Call& call, MPI_Comm comm) {
  // it has one buffer: the root's own copy of the data is Umbel's work alone
  void* data = call.is_root() ? const_cast<void*>(call.send) : call.recv;
  return MPI_Bcast(data, call.int_count(), mpi_type_to_move(*call.type), call.extent.root, comm);
}

umbel_result_t reduce(const Call& call, umbel_comm_t comm) {
  return umbel_reduce(call.send, call.recv, call.extent.count, call.type->dtype, call.op->op, call.extent.root, comm);
}

int mpi_reduce(const Call& call, MPI_Comm comm) {
  return MPI_Reduce(call.send, call.recv, call.int_count(), mpi_type(*call.type), mpi_op(*call.op), call.extent.root,
                    comm);
}

umbel_result_t all_gather(const Call& call, umbel_comm_t comm) {
  return umbel_all_gather(call.send, call.recv, call.extent.count, call.type->dtype, comm);
}

int mpi_all_gather(const Call& call, MPI_Comm comm) {
  const MPI_Datatype type = mpi_type_to_move(*call.type);
  return MPI_Allgather(call.send, call.int_count(), type, call.recv, call.int_count(), type, comm);
}

umbel_result_t reduce_scatter(const Call& call, umbel_comm_t comm) {
  return umbel_reduce_scatter(call.send, call.recv, call.extent.count, call.type->dtype, call.op->op, comm);
}

int mpi_reduce_scatter(const Call& call, MPI_Comm comm) {
  return MPI_Reduce_scatter_block(call.send, call.recv, call.int_count(), mpi_type(*call.type), mpi_op(*call.op), comm);
}

umbel_result_t all_to_all(const Call& call, umbel_comm_t comm) {
  return umbel_all_to_all(call.send, call.recv, call.extent.count, call.type->dtype, comm);
}

int mpi_all_to_all(const Call& call, MPI_Comm comm) {
  const MPI_Datatype type = mpi_type_to_move(*call.type);
  return MPI_Alltoall(call.send, call.int_count(), type, call.recv, call.int_count(), type, comm);
}

umbel_result_t gather(const Call& call, umbel_comm_t comm) {
  return umbel_gather(call.send, call.recv, call.extent.count, call.type->dtype, call.extent.root, comm);
}

int mpi_gather(const Call& call, MPI_Comm comm) {
  const MPI_Datatype type = mpi_type_to_move(*call.type);
  return MPI_Gather(call.send, call.int_count(), type, call.recv, call.int_count(), type, call.extent.root, comm);
}

umbel_result_t scatter(const Call& call, umbel_comm_t comm) {
  return umbel_scatter(call.send, call.recv, call.extent.count, call.type->dtype, call.extent.root, comm);
}

int mpi_scatter(const Call& call, MPI_Comm comm) {
  const MPI_Datatype type = mpi_type_to_move(*call.type);
  return MPI_Scatter(call.send, call.int_count(), type, call.recv, call.int_count(), type, call.extent.root, comm);
}

umbel_result_t barrier(const Call& /*call*/, umbel_comm_t comm) { return umbel_barrier(comm); }

int mpi_barrier(const Call& /*call*/, MPI_Comm comm) { return MPI_Barrier(comm); }

}  // namespace

const Collective kAllReduce{
    .traits = collectives::kAllReduce,
    .run = all_reduce,
    .run_peer = mpi_all_reduce,
    .peer_name = "the peer's MPI_Allreduce",
    .peer_lacks = lacks_reduction,
};
const Collective kBroadcast{
    .traits = collectives::kBroadcast,
    .run = broadcast,
    .run_peer = mpi_broadcast,
    .peer_name = "the peer's MPI_Bcast",
    .peer_lacks = lacks_nothing,
};
const Collective kReduce{
    .traits = collectives::kReduce,
    .run = reduce,
    .run_peer = mpi_reduce,
    .peer_name = "the peer's MPI_Reduce",
    .peer_lacks = lacks_reduction,
};
const Collective kAllGather{
    .traits = collectives::kAllGather,
    .run = all_gather,
    .run_peer = mpi_all_gather,
    .peer_name = "the peer's MPI_Allgather",
    .peer_lacks = lacks_nothing,
};
const Collective kReduceScatter{
    .traits = collectives::kReduceScatter,
    .run = reduce_scatter,
    .run_peer = mpi_reduce_scatter,
    .peer_name = "the peer's MPI_Reduce_scatter_block",
    .peer_lacks = lacks_reduction,
};
const Collective kAllToAll{
    .traits = collectives::kAllToAll,
    .run = all_to_all,
    .run_peer = mpi_all_to_all,
    .peer_name = "the peer's MPI_Alltoall",
    .peer_lacks = lacks_nothing,
};
const Collective kGather{
    .traits = collectives::kGather,
    .run = gather,
    .run_peer = mpi_gather,
    .peer_name = "the peer's MPI_Gather",
    .peer_lacks = lacks_nothing,
};
const Collective kScatter{
    .traits = collectives::kScatter,
    .run = scatter,
    .run_peer = mpi_scatter,
    .peer_name = "the peer's MPI_Scatter",
    .peer_lacks = lacks_nothing,
};
const Collective kBarrier{
    .traits = collectives::kBarrier,
    .run = barrier,
    .run_peer = mpi_barrier,
    .peer_name = "the peer's MPI_Barrier",
    .peer_lacks = lacks_nothing,
};

}  // namespace umbel::bench::calls
