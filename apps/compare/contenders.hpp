// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Who takes part in a comparison: Umbel as it comes, Umbel with one algorithm forced, the host MPI, Gloo,
// oneCCL.
#pragma once

#include <memory>
#include <string>

#include "bench/collective.hpp"
#include "bench/session.hpp"
#include "umbel/umbel.hpp"

namespace umbel::compare {

/// What Umbel ran.
struct Choice {
  std::string algorithm;
  double predicted_us = 0;
};

class Contender {
 public:
  Contender() = default;
  Contender(const Contender&) = delete;
  Contender& operator=(const Contender&) = delete;
  virtual ~Contender() = default;

  /// As in the results: "umbel", "umbel:ring", "gloo".
  virtual std::string name() const = 0;
  /// Why it cannot make such calls; empty when it can. The same on every rank.
  virtual std::string lacks(const bench::Collective& collective, const bench::Call& call) const = 0;
  /// Before each call, not timed.
  virtual void get_ready(const bench::Collective& /*collective*/) {}
  /// The call. @throws umbel::Error and others when the run cannot go on
  virtual void run(const bench::Collective& collective, const bench::Call& call) = 0;
  /// Of the last call. Nothing where it is not known.
  virtual Choice choice() const { return {}; }
};

/// @param name  in the results  @param algorithm  of the collective that is compared; "" for the library's own choice
std::shared_ptr<Contender> make_umbel(Comm& comm, const std::string& name, const std::string& algorithm);
std::shared_ptr<Contender> make_host_mpi(bench::Session& session, const std::string& name);
/// Collective. Gloo over TCP. @param interface  of the network, "eth0"
std::shared_ptr<Contender> make_gloo(bench::Session& session, const std::string& interface);
/// Collective. oneCCL for the CPU, with what CCL_* say.
std::shared_ptr<Contender> make_oneccl(bench::Session& session);

}  // namespace umbel::compare
