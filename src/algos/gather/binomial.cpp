// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Binomial gather.
//
// Idea. In each round half of the ranks that are left hand all that they hold to one that stays: log₂ p rounds, in
// which the root handles one message each, instead of p−1 in all. Shares travel several times, so this is for small
// ones.
//
// Names: tree.hpp. The tree is over the ranks node by node, beginning with the root's (lanes/rank_tree.hpp), so that
// most rounds stay inside nodes wherever the ranks are placed.
//
// Steps ⌊log₂ p⌋; bytes that leave the busiest rank n·2^(⌈log₂ p⌉−1), or less, its subtree, of n a share. Any p, any
// shape, any root. Determinism: data is moved only.
// Source: the binomial tree of Thakur, Rabenseifner & Gropp 2005.
#include "algos/gather/gather.hpp"
#include "algos/gather/tree.hpp"

namespace umbel::algos::gather {
namespace {

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  return build_tree(rank, shape, spec, binomial_tree(shape, spec.root));
}

Traffic traffic(const Shape& shape, const Spec& spec) { return tree_traffic(binomial_tree(shape, spec.root)); }

double cost(const CostQuery& query) { return tree_cost(query, binomial_tree(query.shape, query.spec.root)); }

}  // namespace

Algorithm binomial() {
  return everywhere({.name = "binomial",
                     .summary = "half of the ranks that are left hand on all they hold, log₂ p times",
                     .steps = "⌊log₂ p⌋",
                     .sent = "at most np/2",
                     .source = "Thakur, Rabenseifner & Gropp 2005",
                     .collective = Collective::gather},
                    {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::gather
