// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Two-shot all-reduce, inside one node: the fast path for medium and large messages in shared memory.
//
// Idea. The data is cut in p blocks, rank r owns block r. First shot: the owner folds everybody's block r in one go.
// Second shot: everybody copies every finished block from its owner. Each byte is read from another rank twice in all.
//
// Staged form, per piece, on two lanes:
//   show    copy all blocks but the own from the input into a window slot that is laid out like a piece; `shown` to
//   each
//           block's owner
//   work    when all have shown: fold the own block (own input and the peers' slots) into a result slot; `done` to all;
//           copy it to the output. Then, owner by owner: wait `done`, copy the block from the owner's result slot to
//           the output; finally give the slot back to `show` (`again`).
// Results have slots of their own: the blocks of the last, shorter piece lie elsewhere in a slot than those before.
// So the copy-in of the next piece goes on while this one is folded, `depth` slots deep. Nothing else needs credits: a
// peer shows piece i only when it is through with piece i − depth, so when all have shown, the result slot is free; and
// when the last `done` of a piece is heard, everybody has read what was shown for it.
//
// Direct form: no window. When all have `entered`, the owner folds the peers' inputs into its output; `done`; the peers
// copy from the owner's output. A rank's own block is read by nobody else and the others are overwritten only after
// their owner is done with them, so in-place calls are safe. `left` is the closing: nobody returns while others read.
//
// Steps 2; bytes that leave a rank 2n(p−1)/p, read by its peers. Any p up to 256, one node, any size.
// Determinism: each block is folded once, in rank order, rounded once, and copied; or, `ordered`, as the canonical
// tree. Source: the two-shot all-reduce of MSCCL++ and of NVIDIA's TensorRT-LLM kernels.
#include <algorithm>
#include <vector>

#include "algos/all_reduce/all_reduce.hpp"
#include "algos/builder.hpp"
#include "algos/cost.hpp"
#include "algos/order.hpp"

namespace umbel::algos::all_reduce {
namespace {

enum Kind { kShown, kDone, kStagedKinds, kLeft = kStagedKinds, kDirectKinds };
constexpr int kEntered = kShown;

Program build_staged(Rank rank, const Shape& shape, const Spec& spec) {
  const int depth = spec.depth;
  const int p = shape.ranks();
  const std::vector<Rank> peers = others_in_turn(rank, p);
  Builder b(rank, shape, {.blocks = p, .pieces = true}, kStagedKinds);
  const int shown = b.region(depth, p, true);
  const int results = b.region(depth);
  const FoldSlots partials = b.fold_region(spec.ordered, p);
  const LaneRef show = b.memory_lane();
  const LaneRef work = b.memory_lane();
  const Flag again = b.flag(depth);
  b.each_piece([&](Counter i) {
    auto block = [&](int n) { return Range{.block = fixed(n), .piece = counted(i)}; };
    const SlotRef turn{.depth = depth, .index = counted(i)};
    auto slot = [&](int n, Rank of) { return b.window(block(n), of, shown, turn); };
    auto result = [&](Rank of) { return b.window(block(of), of, results, turn); };
    b.wait(show, again.wait);
    for (Rank peer : peers) {
      b.copy(show, slot(peer, rank), b.input(block(peer)));
      b.signal(show, b.tell(kShown, peer));
    }
    std::vector<Slice> operands;
    for (Rank r = 0; r < p; ++r) operands.push_back(r == rank ? b.input(block(rank)) : slot(rank, r));
    for (Rank peer : peers) b.wait(work, b.hear(kShown, peer));
    b.fold_as_tree(work, block(rank), result(rank), operands, true, partials);
    for (Rank peer : peers) b.signal(work, b.tell(kDone, peer));
    b.copy(work, b.output(block(rank)), result(rank));
    for (Rank peer : peers) {
      b.wait(work, b.hear(kDone, peer));
      b.copy(work, b.output(block(peer)), result(peer));
    }
    b.signal(work, again.raise);
  });
  return b.finish();
}

Program build_direct(Rank rank, const Shape& shape, const Spec& spec) {
  const int p = shape.ranks();
  const std::vector<Rank> peers = others_in_turn(rank, p);
  Builder b(rank, shape, {.blocks = p, .pieces = true}, kDirectKinds);
  const FoldSlots partials = b.fold_region(spec.ordered, p);
  const LaneRef fold = b.memory_lane();
  const LaneRef gather = b.memory_lane();
  for (Rank peer : peers) b.signal(fold, b.tell(kEntered, peer));
  for (Rank peer : peers) b.wait(fold, b.hear(kEntered, peer));
  b.each_piece([&](Counter i) {
    auto block = [&](int n) { return Range{.block = fixed(n), .piece = counted(i)}; };
    std::vector<Slice> operands;
    for (Rank r = 0; r < p; ++r) operands.push_back(b.input(block(rank), r));
    b.fold_as_tree(fold, block(rank), b.output(block(rank)), operands, true, partials);
    for (Rank peer : peers) b.signal(fold, b.tell(kDone, peer));
    for (Rank peer : peers) {
      b.wait(gather, b.hear(kDone, peer));
      b.copy(gather, b.output(block(peer)), b.output(block(peer), peer));
    }
  });
  for (Rank peer : peers) b.signal(gather, b.tell(kLeft, peer));
  for (Rank peer : peers) b.wait(gather, b.hear(kLeft, peer));
  return b.finish();
}

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  if (shape.ranks() == 1) return alone(shape);
  return spec.direct ? build_direct(rank, shape, spec) : build_staged(rank, shape, spec);
}

Traffic traffic(const Shape& shape, const Spec&) {
  const int p = shape.ranks();
  return {.steps = p > 1 ? 2 : 0, .sent = 2.0 * (p - 1) / p};
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  const int p = t.ranks();
  if (p == 1) return t.copy(t.bytes());
  const double block = t.bytes() / p;
  const double fold = t.fold(block, p);
  const double raises = (p - 1) * t.raise();
  if (query.spec.direct) return (2 + t.pieces()) * raises + 3 * t.flight() + 2 * (p - 1) * t.read_direct(block) + fold;
  const double own_copies = t.copy(t.bytes());  // all blocks but one in, one out
  // What is shown, a piece each, and the results, a block each; a peer's are read through the same cache.
  const double slots = (t.bytes() / t.pieces() + 2 * block / t.pieces()) * query.spec.depth;
  // The first flag is waited for when there is no other piece to show meanwhile; the last one while the own block is
  // copied.
  const double waits = (t.pieces() > 1 ? 0.0 : t.flight()) + std::max(0.0, t.flight() - t.copy(block / t.pieces()));
  return 2 * t.pieces() * raises + waits + (own_copies + 2 * (p - 1) * t.read(block)) * t.spill(slots) + fold;
}

}  // namespace

Algorithm two_shot() {
  return on_one_node({.name = "two_shot",
                      .summary = "owners fold their blocks, everyone reads them back, inside one node",
                      .steps = "2",
                      .sent = "2n(p−1)/p",
                      .source = "MSCCL++, TensorRT-LLM"},
                     {build, traffic, folds_at_once, cost});
}

}  // namespace umbel::algos::all_reduce
