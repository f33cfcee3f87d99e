// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Ring all-gather.
//
// Idea. The ranks stand in a ring, node by node and group by group, so that each border is crossed once in and once
// out. Every share travels once around: in each step a rank sends on what it received in the step before, so all links
// carry one share at a time, and no schedule moves fewer bytes per rank.
//
// Names. `here` is a rank's position in the ring, `left` and `right` its neighbours; blocks are numbered along the
// ring (Program::order), so that the share of position q is block q. Step s sends share here−s and receives share
// here−s−1; step 0 sends the own one, which goes to the output first. Steps go over chunks innermost, so a chunk moves
// on as soon as it is there. Over a net it is received straight into the output, and sent on from there as soon as it
// has `landed`. `channels` rings run side by side on parts of the shares; every second one runs the other way.
//
// Steps p−1; bytes sent per rank n(p−1), for shares of n. Any p, any shape, any size.
// Determinism: nothing is folded. Source: Thakur, Rabenseifner & Gropp, "Optimization of collective communication
// operations in MPICH", 2005.
#include <algorithm>

#include "algos/all_gather/all_gather.hpp"
#include "algos/all_gather/exchange.hpp"
#include "algos/order.hpp"
#include "algos/stream.hpp"

namespace umbel::algos::all_gather {
namespace {

constexpr int kKinds = 2;  // of a channel

class Ring {
 public:
  Ring(Builder& b, const std::vector<Rank>& order, const Spec& spec, int channel, int region)
      : b_(b),
        p_(static_cast<int>(order.size())),
        here_(static_cast<int>(std::ranges::find(order, b.rank()) - order.begin())),
        direction_(channel % 2 == 0 ? 1 : -1),
        channels_(spec.channels),
        channel_(channel),
        left_(order[static_cast<std::size_t>(modulo(here_ - direction_, p_))]),
        memory_(b.memory_lane()),
        send_(b.net_lane()),
        recv_(b.net_lane()),
        out_(b, memory_, send_,
             place(order[static_cast<std::size_t>(modulo(here_ + direction_, p_))], spec.depth, region)),
        in_(b, memory_, recv_, place(left_, spec.depth, region)) {
    if (!in_.local() && p_ > 2) landed_ = b.flag();
  }

  void write() {
    steps(0, 1, [&](const Range& own) {
      b_.copy(memory_, b_.output(own), b_.input(own));
      out_.push(b_.output(own), own);
    });
    auto onward = [&](const Range& range) {
      if (landed_)
        out_.pass(b_.output(range), range, landed_.wait);
      else
        out_.push(b_.output(range), range);
    };
    steps(1, p_ - 3, onward);
    if (p_ > 2) steps(p_ - 2, 1, onward);
  }

 private:
  StreamPlace place(Rank peer, int depth, int region) const {
    return {.peer = peer,
            .kind = kKinds * channel_,
            .region = region,
            .out_slot = channel_ * depth,
            .depth = depth,
            .channel = channel_};
  }

  /// Chunk `k` of the share that is sent in step first + t.
  Range share(int first, Counter t, Counter k) const {
    const int base = (here_ - direction_ * first) * channels_ + channel_;
    return {.block = cyclic(t, -direction_ * channels_, base, p_ * channels_), .chunk = counted(k)};
  }

  template <class Send>
  void steps(int first, int count, Send&& send) {
    const bool last = first + count == p_ - 1;
    b_.repeat(count, [&](Counter t) {
      b_.each_chunk([&](Counter k) {
        send(share(first, t, k));
        receive(share(first + 1, t, k), last);
      });
    });
  }

  void receive(const Range& coming, bool last) {
    if (in_.local()) {
      b_.copy(memory_, b_.output(coming), in_.front(coming));
      in_.pop();
    } else {
      b_.recv(recv_, b_.output(coming), left_, channel_, last ? Raise{} : landed_.raise);
    }
  }

  Builder& b_;
  int p_, here_, direction_, channels_, channel_;
  Rank left_;
  LaneRef memory_, send_, recv_;
  Outbox out_;
  Inbox in_;
  Flag landed_{};  // a chunk that goes on has been received; heard by the lane that sends it
};

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  if (shape.ranks() == 1) return alone(shape, Collective::all_gather);
  const std::vector<Rank> order = ranks_in_order(shape);
  Builder b(rank, shape,
            {.collective = Collective::all_gather, .blocks = spec.channels, .chunks = true, .order = order},
            kKinds * spec.channels);
  const int region = b.region(spec.channels * spec.depth);
  for (int channel = 0; channel < spec.channels; ++channel) Ring(b, order, spec, channel, region).write();
  return b.finish();
}

Traffic traffic(const Shape& shape, const Spec&) {
  const int p = shape.ranks();
  return {.steps = p - 1, .sent = static_cast<double>(p - 1)};
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  const int p = t.ranks();
  if (p == 1) return t.copy(t.bytes());
  const int rings = query.spec.channels;
  const double part = t.bytes() / rings;
  if (rings == 1 && query.shape.largest_node() == 1) return net_ring_cost(query, p);
  return t.copy(t.bytes()) + (p - 1) * rings * t.hop(part, t.chunks(part), 1, false);
}

}  // namespace

Algorithm ring() {
  return everywhere({.name = "ring",
                     .summary = "every share travels once around a ring, node by node",
                     .steps = "p−1",
                     .sent = "n(p−1)",
                     .source = "Thakur, Rabenseifner & Gropp 2005",
                     .collective = Collective::all_gather,
                     .unequal = Unequal::always},
                    {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::all_gather
