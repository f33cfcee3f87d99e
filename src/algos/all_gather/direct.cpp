// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Direct all-gather, inside one node.
//
// Idea. Everybody shows its share to everybody, and everybody copies all the others'. One hop, and each byte is copied
// once by each rank that wants it: nothing inside a node can do with less.
//
// Staged form, chunk by chunk: copy the own chunk to a slot of the own window and to the output, `shown` to all; then,
// peer by peer: wait `shown`, copy its slot. Two slots need no credits: a rank shows chunk k+1 only when it has copied
// all of chunk k, so when all have shown k+1, the slots of chunk k are free for k+2.
// Direct form: no window. The own share goes to the output, `shown`; the peers copy from the input, which is there too
// if the call is in-place. `left` is the closing: nobody returns while others read. Peers come in turn, beginning after
// the own rank, so that not all ranks read from the same one at once.
//
// Steps 1; bytes that leave a rank n(p−1), read by its peers, for shares of n. Any p up to 256, one node, any size.
// Determinism: nothing is folded. Source: the direct all-gather of MSCCL++; Chan et al., "Collective communication:
// theory, practice, and experience", 2007.
#include <algorithm>

#include "algos/all_gather/all_gather.hpp"
#include "algos/builder.hpp"
#include "algos/cost.hpp"
#include "algos/order.hpp"

namespace umbel::algos::all_gather {
namespace {

enum Kind { kShown, kStagedKinds, kLeft = kStagedKinds, kDirectKinds };
constexpr int kSlots = 2;

Program build_staged(Rank rank, const Shape& shape) {
  Builder b(rank, shape, {.collective = Collective::all_gather, .chunks = true}, kStagedKinds);
  const int region = b.region(kSlots);
  const LaneRef lane = b.memory_lane();
  b.each_chunk([&](Counter k) {
    auto share = [&](Rank of) { return Range{.block = fixed(of), .chunk = counted(k)}; };
    auto slot = [&](Rank of) { return b.window(share(of), of, region, {.depth = kSlots, .index = counted(k)}); };
    b.copy(lane, slot(rank), b.input(share(rank)));
    for (Rank peer : others_in_turn(rank, shape.ranks())) b.signal(lane, b.tell(kShown, peer));
    b.copy(lane, b.output(share(rank)), b.input(share(rank)));
    for (Rank peer : others_in_turn(rank, shape.ranks())) {
      b.wait(lane, b.hear(kShown, peer));
      b.copy(lane, b.output(share(peer)), slot(peer));
    }
  });
  return b.finish();
}

Program build_direct(Rank rank, const Shape& shape) {
  Builder b(rank, shape, {.collective = Collective::all_gather}, kDirectKinds);
  const LaneRef lane = b.memory_lane();
  auto share = [](Rank of) { return Range{.block = fixed(of)}; };
  const std::vector<Rank> peers = others_in_turn(rank, shape.ranks());
  b.copy(lane, b.output(share(rank)), b.input(share(rank)));
  for (Rank peer : peers) b.signal(lane, b.tell(kShown, peer));
  for (Rank peer : peers) {
    b.wait(lane, b.hear(kShown, peer));
    b.copy(lane, b.output(share(peer)), b.input(share(peer), peer));
    b.signal(lane, b.tell(kLeft, peer));
  }
  for (Rank peer : peers) b.wait(lane, b.hear(kLeft, peer));
  return b.finish();
}

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  if (shape.ranks() == 1) return alone(shape, Collective::all_gather);
  return spec.direct ? build_direct(rank, shape) : build_staged(rank, shape);
}

Traffic traffic(const Shape& shape, const Spec&) {
  const int p = shape.ranks();
  return {.steps = p > 1 ? 1 : 0, .sent = static_cast<double>(p - 1)};
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  const int p = t.ranks();
  const double n = t.bytes();
  if (p == 1) return t.copy(n);
  // All raise their flags at the same time, and the last one's is on its way while the own share is copied.
  const double raises = (p - 1) * t.raise();
  if (query.spec.direct) return t.copy(n) + 2 * raises + (p - 1) * t.read_direct(n) + 2 * t.flight();
  const double chunks = t.chunks(n);
  // A rank reads the slots of all others: together they should stay in its cache.
  const double slots = t.spill(n / chunks * kSlots * p);
  const double waits = std::max(0.0, t.flight() - t.copy(n / chunks));
  return 2 * t.copy(n) + chunks * (raises + waits) + (p - 1) * t.read(n) * slots;
}

}  // namespace

Algorithm direct() {
  return on_one_node({.name = "direct",
                      .summary = "everyone copies everyone's share, inside one node",
                      .steps = "1",
                      .sent = "n(p−1)",
                      .source = "MSCCL++; Chan et al. 2007",
                      .collective = Collective::all_gather,
                      .unequal = Unequal::always},
                     {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::all_gather
