// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Linear gather.
//
// Idea. Everybody sends its share straight to the root, which receives it straight into the output: no byte travels
// twice. The root handles p−1 messages, so this is for large shares, where its link is busy all the time anyway.
//
// Names: lanes/pairs.hpp. The root posts receives beginning after itself; meanwhile it copies what its node-mates show
// in slots of their windows or, with `direct`, what lies in their inputs.
//
// Steps 1; bytes that leave a rank n, its share. Any p, two nodes or more, any root, any sizes.
// Determinism: data is moved only.
// Source: the flat tree of Thakur, Rabenseifner & Gropp 2005.
#include "algos/gather/gather.hpp"
#include "algos/lanes/pairs.hpp"

namespace umbel::algos::gather {
namespace {

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  return build_pairs(rank, shape, spec, pairs_with_root(Collective::gather, rank, shape, spec));
}

Traffic traffic(const Shape&, const Spec&) { return {.steps = 1, .sent = 1}; }

double cost(const CostQuery& query) { return pairs_with_root_cost(query, Collective::gather); }

}  // namespace

Algorithm linear() {
  return on_several_nodes({.name = "linear",
                           .summary = "everyone sends its share to the root",
                           .steps = "1",
                           .sent = "n",
                           .source = "Thakur, Rabenseifner & Gropp 2005",
                           .collective = Collective::gather,
                           .unequal = Unequal::always},
                          {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::gather
