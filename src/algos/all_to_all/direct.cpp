// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Direct all-to-all, inside one node.
//
// Idea. Every rank hands every other one its share, all pairs at once: a single hop, and each byte is read from another
// rank once.
//
// Names: lanes/pairs.hpp. Ranks give beginning after themselves and take in the opposite order, so that in every turn
// each takes from the one that gives to it, and no two read the same rank. Each pair has `depth` slots of its own:
// nobody waits for another pair, and small shares are all given before the first is taken. With `direct` shares are
// copied from where they lie in the peers' inputs.
//
// Steps 1; bytes that leave a rank n(p−1), of n a share, read by its peers. Any p up to 256, one node, any sizes.
// Determinism: data is moved only.
// Source: the direct exchange of Thakur, Rabenseifner & Gropp 2005.
#include "algos/all_to_all/all_to_all.hpp"
#include "algos/lanes/pairs.hpp"

namespace umbel::algos::all_to_all {
namespace {

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  if (shape.ranks() == 1) return alone(shape, Collective::all_to_all);
  return build_pairs(rank, shape, spec, pairs_of_all(rank, shape, spec, shape.ranks() - 1));
}

Traffic traffic(const Shape& shape, const Spec&) {
  const int p = shape.ranks();
  return {.steps = p > 1 ? 1 : 0, .sent = static_cast<double>(p - 1)};
}

double cost(const CostQuery& query) { return pairs_of_all_cost(query, query.shape.ranks() - 1); }

}  // namespace

Algorithm direct() {
  return on_one_node({.name = "direct",
                      .summary = "everyone hands everyone a share, all pairs at once, inside one node",
                      .steps = "1",
                      .sent = "n(p−1)",
                      .source = "Thakur, Rabenseifner & Gropp 2005",
                      .collective = Collective::all_to_all,
                      .unequal = Unequal::staged},
                     {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::all_to_all
