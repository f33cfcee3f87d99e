// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Recursive halving and doubling (Rabenseifner).
//
// Idea. Reduce-scatter by halving: in round j each rank exchanges with the rank whose number differs in bit j; it gives
// one half of what it still holds and folds the other half, so the messages are n/2, n/4, … After log₂ p rounds it
// holds one finished block. All-gather by doubling: the same rounds backwards, the given halves come back finished.
// Near ranks come first, so the large halves stay inside a node when ranks are placed node by node.
// When p is no power of two, p = P + extra, the first 2·extra ranks go in pairs: the odd one hands its data to the even
// one before the rounds and gets the result after them.
//
// Names. See halving.hpp. Blocks: P, a rank's run of blocks halves in each round. Partial sums lie in the output and
// are sent from there; what comes back over a net arrives straight in the output. Long messages go piece by piece.
//
// Steps 2 log₂ P, and 2 more when p is no power of two; bytes sent per rank 2n(P−1)/P, and n more by the even ones of
// the pairs. Any p, any shape, any size. Determinism: each block is folded once per round by one rank, lower ranks
// first; then copied. Source: Rabenseifner, "Optimization of collective reduction operations", 2004.
#include "algos/all_reduce/halving.hpp"

#include "algos/all_reduce/all_reduce.hpp"
#include "algos/cost.hpp"
#include "algos/order.hpp"

namespace umbel::algos::all_reduce {
namespace {

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  const int p = shape.ranks();
  if (p == 1) return alone(shape);
  Builder b(rank, shape, {.blocks = halving_blocks(p), .pieces = true}, 1);
  HalvingSetup setup{.members = ranks_ascending(shape), .here = rank, .depth = spec.depth};
  setup.images = b.region(kHalvingImages, halving_blocks(p), true);
  setup.arrivals = b.region(spec.depth, halving_arrival_blocks(p));
  Halving halving(b, setup);
  b.each_piece([&](Counter i) { halving.exchange(i); });
  return b.finish();
}

Traffic traffic(const Shape& shape, const Spec&) {
  const int p = shape.ranks();
  const int blocks = halving_blocks(p);
  const bool pairs = blocks != p;
  return {.steps = 2 * floor_log2(p) + (pairs ? 2 : 0), .sent = 2.0 * (blocks - 1) / blocks + (pairs ? 1 : 0)};
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
  double time = t.one_node() ? t.copy(piece / 2) : 0.0;  // all that is handed on, but what it was given last
  if (halving_blocks(p) != p && pairs_share_nodes(query.shape))
    time += 2 * (t.flag() + t.copy(piece) + t.read(piece)) + t.fold(piece);
  else if (halving_blocks(p) != p)
    time += t.net_hop(piece, 1, 1, t.fold(piece)) + t.net_hop(piece, 1, 1, 0);
  double half = piece / 2;
  for (int bit = 1; 2 * bit <= p; bit <<= 1, half /= 2) {
    // Two exchanges in lock-step; all of a node's ranks send at the same time.
    const double slots = t.spill(4 * half);  // two images
    const double local = 2 * t.flag() + (t.copy(half) + 2 * t.read(half)) * slots + t.fold(half);
    const int sharers = query.shape.largest_node();
    const double remote = 2 * (t.message() + sharers * t.post() + t.wire(half, sharers)) + t.fold(half);
    time += round_leaves_nodes(query.shape, bit) ? remote : local;
  }
  return t.pieces() * time;
}

}  // namespace

Algorithm halving_doubling() {
  return everywhere({.name = "halving_doubling",
                     .summary = "reduce-scatter by halving, all-gather by doubling",
                     .steps = "2⌊log₂ p⌋, + 2 if p is no power of two",
                     .sent = "2n(P−1)/P, P = 2^⌊log₂ p⌋, + n if p is no power of two",
                     .source = "Rabenseifner 2004"},
                    {build, traffic, canonical, cost});
}

}  // namespace umbel::algos::all_reduce
