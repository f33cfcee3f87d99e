// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// alltoallv_perf: as alltoall_perf, with shares of different lengths, empty ones among them (bench/traits.hpp).
#include <climits>

#include "bench/collective.hpp"

namespace umbel::bench {
namespace {

umbel_result_t run_own(const Call& call, umbel_comm_t comm) {
  return umbel_all_to_allv(call.send, call.shares->send_counts.data(), nullptr, call.recv,
                           call.shares->recv_counts.data(), nullptr, call.type->dtype, comm);
}

std::string peer_lacks(const Call& call) {
  const std::size_t whole = call.extent.count * static_cast<std::size_t>(call.extent.ranks);
  return whole > static_cast<std::size_t>(INT_MAX) ? "MPI's displacements end at 2^31 − 1" : "";
}

int run_peer(const Call& call, MPI_Comm comm) {
  const Shares& shares = *call.shares;
  const MPI_Datatype type = mpi_type_to_move(*call.type);
  return MPI_Alltoallv(call.send, shares.mpi_send_counts.data(), shares.mpi_send_displs.data(), type, call.recv,
                       shares.mpi_recv_counts.data(), shares.mpi_recv_displs.data(), type, comm);
}

constexpr Collective kCollective{
    .traits = collectives::kAllToAllV,
    .run = run_own,
    .run_peer = run_peer,
    .peer_name = "the peer's MPI_Alltoallv",
    .peer_lacks = peer_lacks,
};

}  // namespace
}  // namespace umbel::bench

int main(int argc, char** argv) { return umbel::bench::run(argc, argv, umbel::bench::kCollective); }
