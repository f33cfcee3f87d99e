// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// One case of one collective, by several libraries in turns.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/call_data.hpp"
#include "bench/collective.hpp"
#include "bench/session.hpp"
#include "contenders.hpp"

namespace umbel::compare {

/// How long to measure.
struct Budget {
  double seconds = 0.25;  ///< of each contender in each case, fills and checks included
  int least = 5;          ///< iterations, however long they take
  int most = 400;
};

using Contenders = std::vector<std::shared_ptr<Contender>>;

struct Score {
  std::string name;
  std::string lacks;         ///< why there are no times; empty when there are
  std::vector<double> us{};  ///< of each iteration, the maximum over the ranks
  std::uint64_t wrong = 0;   ///< in the last iteration
  Choice choice{};
};

class Contest {
 public:
  /// @param max_bytes  of a call  @param registered  buffers from umbel_mem_alloc
  Contest(const bench::Collective& collective, std::uint64_t max_bytes, bool registered, bench::Session& session,
          Budget budget);

  /// Collective. The contenders take turns, each in as many rounds, evenly spread, as its budget allows; each call
  /// finds fresh data. The same on every rank, in the order of the contenders.
  std::vector<Score> run(const bench::Case& c, const Contenders& contenders);

 private:
  struct Entry {
    Contender& contender;
    Score& score;
    int rounds = 0;
    double turn_s = 0;  ///< of the last turn, all in all
  };
  /// One call, lined up. @returns its duration here, in µs
  double take_turn(const bench::Case& c, Entry& entry, bool last);
  void plan_rounds(std::vector<Entry>& entries);

  const bench::Collective& collective_;
  bench::Session& session_;
  Budget budget_;
  /// A broadcast has one buffer in MPI and in Gloo: so it has in Umbel here.
  bench::Placement placement_;
  bench::CallData data_;
  std::uint64_t iteration_ = 0;
};

}  // namespace umbel::compare
