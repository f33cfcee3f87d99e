// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Scatter and ring all-gather (van de Geijn).
//
// Idea. The root hands every other rank a block of its own, and the others hand all blocks around a ring. The root
// sends every byte once, and nobody sends more than it gets; there are p−1 steps, but of a block, not of the whole
// buffer as in a chain without chunks.
//
// Names. The others stand in a ring of q = p−1, node by node (ranks_from()), each with its `left` and `right`; `here`
// is a rank's position, and block `here` comes to it from the root. In step t it gets block here−t from the left, and
// hands on what it has got in the step before. Chunks are innermost, so they move on as soon as they are there. The
// root, which has everything, is not in the ring.
//
// Inside a node, messages go through slots of the sender's window, or, `direct`, are read in the sender's output, which
// stays until all has been read. Over a net they are sent from the output and received straight into it.
//
// Steps p−1; bytes sent by the root, the busiest rank, n. Any p, any shape, any size.
// Determinism: nothing is computed.
// Source: Barnett, Gupta, Payne, Shuler, van de Geijn & Watts, "Interprocessor collective communication library", 1994.
#include <algorithm>
#include <span>

#include "algos/broadcast/broadcast.hpp"
#include "algos/builder.hpp"
#include "algos/cost.hpp"
#include "algos/order.hpp"
#include "algos/stream.hpp"

namespace umbel::algos::broadcast {
namespace {

constexpr int kKinds = 2;  // of the root, and of a rank's left: other signallers

class Ring {
 public:
  Ring(Builder& b, const Spec& spec)
      : b_(b),
        spec_(spec),
        members_(ranks_from(b.shape(), spec.root)),
        memory_(b.memory_lane()),
        send_(b.net_lane()),
        recv_(b.net_lane()) {
    members_.erase(members_.begin());
    for (Rank rank : members_) mates_ += b_.shape().same_node(rank, spec_.root) ? 1 : 0;
    if (!spec_.direct) region_ = b_.region(std::max(1, mates_) * spec_.depth);
  }

  void write() {
    if (b_.rank() == spec_.root)
      scatter();
    else
      gather();
  }

 private:
  int count() const { return static_cast<int>(members_.size()); }
  Rank member(int at) const { return members_[static_cast<std::size_t>(modulo(at, count()))]; }

  /// @param number  of the streams that the sender shows
  StreamPlace place(Rank sender, int number) const {
    return {.peer = sender,
            .region = region_,
            .out_slot = number * spec_.depth,
            .depth = spec_.depth,
            .direct = spec_.direct};
  }
  /// Of the root's node-mates, the number of this one.
  int number_of(Rank mate) const {
    int number = 0;
    for (auto rank = members_.begin(); *rank != mate; ++rank) number += b_.shape().same_node(*rank, mate) ? 1 : 0;
    return number;
  }

  void scatter() {
    std::vector<Fanout> near;
    for (Rank rank : members_)
      if (b_.shape().same_node(rank, b_.rank()))
        near.emplace_back(b_, memory_, send_, place(b_.rank(), number_of(rank)), std::span(&rank, 1));
    const Flag ready = mates_ < count() ? b_.flag() : Flag{};
    b_.each_chunk([&](Counter k) {
      auto next = near.begin();
      for (int block = 0; block < count(); ++block) {
        const Range chunk{.block = fixed(block), .chunk = counted(k)};
        b_.copy(memory_, b_.output(chunk), b_.input(chunk));
        if (b_.shape().same_node(member(block), b_.rank())) {
          (next++)->push(b_.output(chunk), chunk);
        } else {
          b_.signal(memory_, ready.raise);
          b_.wait(send_, ready.wait);
          b_.send(send_, b_.output(chunk), member(block), 0);
        }
      }
    });
    for (Fanout& fanout : near) fanout.finish();
  }

