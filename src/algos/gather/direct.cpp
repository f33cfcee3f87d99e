// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Direct gather, inside one node.
//
// Idea. The root takes every rank's share itself: one hop, and no byte is moved twice but through the slots.
//
// Names: lanes/pairs.hpp. Everybody shows its share in slots of its own window, chunk by chunk; the root copies one
// rank's after another, beginning after itself, while the next ones already wait. With `direct` it copies from the
// inputs.
//
// Steps 1; bytes that leave a rank n, its share, read by the root. Any p up to 256, one node, any root, any sizes.
// Determinism: data is moved only.
// Source: the flat tree of Thakur, Rabenseifner & Gropp 2005.
#include "algos/gather/gather.hpp"
#include "algos/lanes/pairs.hpp"

namespace umbel::algos::gather {
namespace {

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  if (shape.ranks() == 1) return alone(shape, Collective::gather);
  return build_pairs(rank, shape, spec, pairs_with_root(Collective::gather, rank, shape, spec));
}

Traffic traffic(const Shape& shape, const Spec&) {
  const bool moves = shape.ranks() > 1;
  return {.steps = moves ? 1 : 0, .sent = moves ? 1.0 : 0.0};
}

double cost(const CostQuery& query) { return pairs_with_root_cost(query, Collective::gather); }

}  // namespace

Algorithm direct() {
  return on_one_node({.name = "direct",
                      .summary = "the root takes everyone's share, inside one node",
                      .steps = "1",
                      .sent = "n",
                      .source = "Thakur, Rabenseifner & Gropp 2005",
                      .collective = Collective::gather,
                      .unequal = Unequal::always},
                     {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::gather
