// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Direct reduce, inside one node: for medium and large messages.
//
// Idea. The data is cut in p blocks, rank r owns block r. The owner folds everybody's block r in one go, and the root
// copies the finished blocks from their owners: all ranks share the folding.
//
// Names. See trees.hpp: block r's tree is a star with rank r at its top.
//
// Steps 2; bytes that leave a rank n: n(p−1)/p read by the owners, and n/p by the root. Any p up to 256, one node, any
// size.
// Determinism: each block is folded once, in rank order, rounded once, and copied; or, `ordered`, as the canonical
// tree. Source: the two-shot all-reduce of MSCCL++ and of NVIDIA's TensorRT-LLM kernels, its second shot to the root
// alone.
#include "algos/order.hpp"
#include "algos/reduce/reduce.hpp"
#include "algos/reduce/trees.hpp"

namespace umbel::algos::reduce {
namespace {

std::vector<Tree> trees(const Shape& shape, const Spec&) {
  std::vector<Tree> stars;
  for (Rank owner = 0; owner < shape.ranks(); ++owner) {
    Tree& star = stars.emplace_back(owner, shape.ranks());
    for (Rank rank = 0; rank < shape.ranks(); ++rank)
      if (rank != owner) star.hang(rank, owner);
  }
  return stars;
}

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  return build_trees(rank, shape, spec, trees(shape, spec), Fold::at_once);
}
Traffic traffic(const Shape& shape, const Spec& spec) { return traffic_of(spec, trees(shape, spec)); }
double cost(const CostQuery& query) { return cost_of(query, trees(query.shape, query.spec)); }

}  // namespace

Algorithm direct() {
  return on_one_node({.name = "direct",
                      .summary = "owners fold their blocks, the root copies them, inside one node",
                      .steps = "2",
                      .sent = "n",
                      .source = "MSCCL++, TensorRT-LLM",
                      .collective = Collective::reduce},
                     {build, traffic, folds_at_once, cost});
}

}  // namespace umbel::algos::reduce
