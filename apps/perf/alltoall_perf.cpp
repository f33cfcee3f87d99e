// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// alltoall_perf: a share of every rank's data, on every rank.
#include "bench/collective.hpp"

namespace umbel::bench {
namespace {

umbel_result_t run_own(const Call& call, umbel_comm_t comm) {
  return umbel_all_to_all(call.send, call.recv, call.extent.count, call.type->dtype, comm);
}

int run_peer(const Call& call, MPI_Comm comm) {
  const MPI_Datatype type = mpi_type_to_move(*call.type);
  return MPI_Alltoall(call.send, call.int_count(), type, call.recv, call.int_count(), type, comm);
}

constexpr Collective kCollective{
    .traits = collectives::kAllToAll,
    .run = run_own,
    .run_peer = run_peer,
    .peer_name = "the peer's MPI_Alltoall",
    .peer_lacks = lacks_nothing,
};

}  // namespace
}  // namespace umbel::bench

int main(int argc, char** argv) { return umbel::bench::run(argc, argv, umbel::bench::kCollective); }
