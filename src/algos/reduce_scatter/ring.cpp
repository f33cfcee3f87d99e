// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Ring reduce-scatter.
//
// Idea. The ranks stand in a ring, node by node and group by group, so that each border is crossed once in and once
// out. Share q starts at the rank behind its owner, travels once around, collects every rank's operand, and is finished
// by its owner. All links carry one share at a time, and no schedule moves fewer bytes per rank.
//
// Names. `here` is a rank's position in the ring, `left` and `right` its neighbours; blocks are numbered along the
// ring (Program::order), so that the share of position q is block q. Step s sends share here−1−s: the own operand in
// step 0, then what was folded from the own operand and the partial sum that came from the left in the step before. The
// output holds the own share alone, so partial sums lie in window slots. These bound what may be under way: chunks are
// the outermost loop, and a chunk goes all around before the next one starts. Shares are cut in `depth` parts that
// follow one another, so that one is folded while others travel; one slot more than there are parts keeps a full ring
// moving. `channels` rings run side by side on parts of their own; every second one runs the other way.
//
// Steps p−1; bytes sent per rank n(p−1), for shares of n. Any p, any shape, any size.
// Determinism: each element is folded once a rank, in ring order, lower ranks' operand first.
// Source: Patarasuk & Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009.
#include <algorithm>

#include "algos/canonical.hpp"
#include "algos/cost.hpp"
#include "algos/order.hpp"
#include "algos/reduce_scatter/reduce_scatter.hpp"
#include "algos/stream.hpp"

namespace umbel::algos::reduce_scatter {
namespace {

constexpr int kKinds = 2;  // of a channel
/// Slots of a stream: as many as a rank's messages under way, and one to fold into.
constexpr int stream_depth(int parts) { return parts + 1; }
constexpr int slots(int parts) { return 2 * stream_depth(parts); }

/// The ranks around the ring of a channel.
std::vector<Rank> ring_of(const Shape& shape, int channel) {
  std::vector<Rank> ring = ranks_in_order(shape);
  if (channel % 2 == 1) std::ranges::reverse(ring);
  return ring;
}

class Ring {
 public:
  Ring(Builder& b, const Spec& spec, int channel, int region)
      : b_(b),
        ring_(ring_of(b.shape(), channel)),
        p_(static_cast<int>(ring_.size())),
        here_(static_cast<int>(std::ranges::find(ring_, b.rank()) - ring_.begin())),
        parts_(spec.depth),
        channels_(spec.channels),
        channel_(channel),
        memory_(b.memory_lane()),
        send_(b.net_lane()),
        recv_(b.net_lane()),
        first_(b, memory_, send_, place(here_ + 1, region)),
        out_(b, memory_, send_, place(here_ + 1, region)),
        in_(b, memory_, recv_, place(here_ - 1, region)) {}

  void write() {
    b_.each_chunk([&](Counter k) { write(k); });
  }

 private:
  void write(Counter k) {
    steps(-1, 1, k, [&](const Range& range) { first_.push(b_.input(range), range); });
    // Steps that fold in the same order are one loop.
    for (int from = 0, to = 0; from < p_ - 2; from = to) {
      for (to = from + 1; to < p_ - 2 && own_first(to) == own_first(from);) ++to;
      steps(from, to - from, k, [&](const Range& range) {
        out_.produce(range, [&](const Slice& slot) { fold(range, slot, own_first(from), false); });
      });
    }
    steps(p_ - 2, 1, k, [&](const Range& range) { fold(range, b_.output(range), own_first(p_ - 2), true); });
  }

  Rank member(int at) const { return ring_[static_cast<std::size_t>(modulo(at, p_))]; }

  StreamPlace place(int at, int region) const {
    const int slot = channel_ * slots(parts_);
    return {.peer = member(at),
            .kind = kKinds * channel_,
            .region = region,
            .out_slot = slot,
            .in_slot = slot + stream_depth(parts_),
            .depth = stream_depth(parts_),
            .channel = channel_};
  }

  /// Whether the own operand comes before the partial sum that is received in step `s`: of ranks here−1−s to here−1.
  bool own_first(int s) const {
    for (int back = 1; back <= s + 1; ++back)
      if (member(here_ - back) < b_.rank()) return false;
    return true;
  }

  /// Steps in which chunk `k` of share here−2−s is worked on.
  template <class Work>
  void steps(int first, int count, Counter k, Work&& work) {
    const int forward = channel_ % 2 == 0 ? 1 : -1;  // along the numbering of blocks
    const int place = forward == 1 ? here_ : p_ - 1 - here_;
    const int share = channels_ * parts_;  // blocks
    b_.repeat(count, [&](Counter t) {
      for (int part = 0; part < parts_; ++part) {
        const int base = (place - forward * (first + 2)) * share + channel_ * parts_ + part;
        work(Range{.block = cyclic(t, -forward * share, base, p_ * share), .chunk = counted(k)});
      }
    });
  }

  void fold(const Range& range, const Slice& into, bool own_first, bool final) {
    const Slice partial = in_.front(range), own = b_.input(range);
    const Slice operands[2] = {own_first ? own : partial, own_first ? partial : own};
    b_.reduce(memory_, into, operands, final);
    in_.pop();
  }

  Builder& b_;
  std::vector<Rank> ring_;
  int p_, here_, parts_, channels_, channel_;
  LaneRef memory_, send_, recv_;
  Outbox first_, out_;  // the same stream: what is sent from the input, and from slots
  Inbox in_;
};

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  if (shape.ranks() == 1) return alone(shape, Collective::reduce_scatter);
  Builder b(rank, shape,
            {.collective = Collective::reduce_scatter,
             .blocks = spec.channels * spec.depth,
             .chunks = true,
             .order = ranks_in_order(shape)},
            kKinds * spec.channels);
  const int region = b.region(spec.channels * slots(spec.depth));
  for (int channel = 0; channel < spec.channels; ++channel) Ring(b, spec, channel, region).write();
  return b.finish();
}

Traffic traffic(const Shape& shape, const Spec&) {
  const int p = shape.ranks();
  return {.steps = p - 1, .sent = static_cast<double>(p - 1)};
}

bool canonical(const Shape& shape, const Spec& spec) {
  for (int channel = 0; channel < spec.channels; ++channel)
    if (!folds_around_canonically(spans_of(ring_of(shape, channel)), shape)) return false;
  return true;
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  const int p = t.ranks();
  if (p == 1) return t.copy(t.bytes());
  const int rings = query.spec.channels;
  const double part = t.bytes() / rings / query.spec.depth;
  return (p - 1) * rings * t.hop(t.bytes() / rings, query.spec.depth * t.chunks(part));
}

}  // namespace

Algorithm ring() {
  return everywhere({.name = "ring",
                     .summary = "every share travels once around a ring, node by node, and is folded on its way",
                     .steps = "p−1",
                     .sent = "n(p−1)",
                     .source = "Patarasuk & Yuan 2009",
                     .collective = Collective::reduce_scatter,
                     .unequal = Unequal::always},
                    {build, traffic, canonical, cost});
}

}  // namespace umbel::algos::reduce_scatter
