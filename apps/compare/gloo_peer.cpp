// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Gloo, called as PyTorch calls it: a new options object for each call, buffers registered in it.
#include <fmt/format.h>
#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/gather.h>
#include <gloo/math.h>
#include <gloo/reduce.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>

#include <map>
#include <stdexcept>
#include <vector>

#include "contenders.hpp"

namespace umbel::compare {
namespace {

/// What Gloo's ranks tell each other of their addresses, by MPI: each stores one value, under its own key.
class MpiStore final : public ::gloo::rendezvous::Store {
 public:
  MpiStore(MPI_Comm comm, int ranks) : comm_(comm), ranks_(ranks) {}

  void set(const std::string& key, const std::vector<char>& data) override {
    const std::vector<std::string> keys = all_of(key);
    const std::vector<std::string> values = all_of({data.data(), data.size()});
    for (std::size_t i = 0; i < keys.size(); ++i) values_[keys[i]] = {values[i].begin(), values[i].end()};
  }
  std::vector<char> get(const std::string& key) override { return values_.at(key); }
  void wait(const std::vector<std::string>& keys) override {
    for (const std::string& key : keys) {
      if (!values_.contains(key)) throw std::logic_error("Gloo asks for the key " + key + " that no rank has set");
    }
  }

 private:
  /// Every rank's bytes, on all ranks.
  std::vector<std::string> all_of(const std::string& own) const {
    const int length = static_cast<int>(own.size());
    std::vector<int> lengths(static_cast<std::size_t>(ranks_)), places(lengths.size());
    MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, comm_);
    int total = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      places[i] = total;
      total += lengths[i];
    }
    std::string joined(static_cast<std::size_t>(total), '\0');
    MPI_Allgatherv(own.data(), length, MPI_CHAR, joined.data(), lengths.data(), places.data(), MPI_CHAR, comm_);
    std::vector<std::string> all;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      all.push_back(joined.substr(static_cast<std::size_t>(places[i]), static_cast<std::size_t>(lengths[i])));
    }
    return all;
  }

  MPI_Comm comm_;
  int ranks_;
  std::map<std::string, std::vector<char>> values_;
};

class Gloo final : public Contender {
 public:
  Gloo(bench::Session& session, const std::string& interface) : session_(session) {
    ::gloo::transport::tcp::attr attr;
    attr.iface = interface;
    auto device = ::gloo::transport::tcp::CreateDevice(attr);
    const auto context = std::make_shared<::gloo::rendezvous::Context>(session.rank(), session.size());
    MpiStore store(session.comm(), session.size());
    context->connectFullMesh(store, device);
    context_ = context;
  }

  std::string name() const override { return "gloo"; }

  std::string lacks(const bench::Collective& collective, const bench::Call& call) const override {
    if (call.type->dtype != UMBEL_FP32 || call.op->op != UMBEL_SUM) return "only sums of fp32 are compared with Gloo";
    if (collective.traits.collective == UMBEL_REDUCE_SCATTER)
      return "Gloo has a reduce-scatter only for one buffer, made for it, that it overwrites";
    return {};
  }

  void run(const bench::Collective& collective, const bench::Call& call) override {
    const bench::Watchdog::Guard guard = session_.guard("Gloo's call");
    const std::size_t n = call.extent.count, all = n * static_cast<std::size_t>(call.extent.ranks);
    auto* send = static_cast<float*>(const_cast<void*>(call.send));  // Gloo's interface has no const; it only reads
    auto* recv = static_cast<float*>(call.recv);
    constexpr auto kSum = static_cast<void (*)(void*, const void*, const void*, std::size_t)>(&::gloo::sum<float>);
    switch (collective.traits.collective.value()) {
      case UMBEL_ALL_REDUCE: {
        ::gloo::AllreduceOptions options(context_);
        options.setInput(send, n);
        options.setOutput(recv, n);
        options.setReduceFunction(kSum);
        return ::gloo::allreduce(options);
      }
      case UMBEL_REDUCE: {
        if (recv == nullptr && scratch_.size() < n) scratch_.resize(n);  // Gloo wants an output on every rank
        ::gloo::ReduceOptions options(context_);
        options.setInput(send, n);
        options.setOutput(recv == nullptr ? scratch_.data() : recv, n);
        options.setRoot(call.extent.root);
        options.setReduceFunction(kSum);
        return ::gloo::reduce(options);
      }
      case UMBEL_BROADCAST: {
        ::gloo::BroadcastOptions options(context_);
        options.setOutput(recv, n);
        options.setRoot(call.extent.root);
        return ::gloo::broadcast(options);
      }
      case UMBEL_ALL_GATHER: {
        ::gloo::AllgatherOptions options(context_);
        options.setInput(send, n);
        options.setOutput(recv, all);
        return ::gloo::allgather(options);
      }
      case UMBEL_ALL_TO_ALL: {
        ::gloo::AlltoallOptions options(context_);
        options.setInput(send, all);
        options.setOutput(recv, all);
        return ::gloo::alltoall(options);
      }
      case UMBEL_GATHER: {
        ::gloo::GatherOptions options(context_);
        options.setInput(send, n);
        if (recv != nullptr) options.setOutput(recv, all);
        options.setRoot(call.extent.root);
        return ::gloo::gather(options);
      }
      case UMBEL_BARRIER: {
        ::gloo::BarrierOptions options(context_);
        return ::gloo::barrier(options);
      }
      default:
        throw std::logic_error(fmt::format("{} is not compared with Gloo", collective.traits.name));
    }
  }

 private:
  bench::Session& session_;
  std::shared_ptr<::gloo::Context> context_;
  std::vector<float> scratch_;
};

}  // namespace

std::shared_ptr<Contender> make_gloo(bench::Session& session, const std::string& interface) {
  return std::make_shared<Gloo>(session, interface);
}

}  // namespace umbel::compare
