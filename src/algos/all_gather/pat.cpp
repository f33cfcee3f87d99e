// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Parallel aggregated trees (PAT) all-gather.
//
// Idea. Every share is broadcast along a binomial tree of its own, rooted at its rank, and the tree of share r is the
// tree of share 0 turned by r ranks: so all ranks are busy in every step, each in a different place of each tree. Trees
// begin with the farthest hop: in the first step a rank sends its share half-way around, in the second it sends its own
// and the one it has got a quarter of the way, and so on. Bruck's algorithm goes the other way round. Here far hops
// carry few shares and near hops many, so where ranks are placed node by node most of the bytes stay inside the nodes.
//
// Names. `distance` is a step's hop. A rank that is x places behind the root of a tree (x = Σ distances gone) has its
// share if x is a multiple of 2·distance, and sends it on if there is a rank at x + distance, before the root. What
// goes out in a step are shares `2·distance` apart: messages of their own, which go together.
//
// Steps ⌊log₂ p⌋, in ⌈log₂ p⌉ rounds: for p no power of two the far ends of the trees are cut off. Bytes sent per rank
// n(p−1), for shares of n, in p−1 messages. Any p, any shape, any size. Determinism: nothing is folded.
// Source: Jeaugey, "PAT: a new algorithm for all-gather and reduce-scatter operations at scale", 2025.
#include <bit>

#include "algos/all_gather/all_gather.hpp"
#include "algos/all_gather/exchange.hpp"
#include "algos/order.hpp"

namespace umbel::algos::all_gather {
namespace {

int first_distance(int p) { return p > 1 ? 1 << floor_log2(p - 1) : 0; }

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  const int p = shape.ranks();
  std::vector<Step> steps;
  for (int distance = first_distance(p); distance > 0; distance /= 2) {
    Step step{.out = {}, .in = {}, .stream = static_cast<int>(steps.size())};
    const Rank to = (rank + distance) % p, from = modulo(rank - distance, p);
    for (int x = 0; x + distance < p; x += 2 * distance) {
      step.out.push_back({to, modulo(rank - x, p)});
      step.in.push_back({from, modulo(from - x, p)});
    }
    steps.push_back(step);
  }
  return write_exchange(rank, shape, spec, {.streams = ceil_log2(p)}, steps);
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
  for (int distance = first_distance(p); distance > 0; distance /= 2) {
    const int shares = (p - distance + 2 * distance - 1) / (2 * distance);
    if (t.alike())
      rounds.push_back({.runs = std::vector<double>(static_cast<std::size_t>(shares), 1.0),
                        .needs = shares > 1 ? static_cast<int>(rounds.size()) : 0});
    else
      time += step_cost(t, shares, shares, ranks_leaving(query.shape, distance));
  }
  return rounds.empty() ? time : rounds_cost(query, rounds, 1);
}

}  // namespace

Algorithm pat() {
  return everywhere({.name = "pat",
                     .summary = "a binomial tree per share, far hops first, all trees at once",
                     .steps = "⌊log₂ p⌋, in ⌈log₂ p⌉ rounds",
                     .sent = "n(p−1)",
                     .source = "Jeaugey 2025 (NCCL)",
                     .collective = Collective::all_gather,
                     .unequal = Unequal::always},
                    {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::all_gather
