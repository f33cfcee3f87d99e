// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Direct barrier, inside one node.
//
// Idea. Everybody raises a flag for everybody and waits for everybody's. One step; a rank handles p−1 flags each way.
//
// Names. `kHere`: the flag of a rank that has come.
//
// Steps 1; no bytes. Any p up to 256, one node.
// Determinism: nothing is computed.
// Source: the flag barriers at the ends of MSCCL++'s and TensorRT-LLM's one-shot kernels.
#include "algos/barrier/barrier.hpp"
#include "algos/builder.hpp"
#include "algos/cost.hpp"

namespace umbel::algos::barrier {
namespace {

constexpr int kHere = 0;

Program build(Rank rank, const Shape& shape, const Spec&) {
  const int p = shape.ranks();
  if (p == 1) return alone(shape, Collective::barrier);
  Builder b(rank, shape, {.collective = Collective::barrier}, 1);
  const LaneRef lane = b.memory_lane();
  // Beginning behind the own rank, so that not all turn to the same one at once.
  for (int k = 1; k < p; ++k) b.signal(lane, b.tell(kHere, (rank + k) % p));
  for (int k = 1; k < p; ++k) b.wait(lane, b.hear(kHere, (rank + k) % p));
  return b.finish();
}

Traffic traffic(const Shape& shape, const Spec&) { return {.steps = shape.ranks() > 1 ? 1 : 0, .sent = 0}; }

double cost(const CostQuery& query) {
  const CostTerms t(query);
  return t.flags(t.ranks() - 1);
}

}  // namespace

Algorithm direct() {
  return on_one_node({.name = "direct",
                      .summary = "everyone raises a flag for everyone, inside one node",
                      .steps = "1",
                      .sent = "0",
                      .source = "MSCCL++, TensorRT-LLM",
                      .collective = Collective::barrier},
                     {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::barrier
