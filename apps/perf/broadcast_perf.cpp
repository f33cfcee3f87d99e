// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// broadcast_perf: the root's data, on every rank.
#include "bench/collective.hpp"

namespace umbel::bench {
namespace {

umbel_result_t run_own(const Call& call, umbel_comm_t comm) {
  return umbel_broadcast(call.send, call.recv, call.extent.count, call.type->dtype, call.extent.root, comm);
}

int run_peer(const Call& call, MPI_Comm comm) {
  // it has one buffer: the root's own copy of the data is Umbel's work alone
  void* data = call.is_root() ? const_cast<void*>(call.send) : call.recv;
  return MPI_Bcast(data, call.int_count(), mpi_type_to_move(*call.type), call.extent.root, comm);
}

constexpr Collective kCollective{
    .traits = collectives::kBroadcast,
    .run = run_own,
    .run_peer = run_peer,
    .peer_name = "the peer's MPI_Bcast",
    .peer_lacks = lacks_nothing,
};

}  // namespace
}  // namespace umbel::bench

int main(int argc, char** argv) { return umbel::bench::run(argc, argv, umbel::bench::kCollective); }
