// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Bruck's all-to-all: for small messages among many ranks.
//
// Idea. A share for the rank i places further on goes there in hops of 1, 2, 4, … places, one for each bit that is set
// in i. In step k a rank sends all that it holds with bit k set as one message to the rank 2^k places further on: log₂
// p messages instead of p−1, and half of all shares in each.
//
// Names. Places count the ranks node by node, so that the first steps stay inside nodes. Item i is the share at this
// rank that travels i places in all. Step k packs chunks of its items, in ascending order, in a window slot; what
// arrives is read from the slot it arrived in, the sender's on the same node, by the steps that send it on, or, when no
// bit is left, to be copied to the output. The chunk loop is the outermost, so that a slot holds at most a chunk of
// half of the shares; a step's slot is used again for the next chunk when all that was in it has gone on.
//
// Steps ⌊log₂ p⌋; bytes that leave a rank n for each bit set in 1 … p−1, about n·p/2·log₂ p, of n a share. Any p, any
// shape. Determinism: data is moved only.
// Source: Bruck et al., "Efficient algorithms for all-to-all communications in multiport message-passing systems",
// 1997.
#include <algorithm>
#include <bit>
#include <vector>

#include "algos/all_to_all/all_to_all.hpp"
#include "algos/builder.hpp"
#include "algos/cost.hpp"
#include "algos/order.hpp"

namespace umbel::algos::all_to_all {
namespace {

enum Kind { kFilled, kFree, kKinds };
constexpr int kChannel = 0;

unsigned bits(int n) { return static_cast<unsigned>(n); }

/// The items that step `k` sends.
std::vector<int> items_of(int k, int p) {
  std::vector<int> items;
  for (int i = 1 << k; i < p; ++i)
    if ((bits(i) >> k & 1U) != 0) items.push_back(i);
  return items;
}

int most_items(int p) {
  std::size_t most = 0;
  for (int k = 0; k < ceil_log2(p); ++k) most = std::max(most, items_of(k, p).size());
  return static_cast<int>(most);
}

class Bruck {
 public:
  explicit Bruck(Builder& b)
      : b_(b),
        p_(b.shape().ranks()),
        order_(ranks_in_order(b.shape())),
        here_(static_cast<int>(std::ranges::find(order_, b.rank()) - order_.begin())),
        region_(b.region(2 * ceil_log2(p_), most_items(p_), true)),
        memory_(b.memory_lane()),
        send_(b.net_lane()),
        receive_(b.net_lane()) {
    for (int k = 0; k < ceil_log2(p_); ++k)
      steps_.push_back({.to = at(here_ + (1 << k)), .from = at(here_ - (1 << k)), .items = items_of(k, p_)});
    for (const Step& step : steps_) {
      if (!local(step.to)) last_to_ = step.to;
      if (!local(step.from)) last_from_ = step.from;
    }
    if (last_to_ >= 0) ready_ = b.flag(), returned_ = b.flag(1);
    if (last_from_ >= 0) again_ = b.flag(1), arrived_ = b.flag();
  }

  void write() {
    b_.each_chunk([&](Counter chunk) {
      chunk_ = chunk;
      b_.copy(memory_, b_.output(share(b_.rank())), b_.input(share(b_.rank())));
      if (last_to_ >= 0) b_.wait(memory_, returned_.wait);
      if (last_from_ >= 0) b_.wait(receive_, again_.wait);
      for (int k = 0; k < static_cast<int>(steps_.size()); ++k) {
        send(k);
        receive(k);
      }
      for (int k = 0; k < static_cast<int>(steps_.size()); ++k)
        if (const Rank from = step(k).from; local(from) && !answers(k, from, steps_.back().to))
          b_.signal(memory_, b_.tell(kFree, from));
      if (last_from_ >= 0) b_.signal(memory_, again_.raise);
    });
  }

 private:
  struct Step {
    Rank to = -1, from = -1;
    std::vector<int> items;
  };

  bool local(Rank peer) const { return b_.shape().same_node(b_.rank(), peer); }
  Rank at(int place) const { return order_[static_cast<std::size_t>(modulo(place, p_))]; }
  const Step& step(int k) const { return steps_[static_cast<std::size_t>(k)]; }
  Range share(Rank of) const { return {.block = fixed(of), .chunk = counted(chunk_)}; }

  /// Items from place `first` of a slot: even slots are for what a rank packs, odd ones for what arrives from the net.
  Slice slot(Rank owner, int number, int first, int count) const {
    return b_.window({.block = fixed(first), .blocks = count, .chunk = counted(chunk_)}, owner, region_,
                     {.base = number});
  }
  Slice packed(int k, int first, int count) const { return slot(b_.rank(), 2 * k, first, count); }
  /// What has arrived in step k.
  Slice held(int k, int first) const {
    const Rank from = step(k).from;
    return local(from) ? slot(from, 2 * k, first, 1) : slot(b_.rank(), 2 * k + 1, first, 1);
  }

