// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// all_reduce_perf: sum (or min, …) over all ranks, on every rank.
#include "bench/collective.hpp"

namespace umbel::bench {
namespace {

umbel_result_t run_own(const Call& call, umbel_comm_t comm) {
  return umbel_all_reduce(call.send, call.recv, call.extent.count, call.type->dtype, call.op->op, comm);
}

int run_peer(const Call& call, MPI_Comm comm) {
  return MPI_Allreduce(call.send, call.recv, call.int_count(), mpi_type(*call.type), mpi_op(*call.op), comm);
}

constexpr Collective kCollective{
    .traits = collectives::kAllReduce,
    .run = run_own,
    .run_peer = run_peer,
    .peer_name = "the peer's MPI_Allreduce",
    .peer_lacks = lacks_reduction,
};

}  // namespace
}  // namespace umbel::bench

int main(int argc, char** argv) { return umbel::bench::run(argc, argv, umbel::bench::kCollective); }
