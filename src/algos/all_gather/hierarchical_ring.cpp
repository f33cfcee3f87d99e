// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Hierarchical ring all-gather: the workhorse for large shares on several nodes.
//
// Idea. Every share must get into every other node once, and be copied by every rank there. So the nodes stand in a
// ring, and the ranks of a node, as owners of the rails, send shares around it side by side; whatever an owner gets it
// shows to its node-mates. Only the ring uses the network, it moves the fewest bytes possible over each node's link,
// and in the order of the tree of groups it crosses the border of each group once in and once out.
//
// Names. Rails and bundles: see lanes/rails.hpp. N nodes; step s of the ring sends the bundle of node here−s and
// receives that of node here−s−1, straight into the output. Steps go over chunks innermost. Lanes, which overlap:
//   publish  copies the own share to the output (`ready` to be sent), and shows it, and later what has landed, to the
//            mates: a copy in a window slot
//   gather   copies what the mates show into the output, in step with the ring: their own shares, then bundles. A share
//            of a rank that is left over is then `carried` by this rank
//   receive, send    the ring. What goes on waits only for itself
//   relay    hears what has `landed`, lets it go `onward`, and has it published: so a slow mate does not hold up the
//            ring. Without mates the send lane hears it
// With `direct` there are no slots: mates copy from the owner's output, and `left` is the closing.
//
// Steps N−1, one more where nodes have several ranks, another where a node has more ranks than there are rails; bytes
// that leave an owner of node A: its rail's bundles of all nodes but the next one, and those of all other nodes and its
// own share once for each of its mates. Any p on two nodes or more, uneven nodes and racks included, any size.
// Determinism: nothing is folded. Source: Thakur, Rabenseifner & Gropp 2005 for the ring; Traff, "Efficient allgather
// for regular SMP-clusters", 2006.
#include <algorithm>
#include <optional>
#include <vector>

#include "algos/all_gather/all_gather.hpp"
#include "algos/all_gather/exchange.hpp"
#include "algos/lanes/rails.hpp"
#include "algos/stream.hpp"

namespace umbel::algos::all_gather {
namespace {

enum Kind { kShown, kFree, kLeft, kKinds };

class Member {
 public:
  Member(Builder& b, const Spec& spec)
      : b_(b),
        rails_(b.shape()),
        place_(rails_, b.shape(), b.rank()),
        direct_(spec.direct),
        publish_(b.memory_lane()),
        relay_(direct_ ? publish_ : b.memory_lane()),
        gather_(b.memory_lane()),
        send_(b.net_lane()),
        recv_(b.net_lane()) {
    const bool shares_memory = b.shape().largest_node() > 1;
    const int region = !direct_ && shares_memory ? b.region(spec.depth) : -1;
    const StreamPlace shown{.kind = kShown, .region = region, .depth = spec.depth};
    if (!direct_ && !place_.mates.empty()) {
      if (place_.owns) publishable_ = b.flag();
      fanout_.emplace(b, publish_, LaneRef{}, shown, place_.mates);
      for (Rank mate : place_.mates) {
        StreamPlace from = shown;
        from.peer = mate;
        inboxes_.emplace_back(b, gather_, LaneRef{}, from);
      }
    }
    if (!place_.owns) return;
    ready_ = b.flag();
    if (rails_.bundle(place_.node, place_.rail).size() > 1) carried_ = b.flag();
    if (!place_.mates.empty() || rails_.nodes() > 2) landed_ = b.flag();
    if (!place_.mates.empty() && rails_.nodes() > 2) onward_ = b.flag();
  }

  void write() {
    for (int s = 0; s < rails_.nodes(); ++s)
      b_.each_chunk([&](Counter k) {
        if (s == 0) publish_own(k);
        if (place_.owns && s > 0) receive(s, k);
        gather(s, k);
        if (place_.owns && s + 1 < rails_.nodes()) send(s, k);
      });
    if (!direct_) return;
    for (Rank mate : place_.mates) b_.signal(gather_, b_.tell(kLeft, mate));
    for (Rank mate : place_.mates) b_.wait(gather_, b_.hear(kLeft, mate));
  }

 private:
  static Range share(Rank of, Counter k) { return {.block = fixed(of), .chunk = counted(k)}; }

  /// What is in the output, or will be when `after` is signalled, is shown to the mates.
  void publish(const Range& range, Wait after) {
    if (fanout_) {
      fanout_->push(b_.output(range), range, after);
    } else {
      for (Rank mate : place_.mates) b_.signal(publish_, b_.tell(kShown, mate));
    }
  }

  void publish_own(Counter k) {
    const Range own = share(b_.rank(), k);
    b_.copy(publish_, b_.output(own), b_.input(own));
    if (ready_) b_.signal(publish_, ready_.raise);
    publish(own, {});
  }

  void receive(int s, Counter k) {
    const bool last = s + 1 == rails_.nodes();
    const Rank left = rails_.owner(place_.node - 1, place_.rail);
    for (Rank rank : rails_.bundle(place_.node - s, place_.rail)) {
      const Range range = share(rank, k);
      const bool heard = !last || !place_.mates.empty();
      b_.recv(recv_, b_.output(range), left, 0, heard ? landed_.raise : Raise{});
      if (place_.mates.empty()) continue;
      b_.wait(relay_, landed_.wait);
      if (!last) b_.signal(relay_, onward_.raise);
      if (!direct_) b_.signal(relay_, publishable_.raise);
      publish(range, publishable_.wait);
    }
  }

