// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "preamble.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <string>

namespace umbel::bench {
namespace {

std::string size_text(const Traits& traits) {
  if (!traits.shares) return {};
  const std::string multiple =
      traits.alignment > 1 ? fmt::format(", a multiple of {} bytes", traits.alignment) : std::string();
  return fmt::format("# size: of all p shares together; count: elements of one share{}\n", multiple);
}

/// Between nodes a burst can be faster than what was measured; inside one nothing is.
void print_limit(const RunFacts& facts) {
  const double limit = facts.busbw_limit_gbs;
  if (limit <= 0) return;
  if (facts.nodes > 1) {
    fmt::print("# the links carry a busbw of {:.2f} GB/s, as measured at the start; what is above is marked by !\n",
               limit);
  } else {
    fmt::print("# no busbw above {:.2f} GB/s is possible: the speed of copies in a core's cache\n", limit);
  }
}

}  // namespace

void print_preamble(const Traits& traits, const Options& options, const Session& session, const RunFacts& facts) {
  constexpr int kMostRanksListed = 64;
  fmt::print("# {}: Umbel {} ({}), {}\n", traits.program, facts.version, facts.git, facts.mpi);
  fmt::print("# nThread 1 nGpus 1 minBytes {} maxBytes {} step: {} warmup iters: {} iters: {} validation: {}\n",
             options.min_bytes, options.max_bytes,
             options.step_factor > 1 ? fmt::format("{}(factor)", options.step_factor)
                                     : fmt::format("{}(bytes)", options.step_bytes),
             options.warmup, options.iterations, options.check);
  if (options.local_register) fmt::print("# buffers: registered, node-mates read them in place\n");
  const char* clock = options.cpu_time ? "CPU time of the calling thread, " : "";
  const char* across[] = {"rank 0's time", "the mean over ranks", "the minimum over ranks", "the maximum over ranks"};
  fmt::print("# time: mean over iterations of {}{}; {}\n{}", clock, across[static_cast<int>(options.across)],
             facts.bus_factor.empty() ? "nothing is moved: no bandwidth, and no data to check"
                                      : fmt::format("algbw = size / time; busbw = algbw x {}", facts.bus_factor),
             size_text(traits));
  print_limit(facts);
  fmt::print("#\n# {} ranks on {} nodes\n", facts.ranks, facts.nodes);
  for (int rank = 0; rank < facts.ranks && rank < kMostRanksListed; ++rank) {
    const RankPlace& place = session.places()[static_cast<std::size_t>(rank)];
    fmt::print("#  Rank {:>3} pid {:>7} on {}\n", rank, place.pid, place.host);
  }
  if (facts.ranks > kMostRanksListed) fmt::print("#  and {} more\n", facts.ranks - kMostRanksListed);
  std::fflush(stdout);
}

}  // namespace umbel::bench
