// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Linear scatter: the mirror image of the linear gather.
//
// Idea. The root sends every rank its share, straight from the input into the output: no byte travels twice. The root
// handles p−1 messages, so this is for large shares, where its link is busy all the time anyway.
//
// Names: lanes/pairs.hpp. The root sends beginning after itself; meanwhile it shows its node-mates theirs in slots of
// its window, or, with `direct`, they copy from its input.
//
// Steps 1; bytes that leave the root n(p−1), of n a share. Any p, two nodes or more, any root, any sizes.
// Determinism: data is moved only.
// Source: the flat tree of Thakur, Rabenseifner & Gropp 2005.
#include "algos/lanes/pairs.hpp"
#include "algos/scatter/scatter.hpp"

namespace umbel::algos::scatter {
namespace {

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  return build_pairs(rank, shape, spec, pairs_with_root(Collective::scatter, rank, shape, spec));
}

Traffic traffic(const Shape& shape, const Spec&) {
  return {.steps = 1, .sent = static_cast<double>(shape.ranks() - 1)};
}

double cost(const CostQuery& query) { return pairs_with_root_cost(query, Collective::scatter); }

}  // namespace

Algorithm linear() {
  return on_several_nodes({.name = "linear",
                           .summary = "the root sends everyone its share",
                           .steps = "1",
                           .sent = "n(p−1)",
                           .source = "Thakur, Rabenseifner & Gropp 2005",
                           .collective = Collective::scatter,
                           .unequal = Unequal::staged},
                          {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::scatter
