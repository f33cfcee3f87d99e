// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// hypercube_perf: an all-gather by sends and receives. In step k every rank exchanges what it has, 2^k shares, with the
// rank whose number differs from its own in bit k. For a power of two of ranks.
#include <climits>
#include <cstring>

#include "bench/collective.hpp"

namespace umbel::bench {
namespace {

/// exchange(partner, what to send, where to receive, elements of each) in every step; ends with the first that returns
/// another thing than `good`.
template <class Result, class Exchange>
Result run_steps(const Call& call, Result good, Exchange&& exchange) {
  const std::size_t share_bytes = call.extent.count * call.type->size;
  auto* recv = static_cast<std::byte*>(call.recv);
  const auto share = [&](unsigned rank) { return recv + rank * share_bytes; };
  const auto me = static_cast<unsigned>(call.extent.rank);
  const auto ranks = static_cast<unsigned>(call.extent.ranks);
  if (call.send != share(me)) std::memcpy(share(me), call.send, share_bytes);
  for (unsigned have = 1; have < ranks; have *= 2) {
    const unsigned first = me & ~(have - 1);  // of the shares that are here
    const Result result =
        exchange(static_cast<int>(me ^ have), share(first), share(first ^ have), have * call.extent.count);
    if (result != good) return result;
  }
  return good;
}

umbel_result_t run_own(const Call& call, umbel_comm_t comm) {
  return run_steps(call, UMBEL_SUCCESS, [&](int partner, const void* send, void* recv, std::size_t count) {
    return umbel_sendrecv(send, count, partner, recv, count, partner, call.type->dtype, comm);
  });
}

std::string peer_lacks(const Call& call) {
  const std::size_t most = call.extent.count * static_cast<std::size_t>(call.extent.ranks) / 2;
  return most > static_cast<std::size_t>(INT_MAX) ? "MPI's counts end at 2^31 − 1" : "";
}

int run_peer(const Call& call, MPI_Comm comm) {
  const MPI_Datatype type = mpi_type_to_move(*call.type);
  return run_steps(call, MPI_SUCCESS, [&](int partner, const void* send, void* recv, std::size_t count) {
    const auto n = static_cast<int>(count);
    return MPI_Sendrecv(send, n, type, partner, 0, recv, n, type, partner, 0, comm, MPI_STATUS_IGNORE);
  });
}

constexpr Collective kCollective{
    .traits = collectives::kHypercube,
    .run = run_own,
    .run_peer = run_peer,
    .peer_name = "the peer's MPI_Sendrecv",
    .peer_lacks = peer_lacks,
};

}  // namespace
}  // namespace umbel::bench

int main(int argc, char** argv) { return umbel::bench::run(argc, argv, umbel::bench::kCollective); }
