// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// oneCCL on host memory. A call returns an event; to wait for it is part of the call.
#include <fmt/format.h>

#include <oneapi/ccl.hpp>
#include <stdexcept>
#include <vector>

#include "contenders.hpp"

namespace umbel::compare {
namespace {

/// What the ranks meet by: rank 0 makes it, MPI brings its address to the others.
ccl::shared_ptr_class<ccl::kvs> shared_store(const bench::Session& session) {
  ccl::kvs::address_type address;
  ccl::shared_ptr_class<ccl::kvs> store;
  if (session.is_root()) {
    store = ccl::create_main_kvs();
    address = store->get_address();
  }
  if (MPI_Bcast(address.data(), static_cast<int>(address.size()), MPI_BYTE, 0, session.comm()) != MPI_SUCCESS)
    throw std::runtime_error("MPI_Bcast failed");
  return session.is_root() ? store : ccl::create_kvs(address);
}

ccl::communicator make_communicator(const bench::Session& session) {
  ccl::init();
  return ccl::create_communicator(session.size(), session.rank(), shared_store(session));
}

class OneCcl final : public Contender {
 public:
  explicit OneCcl(bench::Session& session) : session_(session), comm_(make_communicator(session)) {}

  std::string name() const override { return "oneccl"; }

  std::string lacks(const bench::Collective& collective, const bench::Call& call) const override {
    if (call.type->dtype != UMBEL_FP32 || call.op->op != UMBEL_SUM) return "only sums of fp32 are compared with oneCCL";
    const auto id = collective.traits.collective;
    return id == UMBEL_GATHER || id == UMBEL_SCATTER ? "oneCCL has no such collective" : "";
  }

  void run(const bench::Collective& collective, const bench::Call& call) override {
    const bench::Watchdog::Guard guard = session_.guard("oneCCL's call");
    start(collective, call).wait();
  }

 private:
  ccl::event start(const bench::Collective& collective, const bench::Call& call) {
    const std::size_t n = call.extent.count;
    const auto ranks = static_cast<std::size_t>(call.extent.ranks);
    constexpr auto kType = ccl::datatype::float32;
    constexpr auto kSum = ccl::reduction::sum;
    switch (collective.traits.collective.value()) {
      case UMBEL_ALL_REDUCE:
        return ccl::allreduce(call.send, call.recv, n, kType, kSum, comm_);
      case UMBEL_REDUCE:
        return ccl::reduce(call.send, call.recv, n, kType, kSum, call.extent.root, comm_);
      case UMBEL_BROADCAST:
        return ccl::broadcast(call.recv, n, kType, call.extent.root, comm_);
      case UMBEL_ALL_GATHER:
        return ccl::allgatherv(call.send, n, call.recv, std::vector<std::size_t>(ranks, n), kType, comm_);
      case UMBEL_REDUCE_SCATTER:
        return ccl::reduce_scatter(call.send, call.recv, n, kType, kSum, comm_);
      case UMBEL_ALL_TO_ALL:
        return ccl::alltoall(call.send, call.recv, n, kType, comm_);
      case UMBEL_BARRIER:
        return ccl::barrier(comm_);
      default:
        throw std::logic_error(fmt::format("{} is not compared with oneCCL", collective.traits.name));
    }
  }

  bench::Session& session_;
  ccl::communicator comm_;
};

}  // namespace

std::shared_ptr<Contender> make_oneccl(bench::Session& session) { return std::make_shared<OneCcl>(session); }

}  // namespace umbel::compare
