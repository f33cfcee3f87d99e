// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// reduce_perf: sum (or min, …) over all ranks, on the root.
#include "bench/collective.hpp"

namespace umbel::bench {
namespace {

umbel_result_t run_own(const Call& call, umbel_comm_t comm) {
  return umbel_reduce(call.send, call.recv, call.extent.count, call.type->dtype, call.op->op, call.extent.root, comm);
}

int run_peer(const Call& call, MPI_Comm comm) {
  return MPI_Reduce(call.send, call.recv, call.int_count(), mpi_type(*call.type), mpi_op(*call.op), call.extent.root,
                    comm);
}

constexpr Collective kCollective{
    .traits = collectives::kReduce,
    .run = run_own,
    .run_peer = run_peer,
    .peer_name = "the peer's MPI_Reduce",
    .peer_lacks = lacks_reduction,
};

}  // namespace
}  // namespace umbel::bench

int main(int argc, char** argv) { return umbel::bench::run(argc, argv, umbel::bench::kCollective); }
