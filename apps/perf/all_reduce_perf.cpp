// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// all_reduce_perf: sum (or min, …) over all ranks, on every rank.
#include "bench/collective.hpp"

namespace {

using umbel::bench::Call;

/// Each rank's data leaves it about twice, but for its own share: 2(p−1)/p.
double bus_factor(int ranks) { return 2.0 * (ranks - 1) / ranks; }

umbel_result_t run(const Call& call, umbel_comm_t comm) {
  return umbel_all_reduce(call.send, call.recv, call.count, call.type->dtype, call.op->op, comm);
}

std::string peer_lacks(const Call& call) {
  if (umbel::bench::mpi_type(*call.type) == MPI_DATATYPE_NULL) return "MPI has no type " + std::string(call.type->name);
  if (umbel::bench::mpi_op(*call.op) == MPI_OP_NULL) return "MPI has no operation " + std::string(call.op->name);
  return {};
}

int run_peer(const Call& call, MPI_Comm comm) {
  const void* send = call.send == call.recv ? MPI_IN_PLACE : call.send;
  return MPI_Allreduce(send, call.recv, static_cast<int>(call.count), umbel::bench::mpi_type(*call.type),
                       umbel::bench::mpi_op(*call.op), comm);
}

constexpr umbel::bench::Collective kAllReduce{
    .name = "all_reduce",
    .bus_factor = "2(p-1)/p",
    .has_root = false,
    .bus_factor_of = bus_factor,
    .run = run,
    .peer_lacks = peer_lacks,
    .peer_name = "the peer's MPI_Allreduce",
    .run_peer = run_peer,
};

}  // namespace

int main(int argc, char** argv) { return umbel::bench::run(argc, argv, kAllReduce); }
