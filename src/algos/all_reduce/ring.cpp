// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Ring all-reduce.
//
// Idea. The ranks stand in a ring, node by node, so that each node's border is crossed once in and once out. The data is
// cut in p blocks. Reduce-scatter: each block travels once around and collects every rank's share, so that after p−1
// steps each rank holds one finished block. All-gather: the finished blocks travel around once more. All links carry
// 1/p of the data in every step; no schedule moves fewer bytes per rank.
//
// Names. `here` is a rank's position in the ring, `left` and `right` its neighbours. Step s of the reduce-scatter sends
// block here−s and folds block here−s−1 from the left into the output; step t of the all-gather sends block here+1−t and
// receives block here−t. Steps go over chunks innermost, so a chunk moves on as soon as it is folded.
// `channels` rings run side by side on blocks of their own; every second one runs the other way.
//
// Steps 2(p−1); bytes sent per rank 2n(p−1)/p. Any p, any shape, any size.
// Determinism: each block is folded once, in ring order, lower ranks' operand first, and then copied.
// Partial sums lie in the output: a block is sent straight from there, and an all-gather message is received straight
// into the output as soon as the same block's partial sum has left (`reusable`).
// Source: Patarasuk & Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009.
#include <algorithm>
#include <vector>

#include "algos/all_reduce/all_reduce.hpp"
#include "algos/builder.hpp"
#include "algos/cost.hpp"
#include "algos/order.hpp"
#include "algos/stream.hpp"

namespace umbel::algos::all_reduce {
namespace {

/// Reduce-scatter steps that look alike.
struct Steps {
  int first = 0;
  int count = 0;
  bool from_input = false;  // sends the input, not a partial sum
  bool own_first = false;   // the own operand comes before what arrives
  bool last = false;        // finishes the block
  bool alike(const Steps& o) const { return from_input == o.from_input && own_first == o.own_first && last == o.last; }
};

class Ring {
 public:
  Ring(Builder& b, const Spec& spec, int channel, int region)
      : b_(b),
        order_(direction(b.shape(), channel)),
        p_(b.shape().ranks()),
        here_(static_cast<int>(std::ranges::find(order_, b.rank()) - order_.begin())),
        first_block_(channel * p_),
        right_(order_[static_cast<std::size_t>(modulo(here_ + 1, p_))]),
        channel_(channel),
        memory_(b.memory_lane()),
        send_(b.net_lane()),
        recv_(b.net_lane()),
        left_(order_[static_cast<std::size_t>(modulo(here_ - 1, p_))]),
        out_(b, memory_, send_, place(right_, spec, region)),
        in_(b, memory_, recv_, place(left_, spec, region)) {
    if (!in_.local() || !out_.local()) reusable_ = b.flag();
    if (!out_.local()) finished_ = b.flag();
    if (!in_.local() && p_ > 2) landed_ = b.flag();
  }

  void write() {
    for (const Steps& steps : reduce_scatter_steps()) reduce_scatter(steps);
    all_gather();
  }

 private:
  static std::vector<Rank> direction(const Shape& shape, int channel) {
    std::vector<Rank> order = ranks_in_order(shape);
    if (channel % 2 == 1) std::ranges::reverse(order);
    return order;
  }

  StreamPlace place(Rank peer, const Spec& spec, int region) const {
    return {.peer = peer,
            .kind = 2 * channel_,
            .region = region,
            .out_slot = 2 * channel_ * spec.depth,
            .in_slot = (2 * channel_ + 1) * spec.depth,
            .depth = spec.depth,
            .channel = channel_};
  }

  /// Chunk `k` of block here + shift − (the step's counter).
  Range block(int shift, Counter step, Counter k) const {
    return {.block = cyclic(step, -1, here_ + shift, p_, first_block_), .chunk = counted(k)};
  }

  std::vector<Steps> reduce_scatter_steps() const {
    std::vector<Steps> all;
    Rank lowest = b_.shape().ranks();
    for (int s = 0; s < p_ - 1; ++s) {
      lowest = std::min(lowest, order_[static_cast<std::size_t>(modulo(here_ - 1 - s, p_))]);
      const Steps step{.first = s, .count = 1, .from_input = s == 0, .own_first = b_.rank() < lowest, .last = s == p_ - 2};
      if (!all.empty() && all.back().alike(step)) {
        ++all.back().count;
      } else {
        all.push_back(step);
      }
    }
    return all;
  }

