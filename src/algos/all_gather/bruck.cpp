// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Bruck's all-gather.
//
// Idea. A rank always has a run of shares that begins with its own. In step s it gets those that follow from the rank
// 2^s further on, and gives as many to the rank 2^s before: the run doubles, and in the last step only what is missing
// is sent. The fewest steps that there are, for any p. The original keeps shares in a buffer that is rotated at the
// end; here they land in the output at once, and a run that wraps around the last rank is two messages.
//
// Names. See exchange.hpp. In step s the `missing` shares are min(2^s, p − 2^s).
//
// Steps ⌊log₂ p⌋, in ⌈log₂ p⌉ rounds: what goes out in the last one need not have come in the one before. Bytes sent
// per rank n(p−1), for shares of n. Any p, any shape, any size. Determinism: nothing is folded. Source: Bruck et al.,
// "Efficient algorithms for all-to-all communications in multiport message-passing systems", 1997.
#include <algorithm>

#include "algos/all_gather/all_gather.hpp"
#include "algos/all_gather/exchange.hpp"
#include "algos/order.hpp"

namespace umbel::algos::all_gather {
namespace {

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  const int p = shape.ranks();
  std::vector<Step> steps;
  int longest = 1;
  for (int distance = 1; distance < p; distance *= 2) {
    const int missing = std::min(distance, p - distance);
    longest = std::max(longest, missing);
    const Rank next = (rank + distance) % p;
    steps.push_back({.out = wrapped(modulo(rank - distance, p), rank, missing, p),
                     .in = wrapped(next, next, missing, p),
                     .stream = static_cast<int>(steps.size())});
  }
  return write_exchange(rank, shape, spec, {.streams = ceil_log2(p), .longest_run = longest}, steps);
}

Traffic traffic(const Shape& shape, const Spec&) {
  const int p = shape.ranks();
  return {.steps = floor_log2(p), .sent = static_cast<double>(p - 1)};
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  const int p = t.ranks();
  double time = t.copy(t.bytes());
  std::vector<Round> rounds;
  int longest = 1;
  for (int distance = 1; distance < p; distance *= 2) {
    const int missing = std::min(distance, p - distance);
    longest = std::max(longest, missing);
    // Some rank's run wraps, and all wait for it.
    const double half = missing / 2;
    rounds.push_back({.runs = missing > 1 ? std::vector<double>{missing - half, half} : std::vector<double>{1},
                      .needs = missing > 1 ? floor_log2(missing - 1) + 1 : 0});
    time += step_cost(t, missing, missing > 1 ? 2 : 1, ranks_leaving(query.shape, distance));
  }
  return p > 1 && alike(query.shape) ? rounds_cost(query, rounds, longest) : time;
}

}  // namespace

Algorithm bruck() {
  return everywhere({.name = "bruck",
                     .summary = "runs of shares that double, from ranks at doubling distance",
                     .steps = "⌊log₂ p⌋, in ⌈log₂ p⌉ rounds",
                     .sent = "n(p−1)",
                     .source = "Bruck et al. 1997",
                     .collective = Collective::all_gather},
                    {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::all_gather
