// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Reduce up a binomial tree, in the canonical order for every root.
//
// Idea. The canonical expression (canonical.hpp) is a binary tree over rank numbers. On the way from the root's leaf to
// the top of it a sibling branches off at every level; the root folds what comes from the siblings, one after another,
// beginning with the nearest. Each sibling is itself such a tree over consecutive ranks: its lowest rank folds it up a
// binomial tree and sends it to the root. For root 0 this is the binomial tree.
//
// Names. See trees.hpp; the members fold their children in turn.
//
// Steps: for a sibling over m ranks 1 + ⌊log₂ m⌋, so ⌊log₂ p⌋ for root 0 and for others up to 1 + ⌊log₂ p⌋. Bytes sent
// by every rank but the root n; received by the root n⌈log₂ p⌉ at the most. Any p, any shape, any root, any size.
// Determinism: always the canonical tree.
// Source: Thakur, Rabenseifner & Gropp, "Optimization of collective communication operations in MPICH", 2005; the way
// for other roots is our own.
#include <bit>

#include "algos/order.hpp"
#include "algos/reduce/reduce.hpp"
#include "algos/reduce/trees.hpp"

namespace umbel::algos::reduce {
namespace {

/// Hangs all but the root of ranks [low, high), a subtree of the canonical tree that contains the root.
void hang(Tree& tree, Rank low, Rank high) {
  if (high - low == 1) return;
  const Rank middle = low + static_cast<Rank>(std::bit_floor(static_cast<unsigned>(high - low - 1)));
  const bool left = tree.root < middle;
  hang(tree, left ? low : middle, left ? middle : high);
  const Rank first = left ? middle : low;
  const Rank end = left ? high : middle;
  tree.hang(first, tree.root);
  for (Rank member = 1; first + member < end; ++member) tree.hang(first + member, first + binomial_parent(member));
}

std::vector<Tree> trees(const Shape& shape, const Spec& spec) {
  Tree tree(spec.root, shape.ranks());
  hang(tree, 0, shape.ranks());
  return {tree};
}

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  return build_trees(rank, shape, spec, trees(shape, spec), Fold::in_turn);
}
Traffic traffic(const Shape& shape, const Spec& spec) { return traffic_of(spec, trees(shape, spec)); }
bool canonical(const Shape&, const Spec&) { return true; }
double cost(const CostQuery& query) { return cost_of(query, trees(query.shape, query.spec)); }

}  // namespace

Algorithm binomial() {
  return everywhere({.name = "binomial",
                     .summary = "up a binomial tree, in the canonical order, in chunks",
                     .steps = "⌊log₂ p⌋ for root 0, up to 1 more for others",
                     .sent = "n",
                     .source = "Thakur, Rabenseifner & Gropp 2005",
                     .collective = Collective::reduce},
                    {build, traffic, canonical, cost});
}

}  // namespace umbel::algos::reduce
