// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Pairwise all-to-all.
//
// Idea. In step k every rank sends to the k-th rank after it and receives from the k-th before it: each share travels
// once, straight from input to output, and in every step each rank deals with one peer each way.
//
// Names: lanes/pairs.hpp. Node-mates hand their shares through two groups of window slots by turns, which stay in the
// cache however many mates there are, or, with `direct`, read each other's inputs; the others use the network
// meanwhile.
//
// Steps 1 (p−1 exchanges); bytes that leave a rank n(p−1), of n a share. Any p, any shape, any sizes.
// Determinism: data is moved only.
// Source: the pairwise exchange of Thakur, Rabenseifner & Gropp 2005.
#include <algorithm>

#include "algos/all_to_all/all_to_all.hpp"
#include "algos/cost.hpp"
#include "algos/lanes/pairs.hpp"

namespace umbel::algos::all_to_all {
namespace {

constexpr int kGroups = 2;

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  if (shape.ranks() == 1) return alone(shape, Collective::all_to_all);
  return build_pairs(rank, shape, spec, pairs_of_all(rank, shape, spec, std::min(kGroups, shape.largest_node() - 1)));
}

Traffic traffic(const Shape& shape, const Spec&) {
  const int p = shape.ranks();
  return {.steps = p > 1 ? 1 : 0, .sent = static_cast<double>(p - 1)};
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  if (t.alike()) return pairs_of_all_cost(query, kGroups);
  const int mates = query.shape.largest_node() - 1;
  const double n = t.bytes();
  const double chunks = t.chunks(n);
  const double slots = kGroups * query.spec.depth * n / chunks;
  double local = t.copy(n);
  if (query.spec.direct)
    local += 2 * t.flags(mates) + mates * t.read_direct(n);
  else
    local += mates * (chunks * t.flag() + (t.copy(n) + t.read(n)) * t.spill(slots));
  const int remote = t.ranks() - query.shape.smallest_node();
  return t.burst(remote * chunks) + std::max(t.wire(n, shares_over_a_link(query.shape)), local);
}

}  // namespace

Algorithm pairwise() {
  return everywhere({.name = "pairwise",
                     .summary = "step k exchanges with the k-th rank before and after",
                     .steps = "1",
                     .sent = "n(p−1)",
                     .source = "Thakur, Rabenseifner & Gropp 2005",
                     .collective = Collective::all_to_all,
                     .unequal = Unequal::staged},
                    {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::all_to_all
