// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Direct reduce-scatter, inside one node.
//
// Idea. Rank r owns share r: it folds everybody's share r in one go. One hop, each byte is read by another rank once.
//
// Staged form, chunk by chunk: copy the chunk of each peer's share from the input to that peer's slot of the own
// window, `shown` to the peer; when all have shown theirs, fold the own input and the peers' slots straight into the
// output. Two slots for each peer need no credits: a rank shows chunk k+1 only after it has folded chunk k, so when all
// have shown k+1, the slots of chunk k are free for k+2.
// Direct form: when all have `entered`, the owner folds the peers' inputs in place. An in-place output lies where only
// its owner reads. `left` is the closing: nobody returns while others read.
// Peers come in turn, beginning after the own rank, so that not all ranks turn to the same one at once.
//
// Steps 1; bytes that leave a rank n(p−1), read by its peers, for shares of n. Any p up to 256, one node, any size.
// Determinism: each element is folded once, in rank order, rounded once; or, `ordered`, as the canonical tree.
// Source: the first half of the two-shot all-reduce of MSCCL++; Chan et al., "Collective communication: theory,
// practice, and experience", 2007.
#include "algos/builder.hpp"
#include "algos/cost.hpp"
#include "algos/order.hpp"
#include "algos/reduce_scatter/reduce_scatter.hpp"

namespace umbel::algos::reduce_scatter {
namespace {

enum Kind { kShown, kStagedKinds, kLeft = kStagedKinds, kDirectKinds };
constexpr int kEntered = kShown;
constexpr int kSlots = 2;  // for each peer

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  const int p = shape.ranks();
  if (p == 1) return alone(shape, Collective::reduce_scatter);
  const std::vector<Rank> peers = others_in_turn(rank, p);
  Builder b(rank, shape, {.collective = Collective::reduce_scatter, .chunks = true},
            spec.direct ? kDirectKinds : kStagedKinds);
  const int region = spec.direct ? -1 : b.region(kSlots * p);
  const FoldSlots partials = b.fold_region(spec.ordered, p);
  const LaneRef lane = b.memory_lane();
  if (spec.direct) {
    for (Rank peer : peers) b.signal(lane, b.tell(kEntered, peer));
    for (Rank peer : peers) b.wait(lane, b.hear(kEntered, peer));
  }
  b.each_chunk([&](Counter k) {
    auto share = [&](Rank of) { return Range{.block = fixed(of), .chunk = counted(k)}; };
    auto slot = [&](Rank of, Rank in) {
      return b.window(share(of), in, region, {.base = kSlots * of, .depth = kSlots, .index = counted(k)});
    };
    std::vector<Slice> operands;
    for (Rank r = 0; r < p; ++r) operands.push_back(r == rank || spec.direct ? b.input(share(rank), r) : slot(rank, r));
    if (!spec.direct) {
      for (Rank peer : peers) {
        b.copy(lane, slot(peer, rank), b.input(share(peer)));
        b.signal(lane, b.tell(kShown, peer));
      }
      for (Rank peer : peers) b.wait(lane, b.hear(kShown, peer));
    }
    b.fold_as_tree(lane, share(rank), b.output(share(rank)), operands, true, partials);
  });
  if (spec.direct) {
    for (Rank peer : peers) b.signal(lane, b.tell(kLeft, peer));
    for (Rank peer : peers) b.wait(lane, b.hear(kLeft, peer));
  }
  return b.finish();
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
  const double fold = t.fold(n, p);
  if (query.spec.direct) return 2 * t.flags(p - 1) + (p - 1) * t.read_direct(n) + fold;
  const double chunks = t.chunks(n);
  const double slots = t.spill(n / chunks * kSlots * p);
  return chunks * t.flags(p - 1) + (p - 1) * (t.copy(n) + t.read(n)) * slots + fold;
}

}  // namespace

Algorithm direct() {
  return on_one_node({.name = "direct",
                      .summary = "the owner of a share folds everyone's, inside one node",
                      .steps = "1",
                      .sent = "n(p−1)",
                      .source = "MSCCL++; Chan et al. 2007",
                      .collective = Collective::reduce_scatter,
                      .unequal = Unequal::always},
                     {build, traffic, folds_at_once, cost});
}

}  // namespace umbel::algos::reduce_scatter