  /// Whether the two ends of step `k` meet in the last step again, the other way round: that message then says that
  /// what was sent in step `k` has been read.
  bool answers(int k, Rank peer, Rank last) const { return k + 1 < static_cast<int>(steps_.size()) && peer == last; }

  /// Where item `i` lies before step `k`: where it came to in the step of the highest bit below, or in the input.
  Slice item(int i, int k) const {
    const unsigned gone = bits(i) & ((1U << k) - 1);
    if (gone == 0) return b_.input(share(at(here_ + i)));
    const int before = floor_log2(static_cast<int>(gone));
    const auto& items = step(before).items;
    return held(before, static_cast<int>(std::ranges::find(items, i) - items.begin()));
  }

  void send(int k) {
    const auto& [to, from, items] = step(k);
    const int count = static_cast<int>(items.size());
    if (local(to) && !answers(k, to, steps_.back().from)) b_.wait(memory_, b_.hear(kFree, to, 1));
    for (int n = 0; n < count; ++n) b_.copy(memory_, packed(k, n, 1), item(items[static_cast<std::size_t>(n)], k));
    if (local(to)) {
      b_.signal(memory_, b_.tell(kFilled, to));
      return;
    }
    b_.signal(memory_, ready_.raise);
    b_.wait(send_, ready_.wait);
    b_.send(send_, packed(k, 0, count), to, kChannel, to == last_to_ ? returned_.raise : Raise{});
  }

  void receive(int k) {
    const auto& [to, from, items] = step(k);
    if (local(from)) {
      b_.wait(memory_, b_.hear(kFilled, from));
    } else {
      b_.recv(receive_, slot(b_.rank(), 2 * k + 1, 0, static_cast<int>(items.size())), from, kChannel, arrived_.raise);
      b_.wait(memory_, arrived_.wait);
    }
    for (int n = 0; n < static_cast<int>(items.size()); ++n) {
      const int i = items[static_cast<std::size_t>(n)];
      if (floor_log2(i) == k) b_.copy(memory_, b_.output(share(at(here_ - i))), held(k, n));
    }
  }

  Builder& b_;
  int p_;
  std::vector<Rank> order_;
  int here_, region_;
  LaneRef memory_, send_, receive_;
  std::vector<Step> steps_;
  Rank last_to_ = -1, last_from_ = -1;  // of the last step over a net
  Flag ready_{}, returned_{};           // a step is packed; all packed steps have left
  Flag again_{}, arrived_{};            // all that arrived has gone on; a step has arrived
  Counter chunk_{};
};

Program build(Rank rank, const Shape& shape, const Spec&) {
  if (shape.ranks() == 1) return alone(shape, Collective::all_to_all);
  Builder b(rank, shape, {.collective = Collective::all_to_all, .chunks = true}, kKinds);
  Bruck(b).write();
  return b.finish();
}

Traffic traffic(const Shape& shape, const Spec&) {
  const int p = shape.ranks();
  int hops = 0;
  for (int i = 1; i < p; ++i) hops += std::popcount(bits(i));
  return {.steps = p > 1 ? floor_log2(p) : 0, .sent = static_cast<double>(hops)};
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  const int p = t.ranks();
  const int mates = query.shape.largest_node();
  const double chunks = t.chunks(t.bytes());
  const double part = t.bytes() / chunks;
  const int steps = ceil_log2(p);
  const double spill = t.spill(steps * most_items(p) * part);
  // What has arrived lies in a node-mate's window, or, from the net, in the own one.
  const double held = mates > 1 ? t.read(part) * spill : t.copy(part) * spill;
  double time = t.copy(part) + (p - 1) * held;  // the own share; at last, those of all others
  for (int k = 0; k < steps; ++k) {
    const std::vector<int> items = items_of(k, p);
    const auto fresh = std::ranges::count_if(items, [&](int i) { return (bits(i) & ((1U << k) - 1)) == 0; });
    const auto moved = static_cast<double>(items.size());
    // As many ranks of a node reach beyond it as the step goes places.
    const int beyond = t.one_node() ? 0 : std::min(1 << k, mates);
    const double message = t.message() + beyond * t.post() + t.wire(moved * part, beyond);
    time += static_cast<double>(fresh) * t.copy(part) * spill + (moved - static_cast<double>(fresh)) * held;
    // A flag that it is there, one that it has been read.
    time += beyond == 0 ? t.flag() + t.raise() : message;
  }
  // The last step's message may say that another step's has been read.
  if (steps > 1 && t.one_node() && p != 1 << steps && std::has_single_bit(bits(p - (1 << (steps - 1)))))
    time -= t.raise();
  return chunks * time;
}

}  // namespace

Algorithm bruck() {
  return everywhere({.name = "bruck",
                     .summary = "shares travel in hops of 1, 2, 4, … places, those of a step as one message",
                     .steps = "⌊log₂ p⌋",
                     .sent = "about n·p/2·log₂ p",
                     .source = "Bruck et al. 1997",
                     .collective = Collective::all_to_all},
                    {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::all_to_all
