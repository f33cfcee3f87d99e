// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// sendrecv_perf: every rank sends to the next one and receives from the one before.
#include "bench/collective.hpp"

namespace umbel::bench {
namespace {

int next(const Extent& e) { return (e.rank + 1) % e.ranks; }
int before(const Extent& e) { return (e.rank + e.ranks - 1) % e.ranks; }

umbel_result_t run_own(const Call& call, umbel_comm_t comm) {
  return umbel_sendrecv(call.send, call.extent.count, next(call.extent), call.recv, call.extent.count,
                        before(call.extent), call.type->dtype, comm);
}

int run_peer(const Call& call, MPI_Comm comm) {
  const MPI_Datatype type = mpi_type_to_move(*call.type);
  return MPI_Sendrecv(call.send, call.int_count(), type, next(call.extent), 0, call.recv, call.int_count(), type,
                      before(call.extent), 0, comm, MPI_STATUS_IGNORE);
}

constexpr Collective kCollective{
    .traits = collectives::kSendRecv,
    .run = run_own,
    .run_peer = run_peer,
    .peer_name = "the peer's MPI_Sendrecv",
    .peer_lacks = lacks_nothing,
};

}  // namespace
}  // namespace umbel::bench

int main(int argc, char** argv) { return umbel::bench::run(argc, argv, umbel::bench::kCollective); }
