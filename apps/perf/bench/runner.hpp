// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Measures one row: the collective, and the peer beside it, in one loop.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "buffer.hpp"
#include "collective.hpp"
#include "data.hpp"
#include "options.hpp"
#include "report.hpp"
#include "session.hpp"
#include "umbel/umbel.hpp"

namespace umbel::bench {

/// One case of the sweep.
struct Case {
  const TypeInfo& type;
  const OpInfo& op;
  const Pattern& pattern;
  int root = 0;
  std::uint64_t count = 0;
  std::string algorithm;  ///< empty: as the communicator is configured
};

class Runner {
 public:
  /// @param busbw_limit_gbs  0: not known
  Runner(const Collective& collective, const Options& options, Session& session, Comm& comm, double busbw_limit_gbs);

  /// Collective. The same row on every rank. @throws umbel::Error and others when the run cannot go on.
  Row measure(const Case& c);

 private:
  enum class Placement { out_of_place, in_place };
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
  std::uint64_t count_wrong(const Case& c, Placement placement, const Call& call, std::uint64_t iteration) const;
  Call prepare(const Case& c, Placement placement, std::uint64_t iteration);
  std::uint64_t wrong_inputs(const Case& c, Placement placement, const Call& call, std::uint64_t iteration) const;
  std::optional<std::string> refusal(const Case& c) const;
  void force(const std::string& algorithm);
  Timing timing_of(const std::vector<double>& durations, std::uint64_t bytes) const;
  std::string peer_problem(const Call& call) const;

  const Collective& collective_;
  const Traits& traits_;
  const Options& options_;
  Session& session_;
  Comm& comm_;
  Capacity capacity_;
  Buffer send_;
  Buffer recv_;
  double busbw_limit_gbs_;
  Shares shares_;                // of the call at hand, where they are uneven
  std::uint64_t iteration_ = 0;  // counts through the whole run, so that no two calls have the same data
};

}  // namespace umbel::bench
