// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Recursive doubling.
//
// Idea. In round k each rank exchanges all it has with the rank whose number differs in bit k, and folds; after log₂ p
// rounds everybody has everything. The fewest steps for small messages; every round moves the whole buffer.
// When p is no power of two, p = 2^k + extra, the first 2·extra ranks go in pairs: the odd one hands its data to the
// even one before the rounds and gets the result after them.
//
// Names. See doubling.hpp: `mine` and `theirs` are folded into the slot that the next round shows, the last round's
// into the output. Long messages go piece by piece.
//
// Steps log₂ p for a power of two, else ⌊log₂ p⌋ + 1, or + 2 when more than half of the actives have a partner (then
// two of those are all rounds apart); bytes sent per rank n⌊log₂ p⌋, and n more by the even ones of the pairs. Any p,
// any shape, any size. Determinism: both partners of a round compute the same expression, lower ranks first; for a
// power of two it is the balanced binary tree over the ranks. Source: Thakur, Rabenseifner & Gropp, "Optimization of
// collective communication operations in MPICH", 2005.
#include <algorithm>
#include <bit>
#include <vector>

#include "algos/all_reduce/all_reduce.hpp"
#include "algos/all_reduce/doubling.hpp"
#include "algos/cost.hpp"
#include "algos/order.hpp"

namespace umbel::algos::all_reduce {
namespace {

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  const int p = shape.ranks();
  if (p == 1) return alone(shape);
  Builder b(rank, shape, {.pieces = true}, 1);
  DoublingSetup setup{.members = ranks_ascending(shape), .here = rank, .depth = spec.depth};
  setup.region = b.region(doubling_slots(p, spec.depth));
  Doubling doubling(b, b.memory_lane(), setup);
  b.each_piece([&](Counter i) {
    const Operand own{rank, b.input({.piece = counted(i)})};
    doubling.exchange(i, {&own, 1});
  });
  return b.finish();
}

Traffic traffic(const Shape& shape, const Spec&) {
  const DoublingTraffic t = doubling_traffic(shape.ranks());
  return {.steps = t.steps, .sent = static_cast<double>(t.sent)};
}

/// For the powers of two, and where the pairs complete them.
bool canonical(const Shape& shape, const Spec&) {
  return doubling_span(spans_of(ranks_ascending(shape))).canonical(shape);
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  const int p = t.ranks();
  if (p == 1) return t.copy(t.bytes());
  const double piece = t.bytes() / t.pieces();
  const double local = t.flag() + t.read(piece) + t.fold(piece);
  const int sharers = query.shape.largest_node();  // all of a node's ranks send at the same time
  const double remote = t.message() + sharers * t.post() + t.wire(piece, sharers) + t.fold(piece);
  double rounds = 0;
  for (int bit = 1; 2 * bit <= p; bit <<= 1) rounds += round_leaves_nodes(query.shape, bit) ? remote : local;
  if (std::has_single_bit(static_cast<unsigned>(p))) return t.copy(t.bytes()) + t.pieces() * rounds;
  // Into the pair and out of it; the pairs are behind the others, who do not keep them waiting.
  const int steps = doubling_traffic(p).steps, doublings = floor_log2(p);
  if (t.one_node()) {
    const double flags = std::max(steps * t.flag(), 2 * t.flag() + doublings * t.raise());
    return t.pieces() * (flags + 2 * t.copy(piece) + (doublings + 2) * t.read(piece) + (doublings + 1) * t.fold(piece));
  }
  // All pieces go into the pairs at once, on the links of the rounds.
  const double messages = std::max(steps * (t.message() + t.post()), 2 * t.message() + (doublings + 2) * t.post());
  return t.pieces() * (messages + (doublings + 2) * t.wire(piece) + (doublings + 1) * t.fold(piece));
}

}  // namespace

Algorithm recursive_doubling() {
  return everywhere({.name = "recursive_doubling",
                     .summary = "exchange everything with partners at doubling distance",
                     .steps = "log₂ p, or ⌊log₂ p⌋ + 1 or 2",
                     .sent = "n log₂ p, or n(⌊log₂ p⌋ + 1)",
                     .source = "Thakur, Rabenseifner & Gropp 2005"},
                    {build, traffic, canonical, cost});
}

}  // namespace umbel::algos::all_reduce
