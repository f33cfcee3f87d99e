// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Hierarchical ring reduce-scatter: the workhorse for large shares on several nodes.
//
// Idea. The hierarchical ring all-gather backwards. The nodes stand in a ring, and the ranks of a node, as owners of
// the rails, take care of different shares. A share starts in the node behind its own, goes once around, and each owner
// on its way folds what comes with all its node's operands at once. Only the ring uses the network, each node is left
// by every share but its own once, and in the order of the tree of groups the ring crosses the border of each group
// once in and once out.
//
// Names. Rails and bundles: see lanes/rails.hpp. N nodes; step s of the ring works on the bundle of node here−1−s: from
// the node's operands alone in step 0, then from these and what came from the left. The output holds the own share
// alone, so partial sums lie in window slots. These bound what may be under way: chunks are the outermost loop, and a
// chunk goes all around before the next one starts. Shares are cut in `depth` parts that follow one another, so that
// one is folded while others travel; one slot more than a rank has messages under way keeps a full ring moving. Lanes:
//   show     copies operands for the other owners into window slots, one stream per owner, in the ring's order
//   fold     an owner's fold of what arrived, its own operand and the mates', into the slot that is sent on; in the
//            last step into the output, or into a slot for the mate whose share it is
//   take     a rank that is left over copies its share from there
//   receive, send    the ring
// With `direct` owners fold the mates' inputs in place, when all have `entered`, and `left` is the closing.
//
// Steps N−1, one more where nodes have several ranks, another where a node has more ranks than there are rails; bytes
// that leave an owner of node A: its rail's bundles of all other nodes, what the other owners read, and what it hands
// to ranks that are left over. Any p on two nodes or more (at most 255 ranks a node), uneven nodes and racks included,
// any size. Determinism: each element is folded once a node, in the order of the lowest ranks.
// Source: Patarasuk & Yuan 2009 for the ring; the hierarchy as in Horovod's and NCCL's hierarchical all-reduce.
#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "algos/canonical.hpp"
#include "algos/cost.hpp"
#include "algos/lanes/fold_ring.hpp"
#include "algos/lanes/rails.hpp"
#include "algos/reduce_scatter/reduce_scatter.hpp"
#include "algos/stream.hpp"

namespace umbel::algos::reduce_scatter {
namespace {

enum Kind { kShown = 0, kResult = 2, kEntered = 4, kLeft = 5, kKinds = 6 };

class Member {
 public:
  Member(Builder& b, const Spec& spec)
      : b_(b),
        rails_(b.shape()),
        place_(rails_, b.shape(), b.rank()),
        direct_(spec.direct),
        depth_(spec.depth),
        ring_depth_(rails_.largest_bundle() * spec.depth + 1),
        show_(b.memory_lane()),
        fold_(b.memory_lane()),
        take_(b.memory_lane()),
        send_(b.net_lane()),
        recv_(b.net_lane()) {
    // Slots: `depth` for each rail's owner, the ring's on both sides, `depth` for each result that goes to a mate.
    const int first = direct_ ? 0 : rails_.count() * depth_;
    const int results = first + 2 * ring_depth_;
    const int region = b.region(results + (rails_.largest_bundle() - 1) * depth_);
    for (Rank mate : place_.mates) open_streams(mate, region, results);
    if (!place_.owns) return;
    const StreamPlace ring{
        .region = region, .out_slot = first, .in_slot = first + ring_depth_, .depth = ring_depth_, .channel = 0};
    StreamPlace left = ring, right = ring;
    left.peer = rails_.owner(place_.node - 1, place_.rail);
    right.peer = rails_.owner(place_.node + 1, place_.rail);
    if (place_.mates.empty()) first_.emplace(b, fold_, send_, right);
    out_.emplace(b, fold_, send_, right);
    in_.emplace(b, fold_, recv_, left);
  }

  void write() {
    if (direct_) enter();
    b_.each_chunk([&](Counter k) {
      for (int s = 0; s < rails_.nodes(); ++s)
        for (int part = 0; part < depth_; ++part) step(s, part, k);
    });
    if (direct_) leave();
  }

 private:
  bool owner(Rank mate) const { return b_.shape().local_index(mate) < rails_.count(); }