  void send(int s, Counter k) {
    const Rank right = rails_.owner(place_.node + 1, place_.rail);
    for (Rank rank : rails_.bundle(place_.node - s, place_.rail)) {
      const Flag& there = s > 0 ? (onward_ ? onward_ : landed_) : rank == b_.rank() ? ready_ : carried_;
      b_.wait(send_, there.wait);
      b_.send(send_, b_.output(share(rank, k)), right, 0);
    }
  }

  /// Mates come beginning after the own rank, so the ranks left over that this one carries come in their order. Of each
  /// mate one share comes at a time: a mate shows no more of them than it has slots before all have copied one.
  void gather(int s, Counter k) {
    for (std::size_t nth = 0; nth < (s == 0 ? 1 : static_cast<std::size_t>(rails_.largest_bundle())); ++nth) {
      for (std::size_t m = 0; m < place_.mates.size(); ++m) {
        const Rank mate = place_.mates[m];
        const int index = b_.shape().local_index(mate);
        if (s == 0) {
          copy(m, share(mate, k));
          if (place_.owns && index % rails_.count() == place_.rail) b_.signal(gather_, carried_.raise);
        } else if (index < rails_.count()) {
          const std::vector<Rank> bundle = rails_.bundle(place_.node - s, index);
          if (nth < bundle.size()) copy(m, share(bundle[nth], k));
        }
      }
    }
  }

  void copy(std::size_t m, const Range& range) {
    if (direct_) {
      b_.wait(gather_, b_.hear(kShown, place_.mates[m]));
      b_.copy(gather_, b_.output(range), b_.output(range, place_.mates[m]));
    } else {
      b_.copy(gather_, b_.output(range), inboxes_[m].front(range));
      inboxes_[m].pop();
    }
  }

  Builder& b_;
  Rails rails_;
  RailPlace place_;
  bool direct_;
  LaneRef publish_, relay_, gather_, send_, recv_;
  std::optional<Fanout> fanout_;
  std::vector<Inbox> inboxes_;  // by mate
  Flag ready_{}, carried_{};    // a chunk of the own share, or of one that this rank carries, is in the output
  Flag landed_{};               // a chunk has been received
  Flag onward_{};               // the same for the send lane, where `landed_` is heard by the relay lane
  Flag publishable_{};          // the same for the publish lane
};

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  Builder b(rank, shape, {.collective = Collective::all_gather, .chunks = true}, kKinds);
  Member(b, spec).write();
  return b.finish();
}

/// Shares that leave a rank: over the network, and read by its mates.
double sent_by(const Rails& rails, const Shape& shape, Rank rank) {
  const RailPlace place(rails, shape, rank);
  const auto mates = static_cast<double>(place.mates.size());
  double sent = mates;
  if (!place.owns) return sent;
  for (int s = 0; s < rails.nodes(); ++s) {
    const auto bundle = static_cast<double>(rails.bundle(place.node - s, place.rail).size());
    if (s + 1 < rails.nodes()) sent += bundle;
    if (s > 0) sent += bundle * mates;
  }
  return sent;
}

Traffic traffic(const Shape& shape, const Spec&) {
  const Rails rails(shape);
  Traffic traffic{.steps = rails.farthest(true)};
  for (Rank rank = 0; rank < shape.ranks(); ++rank) traffic.sent = std::max(traffic.sent, sent_by(rails, shape, rank));
  return traffic;
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  if (query.shape.largest_node() == 1) return net_ring_cost(query, t.nodes());
  const Rails rails(query.shape);
  const double n = t.bytes(), chunks = t.chunks(n);
  const int bundle = rails.largest_bundle(), mates = query.shape.largest_node() - 1;
  const double ring = (t.nodes() - 1) * t.net_hop(n * bundle, chunks * bundle, rails.count(), 0);
  // Of all shares a rank publishes those of its rail, and copies the others from its mates.
  const double published = n * t.nodes() * bundle, rest = n * std::max(0, t.ranks() - t.nodes() * bundle);
  const double units = chunks * t.nodes() * bundle;
  double inner = t.copy(n);
  if (mates > 0 && query.spec.direct) inner += units * t.flags(mates) + t.read_direct(rest);
  if (mates > 0 && !query.spec.direct) inner += 2 * units * t.flags(mates) + t.copy(published) + t.read(rest);
  return std::max(ring, inner) + inner / units;
}

}  // namespace

Algorithm hierarchical_ring() {
  return on_several_nodes({.name = "hierarchical_ring",
                           .summary = "a ring of nodes on all ranks' rails, and everyone copies in the node",
                           .steps = "N−1, + 1 or 2 inside nodes",
                           .sent = "n(N−1) over the network, n(N(S−1)) read by node-mates",
                           .source = "Thakur, Rabenseifner & Gropp 2005; Träff 2006",
                           .collective = Collective::all_gather,
                           .unequal = Unequal::staged},
                          {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::all_gather