  void reduce_scatter(const Steps& steps) {
    b_.repeat(steps.count, [&](Counter s) {
      b_.each_chunk([&](Counter k) {
        const Range leaving = block(-steps.first, s, k);
        out_.push(steps.from_input ? b_.input(leaving) : b_.output(leaving), leaving, reusable_.raise);
        const Range coming = block(-steps.first - 1, s, k);
        const Slice partial = in_.front(coming);
        const Slice own = b_.input(coming);
        const Slice operands[2] = {steps.own_first ? own : partial, steps.own_first ? partial : own};
        b_.reduce(memory_, b_.output(coming), operands, steps.last);
        in_.pop();
        if (steps.last && finished_) b_.signal(memory_, finished_.raise);
      });
    });
  }

  /// The first block goes out from where it was finished, the others as they arrive.
  void all_gather() {
    b_.repeat(1, [&](Counter t) {
      b_.each_chunk([&](Counter k) {
        const Range leaving = block(1, t, k);
        if (out_.local()) {
          out_.push(b_.output(leaving), leaving);
        } else {
          b_.wait(send_, finished_.wait);
          b_.send(send_, b_.output(leaving), right_, channel_);
        }
        if (p_ == 2) gather(block(0, t, k), true);
        else gather(block(0, t, k), false);
      });
    });
    // Forwarding step t sends what step t−1 received.
    if (p_ <= 2) return;
    b_.repeat(p_ - 3, [&](Counter t) {
      b_.each_chunk([&](Counter k) {
        forward(block(0, t, k));
        gather(block(-1, t, k), false);
      });
    });
    b_.repeat(1, [&](Counter t) {
      b_.each_chunk([&](Counter k) {
        forward(block(3 - p_, t, k));
        gather(block(2 - p_, t, k), true);
      });
    });
  }

  void gather(const Range& coming, bool last) {
    if (in_.local()) {
      const Slice slot = in_.front(coming);
      if (!out_.local()) b_.wait(memory_, reusable_.wait);
      b_.copy(memory_, b_.output(coming), slot);
      in_.pop();
    } else {
      b_.wait(recv_, reusable_.wait);
      b_.recv(recv_, b_.output(coming), left_, channel_, last ? Raise{} : landed_.raise);
    }
  }

  void forward(const Range& leaving) {
    const Slice from = b_.output(leaving);
    if (in_.local() || out_.local()) {
      if (!in_.local()) b_.wait(memory_, landed_.wait);
      out_.push(from, leaving);
    } else {
      b_.wait(send_, landed_.wait);
      b_.send(send_, from, right_, channel_);
    }
  }

  Builder& b_;
  std::vector<Rank> order_;
  int p_, here_, first_block_;
  Rank right_;
  int channel_;
  LaneRef memory_, send_, recv_;
  Rank left_;
  Outbox out_;
  Inbox in_;
  Flag reusable_{};  // an element's partial sum has left the output
  Flag finished_{};  // a chunk of the own block is final; heard by the send lane
  Flag landed_{};    // an all-gather message is in the output
};

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  const int p = shape.ranks();
  if (p == 1) return alone(shape);
  Builder b(rank, shape, {.blocks = p * spec.channels, .chunks = true}, 2 * spec.channels);
  const int region = b.region(2 * spec.channels * spec.depth);
  for (int channel = 0; channel < spec.channels; ++channel) Ring(b, spec, channel, region).write();
  return b.finish();
}

Traffic traffic(const Shape& shape, const Spec&) {
  const int p = shape.ranks();
  return {.steps = 2 * (p - 1), .sent = 2.0 * (p - 1) / p};
}

double cost(const CostQuery& query) {
  const CostTerms terms(query);
  const int p = terms.ranks();
  if (p == 1) return terms.copy(terms.bytes());
  const double block = terms.bytes() / p;
  return (p - 1) * (terms.hop(block) + terms.hop(block, 1, false));
}

}  // namespace

Algorithm ring() {
  return {.name = "ring",
          .summary = "reduce-scatter and all-gather around a ring, node by node",
          .steps = "2(p−1)",
          .sent = "2n(p−1)/p",
          .source = "Patarasuk & Yuan 2009",
          .refuses = serves_all,
          .build = build,
          .traffic = traffic,
          .cost = cost};
}

}  // namespace umbel::algos::all_reduce
