// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Neighbor exchange all-gather.
//
// Idea. Ranks go in pairs, an even one and the odd one after it. First the two of a pair exchange their shares; then
// each rank exchanges by turns with its neighbour outside the pair and with the one inside, and each time sends the
// pair of shares that it got the time before. Pairs of shares thus run in both directions at once, two a message: half
// as many steps as a ring, and each rank only ever deals with two others.
//
// Names. See exchange.hpp. `pair` is the rank's own; in step i it gets the pair `hops` further on, in the direction
// that it turned to first in odd steps, and in the other one in even steps. Where ranks are placed node by node only
// the ranks at a node's ends use the network.
//
// Steps p/2; bytes sent per rank n(p−1), for shares of n. p even, any shape, any size. Determinism: nothing is folded.
// Source: Chen, Zhang, Zhang & Yuan, "Performance evaluation of allgather algorithms on terascale Linux cluster with
// fast Ethernet", 2005.
#include "algos/all_gather/all_gather.hpp"
#include "algos/all_gather/exchange.hpp"
#include "algos/order.hpp"

namespace umbel::algos::all_gather {
namespace {

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  const int p = shape.ranks();
  const int outward = rank % 2 == 0 ? -1 : 1;
  const Rank mate = rank - outward, neighbour = modulo(rank + outward, p);
  const int pair = rank / 2;
  std::vector<Step> steps;
  if (p > 1) steps.push_back({.out = {{mate, rank, 1}}, .in = {{mate, mate, 1}}});
  int got = pair;
  for (int i = 1; i < p / 2; ++i) {
    const bool out = i % 2 == 1;
    const int hops = (i + 1) / 2;
    const int next = modulo(pair + (out ? outward : -outward) * hops, p / 2);
    const Rank peer = out ? neighbour : mate;
    steps.push_back({.out = {{peer, 2 * got, 2}}, .in = {{peer, 2 * next, 2}}, .stream = out ? 1 : 0});
    got = next;
  }
  return write_exchange(rank, shape, spec, {.streams = 2, .longest_run = p > 2 ? 2 : 1}, steps);
}

Traffic traffic(const Shape& shape, const Spec&) {
  const int p = shape.ranks();
  return {.steps = p / 2, .sent = static_cast<double>(p - 1)};
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  const int p = t.ranks();
  if (p == 1) return t.copy(t.bytes());
  if (t.alike()) {
    std::vector<Round> rounds{{.runs = {1}, .needs = 0}};
    while (static_cast<int>(rounds.size()) < p / 2)
      rounds.push_back({.runs = {2}, .needs = static_cast<int>(rounds.size())});
    return rounds_cost(query, rounds, p > 2 ? 2 : 1);
  }
  const int sharers = ranks_leaving(query.shape, 1);
  return t.copy(t.bytes()) + step_cost(t, 1, 1, sharers) + (p / 2 - 1) * step_cost(t, 2, 1, sharers);
}

}  // namespace

Algorithm neighbor() {
  return on_even_ranks({.name = "neighbor",
                        .summary = "pairs of shares run both ways between neighbours",
                        .steps = "p/2",
                        .sent = "n(p−1)",
                        .source = "Chen, Zhang, Zhang & Yuan 2005",
                        .collective = Collective::all_gather},
                       {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::all_gather
