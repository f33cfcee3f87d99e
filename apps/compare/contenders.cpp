// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "contenders.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace umbel::compare {
namespace {

class Umbel final : public Contender {
 public:
  Umbel(Comm& comm, std::string name, std::string algorithm)
      : comm_(comm), name_(std::move(name)), algorithm_(std::move(algorithm)) {}

  std::string name() const override { return name_; }

  std::string lacks(const bench::Collective& collective, const bench::Call& call) const override {
    if (algorithm_.empty()) return {};
    return comm_
        .refusal(algorithm_, {.collective = collective.traits.collective.value(),
                              .count = call.extent.count,
                              .dtype = call.type->dtype,
                              .op = call.op->op,
                              .root = call.extent.root})
        .value_or("");
  }

  void get_ready(const bench::Collective& collective) override {
    const char* name = umbel_collective_name(collective.traits.collective.value());
    comm_.set_algorithm(algorithm_.empty() ? "auto" : fmt::format("{}:{}", name, algorithm_));
  }

  void run(const bench::Collective& collective, const bench::Call& call) override {
    check(collective.run(call, comm_.native()));
  }

  Choice choice() const override {
    constexpr double kMicro = 1e6;
    const umbel_call_info_t call = comm_.last_call();
    return {call.algorithm == nullptr ? "" : call.algorithm, call.predicted_s * kMicro};
  }

 private:
  Comm& comm_;
  std::string name_;
  std::string algorithm_;
};

class HostMpi final : public Contender {
 public:
  HostMpi(bench::Session& session, std::string name) : session_(session), name_(std::move(name)) {}

  std::string name() const override { return name_; }
  std::string lacks(const bench::Collective& collective, const bench::Call& call) const override {
    return collective.peer_lacks(call);
  }
  void run(const bench::Collective& collective, const bench::Call& call) override {
    const bench::Watchdog::Guard guard = session_.guard(collective.peer_name);
    const int code = collective.run_peer(call, session_.comm());
    if (code != MPI_SUCCESS)
      throw std::runtime_error(fmt::format("{} failed with code {}", collective.peer_name, code));
  }

 private:
  bench::Session& session_;
  std::string name_;
};

}  // namespace

std::shared_ptr<Contender> make_umbel(Comm& comm, const std::string& name, const std::string& algorithm) {
  return std::make_shared<Umbel>(comm, name, algorithm);
}

std::shared_ptr<Contender> make_host_mpi(bench::Session& session, const std::string& name) {
  return std::make_shared<HostMpi>(session, name);
}

}  // namespace umbel::compare
