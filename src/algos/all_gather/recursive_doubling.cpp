// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Recursive doubling all-gather.
//
// Idea. In round k each rank exchanges all shares it has with the rank whose number differs in bit k; so what a rank
// has doubles, and is an aligned run of shares, one message a round. Near ranks come first: where ranks are placed node
// by node, few shares have been collected before the first round over the network, and those rounds move the most.
//
// Names. See exchange.hpp.
//
// Steps log₂ p; bytes sent per rank n(p−1), for shares of n. p a power of two (Bruck's algorithm takes as many steps
// for any p), any shape, any size. Determinism: nothing is folded.
// Source: Thakur, Rabenseifner & Gropp, "Optimization of collective communication operations in MPICH", 2005.
#include <algorithm>

#include "algos/all_gather/all_gather.hpp"
#include "algos/all_gather/exchange.hpp"
#include "algos/order.hpp"

namespace umbel::algos::all_gather {
namespace {

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  const int rounds = floor_log2(shape.ranks());
  std::vector<Step> steps;
  for (int round = 0; round < rounds; ++round) {
    const int size = 1 << round;
    const Rank partner = rank ^ size;
    steps.push_back(
        {.out = {{partner, rank & -size, size}}, .in = {{partner, partner & -size, size}}, .stream = round});
  }
  return write_exchange(rank, shape, spec, {.streams = rounds, .longest_run = std::max(1, shape.ranks() / 2)}, steps);
}

Traffic traffic(const Shape& shape, const Spec&) {
  const int p = shape.ranks();
  return {.steps = floor_log2(p), .sent = static_cast<double>(p - 1)};
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  double time = t.copy(t.bytes());
  if (t.ranks() == 1) return time;
  if (t.alike()) {
    std::vector<Round> rounds;
    for (int size = 1; size < t.ranks(); size *= 2)
      rounds.push_back({.runs = {static_cast<double>(size)}, .needs = static_cast<int>(rounds.size())});
    return rounds_cost(query, rounds, t.ranks() / 2);
  }
  for (int size = 1; size < t.ranks(); size *= 2) time += step_cost(t, size, 1, ranks_leaving(query.shape, size));
  return time;
}

}  // namespace

Algorithm recursive_doubling() {
  return on_powers_of_two({.name = "recursive_doubling",
                           .summary = "exchange all shares with partners at doubling distance",
                           .steps = "log₂ p",
                           .sent = "n(p−1)",
                           .source = "Thakur, Rabenseifner & Gropp 2005",
                           .collective = Collective::all_gather},
                          {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::all_gather
