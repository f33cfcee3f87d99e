// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// All-reduce over two binary trees at once.
//
// Idea. In a binary tree the leaves, half of the ranks, send and receive only half of what the inner ranks do. Two
// trees are laid over the ranks such that the inner ranks of one are leaves of the other; each takes half of the data,
// folds it up to its root and broadcasts it down again, chunk by chunk. So every rank sends and receives about the
// same, in logarithmic depth.
//
// Names. Tree 0 is the in-order tree over ranks 0 … p−1 (everything left of a root is a perfect tree); tree 1 is the
// mirror image of it for even p, and is shifted by one rank for odd p. Block t is tree t's half. See tree.hpp for the
// lanes.
//
// Steps 2⌊log₂ p⌋ plus one per chunk; bytes sent by the busiest rank 2n from four ranks on, an inner rank of one tree
// and leaf of the other: (3 + 1) · n/2; 1.5n on three ranks, n on two. Any p, any shape, any size. Determinism: each
// rank folds once per tree, lower ranks first; all get the root's bits. Source: Sanders, Speck & Träff, "Two-tree
// algorithms for full bandwidth broadcast, reduction and scan", 2009.
#include "algos/all_reduce/all_reduce.hpp"
#include "algos/all_reduce/tree.hpp"
#include "algos/cost.hpp"
#include "algos/order.hpp"

namespace umbel::algos::all_reduce {
namespace {

constexpr int kTrees = 2;
constexpr int kMaxChildren = 2;

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  const int p = shape.ranks();
  if (p == 1) return alone(shape);
  Builder b(rank, shape, {.blocks = kTrees, .chunks = true}, kTrees * kTreeKinds);
  TreeSetup setup{.members = ranks_ascending(shape), .here = rank, .depth = spec.depth, .max_children = kMaxChildren};
  const int slots = tree_slots(spec.depth, kMaxChildren);
  setup.region = b.region(kTrees * slots);
  for (int tree = 0; tree < kTrees; ++tree) {
    setup.block = tree;
    setup.kind = tree * kTreeKinds;
    setup.slot = tree * slots;
    setup.channel = tree;
    write_tree(b, double_tree_place(tree, rank, p), setup);
  }
  return b.finish();
}

Traffic traffic(const Shape& shape, const Spec&) {
  const int p = shape.ranks();
  return {.steps = 2 * floor_log2(p), .sent = p >= 4 ? 2.0 : (p - 1) * (p == 3 ? 0.75 : 1.0)};
}

bool canonical(const Shape& shape, const Spec&) {
  const std::vector<Span> ranks = spans_of(ranks_ascending(shape));
  for (int tree = 0; tree < kTrees; ++tree)
    if (!double_tree_span(tree, ranks).canonical(shape)) return false;
  return true;
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  if (t.ranks() == 1) return t.copy(t.bytes());
  return trees_cost(query, kTrees, double_tree_place);
}

}  // namespace

Algorithm double_tree() {
  return everywhere({.name = "double_tree",
                     .summary = "two complementary binary trees, half of the data each, in chunks",
                     .steps = "2⌊log₂ p⌋",
                     .sent = "2n (p ≥ 4)",
                     .source = "Sanders, Speck & Träff 2009"},
                    {build, traffic, canonical, cost});
}

}  // namespace umbel::algos::all_reduce
