// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The v-forms of the C ABI.
#include "shares.hpp"

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "base/shares.hpp"
#include "umbel/umbel.h"

namespace umbel::shim {
namespace {

ShareLists::List list_of(const std::size_t* counts, const std::size_t* displs, std::size_t ranks,
                         std::string_view name) {
  require(counts, name);
  ShareLists::List list;
  list.count.assign(counts, counts + ranks);
  list.first = displs == nullptr ? packed(list.count) : std::vector<std::uint64_t>(displs, displs + ranks);
  return list;
}

/// Shares of which this rank knows its own alone.
ShareLists::List own_alone(std::size_t count, std::size_t me, std::size_t ranks) {
  ShareLists::List list{.count = std::vector<std::uint64_t>(ranks), .first = std::vector<std::uint64_t>(ranks)};
  list.count[me] = count;
  return list;
}

ShareLists::List packed_like(const ShareLists::List& other) {
  return {.count = other.count, .first = packed(other.count)};
}

umbel_result_t run(std::string_view function, umbel_comm_t comm, runtime::CallArgs args, const GivenShares& given,
                   umbel_dtype_t dtype, umbel_op_t op = UMBEL_SUM) {
  return guarded_call(function, comm, [&] {
    runtime::Communicator& communicator = communicator_of(comm);
    args.dtype = to_dtype(dtype);
    take_op(args, op);
    take_shares(args, given, communicator);
    communicator.run(args);
  });
}

}  // namespace

void take_shares(runtime::CallArgs& args, const GivenShares& given, const runtime::Communicator& communicator) {
  if (args.collective == plain(args.collective)) return;
  const auto ranks = static_cast<std::size_t>(communicator.info().ranks);
  const auto me = static_cast<std::size_t>(communicator.info().rank);
  const bool is_root = args.root == communicator.info().rank;
  ShareLists lists;
  switch (args.collective) {
    case Collective::all_gatherv:
      lists.output = list_of(given.recv_counts, given.recv_displs, ranks, "counts");
      lists.input = packed_like(lists.output);
      break;
    case Collective::reduce_scatterv:
      lists.input = lists.output = list_of(given.recv_counts, nullptr, ranks, "counts");
      args.count = given.recv_counts[me];
      break;
    case Collective::all_to_allv:
      lists.input = list_of(given.send_counts, given.send_displs, ranks, "send_counts");
      lists.output = list_of(given.recv_counts, given.recv_displs, ranks, "recv_counts");
      args.count = 0;
      break;
    case Collective::gatherv:
      lists.output = is_root ? list_of(given.recv_counts, given.recv_displs, ranks, "counts") : own_alone(0, me, ranks);
      lists.input = is_root ? packed_like(lists.output) : own_alone(args.count, me, ranks);
      break;
    case Collective::scatterv:
      lists.input = is_root ? list_of(given.send_counts, given.send_displs, ranks, "counts") : own_alone(0, me, ranks);
      lists.output = is_root ? packed_like(lists.input) : own_alone(args.count, me, ranks);
      break;
    default:
      break;
  }
  args.shares = std::make_shared<const ShareLists>(std::move(lists));
}

}  // namespace umbel::shim

using namespace umbel;
using namespace umbel::shim;

extern "C" umbel_result_t umbel_all_gatherv(const void* send, size_t send_count, void* recv, const size_t* counts,
                                            const size_t* displs, umbel_dtype_t dtype, umbel_comm_t comm) {
  return run("umbel_all_gatherv", comm,
             {.collective = Collective::all_gatherv, .send = send, .recv = recv, .count = send_count},
             {.recv_counts = counts, .recv_displs = displs}, dtype);
}

extern "C" umbel_result_t umbel_reduce_scatterv(const void* send, void* recv, const size_t* counts, umbel_dtype_t dtype,
                                                umbel_op_t op, umbel_comm_t comm) {
  return run("umbel_reduce_scatterv", comm, {.collective = Collective::reduce_scatterv, .send = send, .recv = recv},
             {.recv_counts = counts}, dtype, op);
}

extern "C" umbel_result_t umbel_all_to_allv(const void* send, const size_t* send_counts, const size_t* send_displs,
                                            void* recv, const size_t* recv_counts, const size_t* recv_displs,
                                            umbel_dtype_t dtype, umbel_comm_t comm) {
  return run(
      "umbel_all_to_allv", comm, {.collective = Collective::all_to_allv, .send = send, .recv = recv},
      {.send_counts = send_counts, .send_displs = send_displs, .recv_counts = recv_counts, .recv_displs = recv_displs},
      dtype);
}

extern "C" umbel_result_t umbel_gatherv(const void* send, size_t send_count, void* recv, const size_t* counts,
                                        const size_t* displs, umbel_dtype_t dtype, int root, umbel_comm_t comm) {
  return run("umbel_gatherv", comm,
             {.collective = Collective::gatherv, .send = send, .recv = recv, .count = send_count, .root = root},
             {.recv_counts = counts, .recv_displs = displs}, dtype);
}

extern "C" umbel_result_t umbel_scatterv(const void* send, const size_t* counts, const size_t* displs, void* recv,
                                         size_t recv_count, umbel_dtype_t dtype, int root, umbel_comm_t comm) {
  return run("umbel_scatterv", comm,
             {.collective = Collective::scatterv, .send = send, .recv = recv, .count = recv_count, .root = root},
             {.send_counts = counts, .send_displs = displs}, dtype);
}