  void open_streams(Rank mate, int region, int results) {
    const int index = b_.shape().local_index(mate);
    if (!direct_) {
      StreamPlace shown{.peer = mate, .kind = kShown, .region = region, .depth = depth_};
      if (place_.owns) {
        shown.out_slot = place_.rail * depth_;
        shown_.try_emplace(mate, b_, fold_, LaneRef{}, shown);
      }
      shown.out_slot = index * depth_;
      if (owner(mate)) show_to_.try_emplace(mate, b_, show_, LaneRef{}, shown);
    }
    const int late = std::max(index, place_.index);  // of an owner and one that is left over
    if (index % rails_.count() != place_.rail) return;
    const StreamPlace result{.peer = mate,
                             .kind = kResult,
                             .region = region,
                             .out_slot = results + (late / rails_.count() - 1) * depth_,
                             .depth = depth_};
    if (place_.owns) hand_to_.try_emplace(mate, b_, fold_, LaneRef{}, result);
    if (!place_.owns && owner(mate)) result_.emplace(b_, take_, LaneRef{}, result);
  }

  Range range(Rank of, int part, Counter k) const { return {.block = fixed(of * depth_ + part), .chunk = counted(k)}; }

  void step(int s, int part, Counter k) {
    const int target = place_.node - 1 - s;
    for (auto& [mate, outbox] : show_to_)
      for (Rank rank : rails_.bundle(target, b_.shape().local_index(mate)))
        outbox.push(b_.input(range(rank, part, k)), range(rank, part, k));
    const bool last = s + 1 == rails_.nodes();
    if (place_.owns)
      for (Rank rank : rails_.bundle(target, place_.rail)) work(s, rank, range(rank, part, k));
    if (!last || !result_) return;
    const Range own = range(b_.rank(), part, k);
    b_.copy(take_, b_.output(own), result_->front(own));
    result_->pop();
  }

  void work(int s, Rank rank, const Range& range) {
    if (s == 0 && first_) {
      first_->push(b_.input(range), range);
    } else if (s + 1 < rails_.nodes()) {
      out_->produce(range, [&](const Slice& slot) { fold(s, range, slot, false); });
    } else if (rank == b_.rank()) {
      fold(s, range, b_.output(range), true);
    } else {
      hand_to_.at(rank).produce(range, [&](const Slice& slot) { fold(s, range, slot, true); });
    }
  }

  void fold(int s, const Range& range, const Slice& into, bool final) {
    struct Operand {
      Rank lowest;
      Slice slice;
    };
    std::vector<Operand> operands;
    for (Rank rank : b_.shape().peers_of(b_.rank()))
      operands.push_back({rank, rank == b_.rank() || direct_ ? b_.input(range, rank) : shown_.at(rank).front(range)});
    if (s > 0) operands.push_back({lowest_before(s), in_->front(range)});
    std::ranges::sort(operands, {}, &Operand::lowest);
    std::vector<Slice> slices;
    for (const Operand& operand : operands) slices.push_back(operand.slice);
    b_.reduce(fold_, into, slices, final);
    for (auto& [mate, inbox] : shown_) inbox.pop();
    if (s > 0) in_->pop();
  }

  /// The lowest rank in what arrives in step `s`.
  Rank lowest_before(int s) const {
    Rank lowest = rails_.node(place_.node - 1).front();
    for (int back = 2; back <= s; ++back) lowest = std::min(lowest, rails_.node(place_.node - back).front());
    return lowest;
  }

  void enter() {
    for (Rank mate : place_.mates)
      if (owner(mate)) b_.signal(fold_, b_.tell(kEntered, mate));
    for (Rank mate : place_.mates)
      if (place_.owns) b_.wait(fold_, b_.hear(kEntered, mate));
  }

  void leave() {
    for (Rank mate : place_.mates)
      if (place_.owns) b_.signal(fold_, b_.tell(kLeft, mate));
    for (Rank mate : place_.mates)
      if (owner(mate)) b_.wait(fold_, b_.hear(kLeft, mate));
  }

