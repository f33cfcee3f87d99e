// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Measures one row: the collective, and the peer beside it, in one loop.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "call_data.hpp"
#include "collective.hpp"
#include "options.hpp"
#include "report.hpp"
#include "session.hpp"
#include "umbel/umbel.hpp"

namespace umbel::bench {

class Runner {
 public:
  /// @param busbw_limit_gbs  0: not known
  Runner(const Collective& collective, const Options& options, Session& session, Comm& comm, double busbw_limit_gbs);

  /// Collective. The same row on every rank. @throws umbel::Error and others when the run cannot go on.
  Row measure(const Case& c);

 private:
  /// Durations in µs, one per timed iteration, and what else the loop finds.
  struct Loop {
    std::vector<double> own;
    std::vector<double> peer;
    std::uint64_t wrong = 0;
  };

  Timing measure_placement(const Case& c, Placement placement, Row& row);
  Loop run_loop(const Case& c, Placement placement, bool with_peer);
  /// One call, lined up and timed, in µs.
  double run_once(const Call& call, bool peer);
  double run_peer_once(const Call& call);
  std::optional<std::string> refusal(const Case& c) const;
  void force(const std::string& algorithm);
  Timing timing_of(const std::vector<double>& durations, std::uint64_t bytes) const;
  std::string peer_problem(const Call& call) const;

  const Collective& collective_;
  const Traits& traits_;
  const Options& options_;
  Session& session_;
  Comm& comm_;
  CallData data_;
  double busbw_limit_gbs_;
  std::uint64_t iteration_ = 0;  // counts through the whole run, so that no two calls have the same data
};

}  // namespace umbel::bench
