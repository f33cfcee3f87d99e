// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// gather_perf: every rank's share, on the root.
#include "bench/collective.hpp"

namespace umbel::bench {
namespace {

umbel_result_t run_own(const Call& call, umbel_comm_t comm) {
  return umbel_gather(call.send, call.recv, call.extent.count, call.type->dtype, call.extent.root, comm);
}

int run_peer(const Call& call, MPI_Comm comm) {
  const MPI_Datatype type = mpi_type_to_move(*call.type);
  return MPI_Gather(call.send, call.int_count(), type, call.recv, call.int_count(), type, call.extent.root, comm);
}

constexpr Collective kCollective{
    .traits = collectives::kGather,
    .run = run_own,
    .run_peer = run_peer,
    .peer_name = "the peer's MPI_Gather",
    .peer_lacks = lacks_nothing,
};

}  // namespace
}  // namespace umbel::bench

int main(int argc, char** argv) { return umbel::bench::run(argc, argv, umbel::bench::kCollective); }
