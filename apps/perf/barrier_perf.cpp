// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// barrier_perf: no rank returns before every rank has called.
#include "bench/collective.hpp"

namespace umbel::bench {
namespace {

umbel_result_t run_own(const Call& /*call*/, umbel_comm_t comm) { return umbel_barrier(comm); }

int run_peer(const Call& /*call*/, MPI_Comm comm) { return MPI_Barrier(comm); }

constexpr Collective kCollective{
    .traits = collectives::kBarrier,
    .run = run_own,
    .run_peer = run_peer,
    .peer_name = "the peer's MPI_Barrier",
    .peer_lacks = lacks_nothing,
};

}  // namespace
}  // namespace umbel::bench

int main(int argc, char** argv) { return umbel::bench::run(argc, argv, umbel::bench::kCollective); }
