// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// One-shot all-reduce, inside one node.
//
// Idea. Everybody shows its data to everybody, and everybody adds up everything. One hop and one flag per peer, which
// is the least there is; the price is that every rank reads all n(p−1) bytes, so it is for small messages.
//
// Names. Per piece: copy the input into a slot of the own window, `shown` to all; when all have shown theirs, reduce
// the own input and all slots straight into the output. Two slots need no credits: a rank shows piece i+1 only after it
// has read piece i, so when all have shown i+1, the slots of piece i are free for i+2. Reading the peers' inputs in
// place (`direct`) would not pay: in-place ranks could not write the output before everybody has read the input, so it
// takes a second flag and the same copy at the end. The staged form serves both.
//
// Steps 1; bytes that leave a rank n(p−1), read by its peers. Any p up to 256, one node, any size.
// Determinism: every rank folds the same operands in rank order, rounded once.
// Source: the one-shot all-reduce of MSCCL++ and of NVIDIA's TensorRT-LLM kernels.
#include <vector>

#include "algos/all_reduce/all_reduce.hpp"
#include "algos/builder.hpp"
#include "algos/cost.hpp"

namespace umbel::algos::all_reduce {
namespace {

constexpr int kShown = 0;
constexpr int kSlots = 2;

Program build(Rank rank, const Shape& shape, const Spec&) {
  if (shape.ranks() == 1) return alone(shape);
  Builder b(rank, shape, {.pieces = true}, 1);
  const int region = b.region(kSlots);
  const LaneRef lane = b.memory_lane();
  b.each_piece([&](Counter i) {
    const Range piece{.piece = counted(i)};
    auto slot = [&](Rank of) { return b.window(piece, of, region, {.depth = kSlots, .index = counted(i)}); };
    b.copy(lane, slot(rank), b.input(piece));
    std::vector<Slice> operands;
    for (Rank peer : shape.peers_of(rank)) {
      if (peer != rank) b.signal(lane, b.tell(kShown, peer));
      operands.push_back(peer == rank ? b.input(piece) : slot(peer));
    }
    for (Rank peer : shape.peers_of(rank))
      if (peer != rank) b.wait(lane, b.hear(kShown, peer));
    b.reduce(lane, b.output(piece), operands, true);
  });
  return b.finish();
}

Traffic traffic(const Shape& shape, const Spec&) {
  const int p = shape.ranks();
  return {.steps = p > 1 ? 1 : 0, .sent = static_cast<double>(p - 1)};
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  const int p = t.ranks();
  if (p == 1) return t.copy(t.bytes());
  const double n = t.bytes();
  // A peer's slot is read by the fold itself: what it costs more than own memory is the transfer between the caches.
  const double slots = t.spill(n / t.pieces() * kSlots);
  return t.pieces() * t.flags(p - 1) + (t.copy(n) + (p - 1) * t.read(n)) * slots + t.fold(n, p);
}

}  // namespace

Algorithm one_shot() {
  return on_one_node({.name = "one_shot",
                      .summary = "everyone reads everything, inside one node",
                      .steps = "1",
                      .sent = "n(p−1)",
                      .source = "MSCCL++, TensorRT-LLM"},
                     {build, traffic, folds_in_rank_order, cost});
}

}  // namespace umbel::algos::all_reduce
