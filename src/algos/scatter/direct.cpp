// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Direct scatter, inside one node: the mirror image of the direct gather.
//
// Idea. The root shows every rank its share, and each takes its own: one hop.
//
// Names: lanes/pairs.hpp. The root shows one rank's share after another in slots of its window, chunk by chunk,
// beginning after itself; each rank has `depth` slots, so that no rank waits for a slower one. With `direct` everybody
// copies from the root's input, all at the same time, and the root stays until all have left.
//
// Steps 1; bytes that leave the root n(p−1), of n a share, read by its peers. Any p up to 256, one node, any root, any
// sizes.
// Determinism: data is moved only.
// Source: the flat tree of Thakur, Rabenseifner & Gropp 2005.
#include "algos/lanes/pairs.hpp"
#include "algos/scatter/scatter.hpp"

namespace umbel::algos::scatter {
namespace {

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  if (shape.ranks() == 1) return alone(shape, Collective::scatter);
  return build_pairs(rank, shape, spec, pairs_with_root(Collective::scatter, rank, shape, spec));
}

Traffic traffic(const Shape& shape, const Spec&) {
  const int p = shape.ranks();
  return {.steps = p > 1 ? 1 : 0, .sent = static_cast<double>(p - 1)};
}

double cost(const CostQuery& query) { return pairs_with_root_cost(query, Collective::scatter); }

}  // namespace

Algorithm direct() {
  return on_one_node({.name = "direct",
                      .summary = "the root shows everyone its share, inside one node",
                      .steps = "1",
                      .sent = "n(p−1)",
                      .source = "Thakur, Rabenseifner & Gropp 2005",
                      .collective = Collective::scatter,
                      .unequal = Unequal::staged},
                     {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::scatter
