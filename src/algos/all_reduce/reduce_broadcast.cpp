// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// All-reduce as reduce and broadcast over a binomial tree.
//
// Idea. The data is folded up a binomial tree to rank 0 and the result is broadcast down the same tree. Chunks follow
// one another through the tree, and go down while later ones still come up.
//
// Names. See tree.hpp: a rank's parent is itself without its lowest set bit; a rank folds its own input and all its
// children's chunks in one go, into the slot that its parent reads or that is sent to it.
//
// Steps 2⌊log₂ p⌋: the rank farthest from the root has ⌊log₂ p⌋ bits set (the root hands out ⌈log₂ p⌉ messages one
// after another). Bytes sent by the busiest rank, rank 0 among them, n⌈log₂ p⌉. Any p, any shape, any size.
// Determinism: each rank folds once, lower ranks first; all get the root's bits.
// Source: Thakur, Rabenseifner & Gropp, "Optimization of collective communication operations in MPICH", 2005.
#include "algos/all_reduce/all_reduce.hpp"
#include "algos/all_reduce/tree.hpp"
#include "algos/cost.hpp"
#include "algos/order.hpp"

namespace umbel::algos::all_reduce {
namespace {

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  const int p = shape.ranks();
  if (p == 1) return alone(shape);
  Builder b(rank, shape, {.chunks = true}, kTreeKinds);
  TreeSetup setup{.members = ranks_ascending(shape), .here = rank, .depth = spec.depth, .max_children = ceil_log2(p)};
  setup.region = b.region(tree_slots(spec.depth, setup.max_children));
  write_tree(b, binomial_place(rank, p), setup);
  return b.finish();
}

Traffic traffic(const Shape& shape, const Spec&) {
  const int p = shape.ranks();
  return {.steps = 2 * floor_log2(p), .sent = static_cast<double>(ceil_log2(p))};
}

/// A binomial tree's subtrees are those of the canonical tree.
bool canonical(const Shape&, const Spec&) { return true; }

double cost(const CostQuery& query) {
  const CostTerms t(query);
  if (t.ranks() == 1) return t.copy(t.bytes());
  return trees_cost(query, 1, [](int, int member, int members) { return binomial_place(member, members); });
}

}  // namespace

Algorithm reduce_broadcast() {
  return everywhere({.name = "reduce_broadcast",
                     .summary = "fold up a binomial tree, broadcast down it, in chunks",
                     .steps = "2⌊log₂ p⌋",
                     .sent = "n⌈log₂ p⌉",
                     .source = "Thakur, Rabenseifner & Gropp 2005"},
                    {build, traffic, canonical, cost});
}

}  // namespace umbel::algos::all_reduce