  Builder& b_;
  Rails rails_;
  RailPlace place_;
  bool direct_;
  int depth_, ring_depth_;
  LaneRef show_, fold_, take_, send_, recv_;
  std::map<Rank, Outbox> show_to_;     // by other owner
  std::map<Rank, Inbox> shown_;        // by mate
  std::map<Rank, Outbox> hand_to_;     // by rank left over
  std::optional<Inbox> result_;        // of a rank left over
  std::optional<Outbox> first_, out_;  // the same stream: what is sent from the input, and from slots
  std::optional<Inbox> in_;
};

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  Builder b(rank, shape, {.collective = Collective::reduce_scatter, .blocks = spec.depth, .chunks = true}, kKinds);
  Member(b, spec).write();
  return b.finish();
}

/// Shares that leave a rank: over the network, and read by its mates.
double sent_by(const Rails& rails, const Shape& shape, Rank rank) {
  const RailPlace place(rails, shape, rank);
  const int p = shape.ranks();
  double sent = 0, all = 0;
  if (place.owns) {
    for (int node = 0; node < rails.nodes(); ++node) all += static_cast<double>(rails.bundle(node, place.rail).size());
    const auto own = static_cast<double>(rails.bundle(place.node, place.rail).size());
    sent = (all - own) + (own - 1);
  }
  return sent + (p - all);  // shown to other owners
}

Traffic traffic(const Shape& shape, const Spec&) {
  const Rails rails(shape);
  Traffic traffic{.steps = rails.farthest(false)};
  for (Rank rank = 0; rank < shape.ranks(); ++rank) traffic.sent = std::max(traffic.sent, sent_by(rails, shape, rank));
  return traffic;
}

bool canonical(const Shape& shape, const Spec&) {
  const Rails rails(shape);
  for (int target = 0; target < rails.nodes(); ++target) {
    Span all = fold(spans_of(rails.node(target + 1)));
    for (int hop = 2; hop <= rails.nodes(); ++hop) {
      std::vector<Span> operands = spans_of(rails.node(target + hop));
      operands.push_back(all);
      all = fold(operands);
    }
    if (!all.canonical(shape)) return false;
  }
  return true;
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  const Rails rails(query.shape);
  const int parts = query.spec.depth, bundle = rails.largest_bundle(), ranks = query.shape.largest_node();
  const double n = t.bytes(), messages = bundle * parts * t.chunks(n / parts);
  if (ranks == 1)
    return pipelined(query, n / parts, static_cast<std::size_t>(t.nodes() * parts),
                     [&](Schedule& schedule, const std::vector<double>& chunks) {
                       LaneOf memory;
                       for (const double chunk : chunks)
                         fold_around(schedule, memory, {.members = t.nodes(), .parts = parts, .one_node = false},
                                     chunk);
                     });
  const double folded = n * bundle, shown = n * std::max(0, t.ranks() - t.nodes() * bundle);
  // In each step all mates' operands of a bundle are read and folded; each rank shows those of the other rails.
  double work = t.fold(folded, ranks + 1);
  if (ranks > 1 && query.spec.direct) work += t.read_direct(folded * (ranks - 1));
  if (ranks > 1 && !query.spec.direct)
    work += 2 * messages * t.flags(ranks - 1) + t.read(folded * (ranks - 1)) + t.copy(shown / t.nodes());
  return t.nodes() * work / messages + (t.nodes() - 1) * t.net_hop(folded, messages, rails.count(), work);
}

std::string refuses(const Shape& shape, const Spec&) {
  if (shape.nodes() < 2) return "needs at least two nodes";
  return shape.largest_node() >= kMaxSources ? "serves at most 255 ranks a node" : "";
}

}  // namespace

Algorithm hierarchical_ring() {
  Algorithm algorithm =
      on_several_nodes({.name = "hierarchical_ring",
                        .summary = "a ring of nodes on all ranks' rails, each step folds a node's operands",
                        .steps = "N−1, + 1 or 2 inside nodes",
                        .sent = "n(N−1) over the network, n·N(R−1) read by node-mates",
                        .source = "Patarasuk & Yuan 2009; hierarchy as in Horovod and NCCL",
                        .collective = Collective::reduce_scatter,
                        .unequal = Unequal::always},
                       {build, traffic, canonical, cost});
  algorithm.refuses = refuses;
  return algorithm;
}

}  // namespace umbel::algos::reduce_scatter