  void gather() {
    const auto here = static_cast<int>(std::ranges::find(members_, b_.rank()) - members_.begin());
    const bool mate = b_.shape().same_node(b_.rank(), spec_.root);
    Landing from_root(b_, memory_, recv_, place(spec_.root, mate ? number_of(b_.rank()) : 0));
    const auto block = [&](Index index, Counter k) { return Range{.block = index, .chunk = counted(k)}; };
    if (count() == 1) {
      b_.each_chunk([&](Counter k) { from_root.take(block(fixed(0), k), false); });
      from_root.finish();
      return;
    }
    const Rank right = member(here + 1);
    Landing from_left(b_, memory_, recv_, place(member(here - 1), 0));
    Fanout to_right(b_, memory_, send_, place(b_.rank(), 0), std::span(&right, 1));
    const auto push = [&](const Range& range, Wait landed) { to_right.push(b_.output(range), range, landed); };
    // Each step hands on what came in the step before, then takes: so nobody waits for credits with nothing taken.
    Wait landed;
    b_.each_chunk([&](Counter k) {
      const Range own = block(fixed(here), k);
      push(own, from_root.take(own, true));
      landed = from_left.take(block(fixed(modulo(here - 1, count())), k), count() > 2);
    });
    b_.repeat(count() - 3, [&](Counter t) {
      b_.each_chunk([&](Counter k) {
        push(block(cyclic(t, -1, here - 1, count()), k), landed);
        from_left.take(block(cyclic(t, -1, here - 2, count()), k), true);
      });
    });
    if (count() > 2)
      b_.each_chunk([&](Counter k) {
        push(block(fixed((here + 2) % count()), k), landed);
        from_left.take(block(fixed((here + 1) % count()), k), false);
      });
    from_root.finish();
    from_left.finish();
    to_right.finish();
  }

  Builder& b_;
  const Spec& spec_;
  std::vector<Rank> members_;  // of the ring
  LaneRef memory_, send_, recv_;
  int mates_ = 0;  // of the root
  int region_ = -1;
};

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  const int p = shape.ranks();
  if (p == 1) return alone(shape, Collective::broadcast);
  Builder b(rank, shape, {.collective = Collective::broadcast, .root = spec.root, .blocks = p - 1, .chunks = true},
            kKinds);
  Ring(b, spec).write();
  return b.finish();
}

Traffic traffic(const Shape& shape, const Spec&) {
  const int p = shape.ranks();
  return {.steps = p - 1, .sent = p > 1 ? 1.0 : 0.0};
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  const int others = t.ranks() - 1;
  if (others == 0) return t.copy(t.bytes());
  const double block = t.bytes() / others;
  const double chunks = t.chunks(block), chunk = block / chunks;
  const int mates = static_cast<int>(query.shape.peers_of(query.spec.root).size()) - 1;
  const int remote = others - mates;
  const bool direct = query.spec.direct;
  const double shown = mates * ((direct ? 0.0 : t.copy(block)) + chunks * t.raise());
  const double read = direct ? t.read_direct(chunk) : t.read(chunk) + t.raise();
  // The last block leaves the root when all others have, and then goes around: its last chunk hop by hop, and behind
  // it, from the second hop on, the others that have waited for it.
  const double near = t.copy(t.bytes()) + shown + t.flight() + read;
  const double sent = std::max(t.post() / 2 + remote * t.wire(block), remote * chunks * t.post() / 2 + t.wire(chunk));
  const double far = t.copy(chunk) + t.message() + sent + t.post() / 2;
  const double slot = direct ? 0.0 : t.copy(chunk);
  const double local_hop = slot + t.raise() + t.flight() + read;
  const double hop = t.one_node() ? local_hop : std::max(mates > 0 ? local_hop : 0.0, t.net_hop(chunk, 1, 1, 0));
  const double hops = others > 1 ? hop + (others - 2) * chunks * hop : 0.0;
  // Nobody returns while its output is read.
  const double closing = direct && mates > 0 ? (others > 1 ? 2 : 1) * t.raise() + t.flight() : 0.0;
  const double around = std::max(mates > 0 ? near : 0.0, remote > 0 ? far : 0.0) + hops;
  // Or a rank of the root's node has most to do: with all blocks, from the first chunk on.
  const double taken = others * read + (others - 1) * (slot + t.raise());
  const double busy = mates > 0 ? t.copy(chunk) + local_hop - read + chunks * taken : 0.0;
  return std::max(around, busy) + closing;
}

}  // namespace

Algorithm scatter_all_gather() {
  return everywhere({.name = "scatter_all_gather",
                     .summary = "the root scatters blocks, the others hand them around a ring",
                     .steps = "p−1",
                     .sent = "n",
                     .source = "Barnett et al. 1994",
                     .collective = Collective::broadcast},
                    {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::broadcast
