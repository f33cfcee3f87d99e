// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Ring reduce-scatter and gather.
//
// Idea. The ranks stand in a ring, node by node; each rank's block travels once around, collects every rank's operand,
// and is finished by its owner; the root gathers the finished blocks from the owners. All ranks fold the same, and
// nobody sends more than n bytes.
//
// Names. See lanes/fold_ring.hpp for the ring, which begins with the root, at position 0. The owner of a block folds it
// for the last time into a `result` slot, which the root copies to its output or which is sent there; the root folds
// its own block straight into the output. In-place, what arrives for a chunk must not overwrite operands that are still
// needed: the root's lanes that take results wait until the ring is through with the chunk (`spent`).
//
// Steps p; bytes sent by every rank but the root n. Any p, any shape, any size.
// Determinism: each block is folded once a rank, in ring order, lower ranks' operand first.
// Source: Rabenseifner, "Optimization of collective reduction operations", 2004, with a ring in place of halving, as in
// Patarasuk & Yuan 2009.
#include <algorithm>

#include "algos/canonical.hpp"
#include "algos/cost.hpp"
#include "algos/lanes/fold_ring.hpp"
#include "algos/order.hpp"
#include "algos/reduce/reduce.hpp"

namespace umbel::algos::reduce {
namespace {

enum Kind { kRing = 0, kResult = 2, kKinds = 4 };

class Member {
 public:
  Member(Builder& b, const Spec& spec)
      : b_(b),
        spec_(spec),
        ring_(ranks_from(b.shape(), spec.root)),
        region_(b.region(fold_ring_slots(spec.depth) + spec.depth)) {}

  void write() {
    if (b_.rank() == spec_.root)
      write_root();
    else
      write_owner();
  }

 private:
  int parts() const { return spec_.depth; }
  bool near(Rank rank) const { return b_.shape().same_node(rank, spec_.root); }

  FoldRingSetup setup() const {
    return {.members = ring_, .parts = parts(), .share = parts(), .kind = kRing, .region = region_};
  }
  /// The stream of results between the root and another rank.
  StreamPlace results(Rank peer) const {
    return {.peer = peer,
            .kind = kResult,
            .region = region_,
            .out_slot = fold_ring_slots(parts()),
            .depth = spec_.depth,
            .channel = 1};
  }

  void write_owner() {
    FoldRing ring(b_, setup());
    Outbox out(b_, ring.memory(), b_.net_lane(), results(spec_.root));
    b_.each_chunk([&](Counter k) {
      ring.write(k, [&](const Range& range, const FoldRing::Fold& fold) { out.produce(range, fold); });
    });
  }

  void write_root() {
    const LaneRef copy = b_.memory_lane(), take = b_.net_lane();
    const Flag sent = near(ring_[1]) ? Flag{} : b_.flag();  // what goes out first, over a net, has left
    FoldRingSetup setup = this->setup();
    setup.left = sent.raise;
    FoldRing ring(b_, setup);
    // A message that has arrived may, for all the sender knows, not have left yet.
    const Flag spent_near = sent && near(ring_.back()) ? b_.flag() : Flag{};
    const Flag spent_far = b_.shape().nodes() > 1 ? b_.flag() : Flag{};
    std::vector<Landing> landings;
    for (Rank owner : ring_)
      if (owner != b_.rank()) landings.emplace_back(b_, copy, take, results(owner));
    b_.each_chunk([&](Counter k) {
      ring.write(k, [&](const Range& range, const FoldRing::Fold& fold) { fold(b_.output(range)); });
      if (sent) b_.wait(ring.memory(), sent.wait, parts());
      for (const Flag& spent : {spent_near, spent_far})
        if (spent) b_.signal(ring.memory(), spent.raise);
      if (spent_near) b_.wait(copy, spent_near.wait);
      if (spent_far) b_.wait(take, spent_far.wait);
      for (std::size_t at = 1; at < ring_.size(); ++at)
        for (int part = 0; part < parts(); ++part)
          landings[at - 1].take({.block = fixed(static_cast<int>(at) * parts() + part), .chunk = counted(k)}, false);
    });
  }

  Builder& b_;
  const Spec& spec_;
  std::vector<Rank> ring_;
  int region_;
};

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  if (shape.ranks() == 1) return alone(shape, Collective::reduce);
  Builder b(rank, shape,
            {.collective = Collective::reduce, .root = spec.root, .blocks = shape.ranks() * spec.depth, .chunks = true},
            kKinds);
  Member(b, spec).write();
  return b.finish();
}

Traffic traffic(const Shape& shape, const Spec&) {
  const int p = shape.ranks();
  return p == 1 ? Traffic{} : Traffic{.steps = p, .sent = 1};
}

bool canonical(const Shape& shape, const Spec& spec) {
  return folds_around_canonically(spans_of(ranks_from(shape, spec.root)), shape);
}

/// The ring goes no faster than the root, which also gathers: rank 0, as busy as the root, stands for all members, and
/// rank 1, over a net, for all owners as they send their results.
void write_tasks(const CostQuery& query, Schedule& s, const std::vector<double>& chunks) {
  const CostTerms& t = s.terms();
  const bool one_node = t.one_node();
  LaneOf memory, gather;
  for (const double chunk : chunks) {
    const auto folded = fold_around(
        s, memory, {.members = t.ranks(), .parts = query.spec.depth, .one_node = one_node, .hands_on = true}, chunk);
    for (int owner = 1; owner < t.ranks(); ++owner) {
      for (const Schedule::Task part : folded) {
        if (one_node)
          s.after(gather.move(s, 0, t.read(chunk), chunk, 1).begin, part, t.flight());
        else
          s.send(1, 0, chunk, part);
      }
    }
  }
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  const int p = t.ranks();
  if (p == 1) return t.copy(t.bytes());
  const double block = t.bytes() / p;
  if (t.alike())
    return pipelined(
        query, block / query.spec.depth, static_cast<std::size_t>(2 * p * query.spec.depth),
        [&](Schedule& schedule, const std::vector<double>& chunks) { write_tasks(query, schedule, chunks); });
  const double parts = query.spec.depth * t.chunks(block / query.spec.depth);
  const int mates = static_cast<int>(query.shape.peers_of(query.spec.root).size()) - 1;
  const int remote = p - 1 - mates;
  const double near = mates * (t.read(block) + parts * t.flag());
  const double far = t.message() + remote * (t.wire(block) + parts * t.post());
  // The ring and what the root gathers overlap, but the root's link, or the root itself, has the sum to do.
  return (p - 1) * t.hop(block, parts) + std::max(near, far);
}

}  // namespace

Algorithm reduce_scatter_gather() {
  return everywhere({.name = "reduce_scatter_gather",
                     .summary = "blocks are folded around a ring, the root gathers them",
                     .steps = "p",
                     .sent = "n",
                     .source = "Rabenseifner 2004; Patarasuk & Yuan 2009",
                     .collective = Collective::reduce},
                    {build, traffic, canonical, cost});
}

}  // namespace umbel::algos::reduce
