// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Binomial scatter: the mirror image of the binomial gather.
//
// Idea. In each round every rank that holds shares of others hands half of them on: log₂ p rounds, in which the root
// handles one message each, instead of p−1 in all. Shares travel several times, so this is for small ones.
//
// Names: tree.hpp. The tree is over the ranks node by node, beginning with the root's (lanes/rank_tree.hpp), so that
// most rounds stay inside nodes wherever the ranks are placed.
//
// Steps ⌊log₂ p⌋; bytes that leave the root n(p−1), of n a share. Any p, any shape, any root.
// Determinism: data is moved only.
// Source: the binomial tree of Thakur, Rabenseifner & Gropp 2005.
#include "algos/scatter/scatter.hpp"
#include "algos/scatter/tree.hpp"

namespace umbel::algos::scatter {
namespace {

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  return build_tree(rank, shape, spec, binomial_tree(shape, spec.root));
}

Traffic traffic(const Shape& shape, const Spec& spec) { return tree_traffic(binomial_tree(shape, spec.root)); }

double cost(const CostQuery& query) { return tree_cost(query, binomial_tree(query.shape, query.spec.root)); }

}  // namespace

Algorithm binomial() {
  return everywhere({.name = "binomial",
                     .summary = "whoever holds shares of others hands half of them on, log₂ p times",
                     .steps = "⌊log₂ p⌋",
                     .sent = "n(p−1)",
                     .source = "Thakur, Rabenseifner & Gropp 2005",
                     .collective = Collective::scatter},
                    {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::scatter
