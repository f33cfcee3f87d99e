// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Recursive halving reduce-scatter.
//
// Idea. In each round a rank exchanges with the rank half of the remaining distance away: it gives away what it has of
// the shares of the partner's half of the ranks, and folds what it gets of its own half. Shares of half of the ranks
// lie together, so a round is one message; after log₂ p rounds a rank is left with its own share.
//
// Names. `given` and `kept` are the halves of what a rank still has. Partial results lie in an image of all the shares
// in the window: a node-mate reads there what it is given, another partner is sent it from there (in the first round
// from the input), into an arrival slot. A part of the image that has been given away is not written again, and so
// nothing must be waited for; the last round's result goes to the output. The image holds the whole call, so this is
// for small messages; it needs no chunks.
//
// Steps log₂ p; bytes sent per rank n(p−1), for shares of n. p a power of two (the parallel trees of `pat` take as many
// rounds for any p), any shape, any size that the window has room for. Determinism: each element is folded once a
// round, lower ranks' operand first. Source: Thakur, Rabenseifner & Gropp, "Optimization of collective communication
// operations in MPICH", 2005.
#include <algorithm>

#include "algos/builder.hpp"
#include "algos/cost.hpp"
#include "algos/order.hpp"
#include "algos/reduce_scatter/reduce_scatter.hpp"

namespace umbel::algos::reduce_scatter {
namespace {

constexpr int kShown = 0, kKinds = 1;

class Halving {
 public:
  Halving(Builder& b, const Spec& spec)
      : b_(b),
        depth_(spec.depth),
        image_(b.region(1, b.shape().ranks(), true)),
        arrivals_(b.region(spec.depth, b.shape().ranks() / 2)),
        memory_(b.memory_lane()),
        send_(b.net_lane()),
        recv_(b.net_lane()) {
    const int p = b.shape().ranks();
    for (int distance = p / 2; distance > 0; distance /= 2) remote_rounds_ += near(b.rank() ^ distance) ? 0 : 1;
    if (remote_rounds_ == 0) return;
    ready_ = b.flag();
    arrived_ = b.flag();
    if (remote_rounds_ > depth_) free_ = b.flag();
  }

  void round(int distance) {
    const Rank partner = b_.rank() ^ distance;
    const bool first = 2 * distance == b_.shape().ranks(), last = distance == 1;
    const Range given{.block = fixed(partner & -distance), .blocks = distance};
    const Range kept{.block = fixed(b_.rank() & -distance), .blocks = distance};
    give(partner, given, first ? b_.input(given) : image(given, b_.rank()));
    const Slice mine = first ? b_.input(kept) : image(kept, b_.rank());
    const Slice theirs = near(partner) ? shown(partner, kept) : arrival(partner, kept);
    const bool lower = b_.rank() < partner;
    const Slice operands[2] = {lower ? mine : theirs, lower ? theirs : mine};
    b_.reduce(memory_, last ? b_.output(kept) : image(kept, b_.rank()), operands, last);
    if (!near(partner) && arrivals_seen_ + depth_ <= remote_rounds_) b_.signal(memory_, free_.raise);
  }

 private:
  bool near(Rank peer) const { return b_.shape().same_node(b_.rank(), peer); }
  Slice image(const Range& range, Rank of) const { return b_.window(range, of, image_, {}); }

  void give(Rank partner, const Range& range, const Slice& from) {
    if (near(partner)) {
      if (from.buffer == Buffer::input) b_.copy(memory_, image(range, b_.rank()), from);
      b_.signal(memory_, b_.tell(kShown, partner));
    } else {
      b_.signal(memory_, ready_.raise);
      b_.wait(send_, ready_.wait);
      b_.send(send_, from, partner, 0);
    }
  }

  Slice shown(Rank partner, const Range& range) {
    b_.wait(memory_, b_.hear(kShown, partner));
    return image(range, partner);
  }

  /// What the partner sends, in the next arrival slot: one of the first ones, or one that has been folded.
  Slice arrival(Rank partner, const Range& range) {
    const Slice slot = b_.window(range, b_.rank(), arrivals_, {.base = arrivals_seen_ % depth_});
    if (arrivals_seen_++ >= depth_) b_.wait(recv_, free_.wait);
    b_.recv(recv_, slot, partner, 0, arrived_.raise);
    b_.wait(memory_, arrived_.wait);
    return slot;
  }

  Builder& b_;
  int depth_, image_, arrivals_;
  LaneRef memory_, send_, recv_;
  int remote_rounds_ = 0, arrivals_seen_ = 0;
  Flag ready_{};    // what is given over a net may be sent
  Flag arrived_{};  // what is sent to here is in its slot
  Flag free_{};     // a slot may be received into again
};

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  const int p = shape.ranks();
  if (p == 1) return alone(shape, Collective::reduce_scatter);
  Builder b(rank, shape, {.collective = Collective::reduce_scatter}, kKinds);
  Halving halving(b, spec);
  for (int distance = p / 2; distance > 0; distance /= 2) halving.round(distance);
  return b.finish();
}

Traffic traffic(const Shape& shape, const Spec&) {
  const int p = shape.ranks();
  return {.steps = floor_log2(p), .sent = static_cast<double>(p - 1)};
}

/// The first round folds ranks that are farthest from each other.
bool canonical(const Shape& shape, const Spec&) { return shape.ranks() <= 2; }

double cost(const CostQuery& query) {
  const CostTerms t(query);
  const int p = t.ranks();
  if (p == 1) return t.copy(t.bytes());
  double time = 0;
  for (int distance = p / 2; distance > 0; distance /= 2) {
    const double bytes = distance * t.bytes();
    const int sharers = ranks_leaving(query.shape, distance);
    const double slots = t.spill(p * t.bytes());
    const double local = t.flag() + ((2 * distance == p ? t.copy(bytes) : 0) + t.read(bytes)) * slots + t.fold(bytes);
    const double remote = t.message() + sharers * t.post() + t.wire(bytes, sharers) + t.fold(bytes);
    time += sharers == 0 ? local : std::max(local, remote);
  }
  return time;
}

}  // namespace

Algorithm halving() {
  return on_powers_of_two({.name = "halving",
                           .summary = "give half of what is left to partners at halving distance",
                           .steps = "log₂ p",
                           .sent = "n(p−1)",
                           .source = "Thakur, Rabenseifner & Gropp 2005",
                           .collective = Collective::reduce_scatter},
                          {build, traffic, canonical, cost});
}

}  // namespace umbel::algos::reduce_scatter
