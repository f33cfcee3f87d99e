// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Pairwise reduce-scatter.
//
// Idea. Everybody sends everybody's operands to their owners, who fold all p of them at once. Nothing is folded on the
// way, so messages do not wait for one another, and the order of the fold is free: the one algorithm that can serve the
// reproducible mode on any placement.
//
// Names. In the s-th exchange a rank sends to the rank s places after it, and receives from the one s places before.
// Chunk by chunk: show the chunk of each node-mate's share in a slot of the own window, send that of each other share
// straight from the input; when the node-mates have shown theirs and the others' have arrived, fold all. Two slots for
// each mate need no credits: a rank shows chunk k+1 only after it has folded chunk k, so when all have shown k+1, the
// slots of chunk k are free for k+2. What arrives over the net lies in `depth` slots for each sender. The send lane
// follows the memory lane chunk by chunk (`go`), so that it does not run away with a long share.
//
// Steps 1, of p−1 messages a rank; bytes sent per rank n(p−1), for shares of n. Any p up to 256, any shape, any size.
// Determinism: each element is folded once, in rank order, rounded once; or, `ordered`, as the canonical tree.
// Source: Thakur, Rabenseifner & Gropp, "Optimization of collective communication operations in MPICH", 2005.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "algos/order.hpp"
#include "algos/reduce_scatter/reduce_scatter.hpp"
#include "algos/schedule.hpp"
#include "algos/stream.hpp"

namespace umbel::algos::reduce_scatter {
namespace {

constexpr int kShown = 0, kKinds = 1;
constexpr int kShownSlots = 2;  // for each mate

class Exchange {
 public:
  Exchange(Builder& b, const Spec& spec)
      : b_(b),
        p_(b.shape().ranks()),
        width_(std::max(kShownSlots, spec.depth)),
        region_(b.region(p_ * width_)),
        partials_(b.fold_region(spec.ordered, p_)),
        memory_(b.memory_lane()),
        send_(b.net_lane()) {
    std::vector<StreamPlace> sources;
    for (Rank peer : others_in_turn(b.rank(), p_)) {
      if (b.shape().same_node(b.rank(), peer)) {
        mates_.push_back(peer);
      } else {
        remote_.push_back(peer);
        sources.insert(sources.begin(),
                       {.peer = peer, .region = region_, .in_slot = peer * width_, .depth = spec.depth});
      }
    }
    if (remote_.empty()) return;
    go_ = b.flag();
    intake_.emplace(b, memory_, b.net_lane(), std::move(sources));
  }

  void write(Counter k) {
    auto share = [&](Rank of) { return Range{.block = fixed(of), .chunk = counted(k)}; };
    auto slot = [&](Rank of, Rank in) {
      return b_.window(share(of), in, region_, {.base = of * width_, .depth = kShownSlots, .index = counted(k)});
    };
    if (go_) {
      b_.signal(memory_, go_.raise);
      b_.wait(send_, go_.wait);
    }
    for (Rank peer : remote_) b_.send(send_, b_.input(share(peer)), peer, 0);
    for (Rank mate : mates_) {
      b_.copy(memory_, slot(mate, b_.rank()), b_.input(share(mate)));
      b_.signal(memory_, b_.tell(kShown, mate));
    }
    std::vector<Slice> operands(static_cast<std::size_t>(p_), b_.input(share(b_.rank())));
    for (Rank mate : mates_) {
      b_.wait(memory_, b_.hear(kShown, mate));
      operands[static_cast<std::size_t>(mate)] = slot(b_.rank(), mate);
    }
    std::vector<Slice> arrived = intake_ ? intake_->front(share(b_.rank())) : std::vector<Slice>{};
    for (Rank peer : remote_) {  // the sources are in the reverse order
      operands[static_cast<std::size_t>(peer)] = arrived.back();
      arrived.pop_back();
    }
    b_.fold_as_tree(memory_, share(b_.rank()), b_.output(share(b_.rank())), operands, true, partials_);
    if (intake_) intake_->pop();
  }

 private:
  Builder& b_;
  int p_, width_, region_;  // slots for each peer
  FoldSlots partials_;
  LaneRef memory_, send_;
  std::vector<Rank> mates_, remote_;  // in the order of sending
  std::optional<Intake> intake_;
  Flag go_{};
};

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  if (shape.ranks() == 1) return alone(shape, Collective::reduce_scatter);
  Builder b(rank, shape, {.collective = Collective::reduce_scatter, .chunks = true}, kKinds);
  Exchange exchange(b, spec);
  b.each_chunk([&](Counter k) { exchange.write(k); });
  return b.finish();
}

std::string refuses(const Shape& shape, const Spec&) {
  return shape.ranks() > kMaxSources ? "serves at most 256 ranks" : "";
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
  const double chunks = t.chunks(n);
  const int near = query.shape.largest_node(), far = p - query.shape.smallest_node();
  const double slots = t.spill(n / chunks * query.spec.depth * p);
  const double local = chunks * t.flags(near - 1) + (near - 1) * (t.copy(n) + t.read(n)) * slots;
  const double fold = t.fold(n, p);
  if (near == 1)
    return pipelined(query, n, static_cast<std::size_t>(p), [&](Schedule& s, const std::vector<double>& parts) {
      LaneOf memory;
      for (const double part : parts) {
        // What comes in is what goes out.
        std::vector<Schedule::Task> arrived;
        for (int peer = 1; peer < p; ++peer) arrived.push_back(s.send(0, 0, part, memory.last()));
        const Schedule::Task folded = memory.next(s, s.work(0, t.fold(part, p)));
        for (const Schedule::Task one : arrived) s.after(folded, one);
      }
    });
  // All of a node's ranks send to all others: their messages share its link.
  const double net = far * (t.wire(n, near) + near * chunks * t.post());
  return t.one_node() ? local + fold : t.message() + std::max(net, local + fold) + fold / chunks;
}

}  // namespace

Algorithm pairwise() {
  Algorithm algorithm = everywhere({.name = "pairwise",
                                    .summary = "everyone sends every share to its owner, who folds them all at once",
                                    .steps = "1",
                                    .sent = "n(p−1)",
                                    .source = "Thakur, Rabenseifner & Gropp 2005",
                                    .collective = Collective::reduce_scatter,
                                    .unequal = Unequal::always},
                                   {build, traffic, folds_at_once, cost});
  algorithm.refuses = refuses;
  return algorithm;
}

}  // namespace umbel::algos::reduce_scatter
