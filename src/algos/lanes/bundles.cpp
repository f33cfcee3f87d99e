// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/lanes/bundles.hpp"

#include <algorithm>

namespace umbel::algos {
namespace {

enum Kind { kFilled, kFree, kShown, kRead };
constexpr int kChannel = 0;

bool has(const std::vector<Rank>& ranks, Rank rank) { return std::ranges::find(ranks, rank) != ranks.end(); }

class Bundles {
 public:
  Bundles(Builder& b, int first_kind, int depth, const BundleStreams& streams)
      : b_(b),
        first_kind_(first_kind),
        depth_(depth),
        streams_(streams),
        region_(b.region(2 * depth, streams.most)),
        give_(b.memory_lane()),
        recycle_(b.memory_lane()),
        show_(b.memory_lane()),
        take_(b.memory_lane()),
        send_(b.net_lane()),
        receive_(b.net_lane()) {
    for (const BundleStream& stream : streams.sent)
      if (stream.sender == b.rank() && !filled_) filled_ = b.flag(), free_ = b.flag(depth), returned_ = b.flag();
    for (const BundleStream& stream : streams.received)
      if (stream.receiver == b.rank() && !arrived_) arrived_ = b.flag(), shown_ = b.flag(), read_ = b.flag(depth);
  }

  void write() {
    for (const BundleStream& stream : streams_.sent) {
      const BundleRef bundle = b_.bundle(stream.items);
      b_.each_chunk_of(bundle, [&](Counter k) {
        if (has(stream.owners, b_.rank())) give(stream, bundle, k);
        if (stream.sender == b_.rank()) send(stream, bundle, k);
      });
    }
    for (const BundleStream& stream : streams_.received) {
      const BundleRef bundle = b_.bundle(stream.items);
      b_.each_chunk_of(bundle, [&](Counter k) {
        if (stream.receiver == b_.rank()) receive(stream, bundle, k);
        if (has(stream.owners, b_.rank())) take(stream, bundle, k);
      });
    }
  }

 private:
  // A semaphore of this rank on which it hears a node-mate, or itself by a flag; or one that it raises.
  Wait hear(Kind kind, Rank mate, const Flag& own, int credits = 0) {
    return mate == b_.rank() ? own.wait : b_.hear(first_kind_ + kind, mate, credits);
  }
  Raise tell(Kind kind, Rank mate, const Flag& own) {
    return mate == b_.rank() ? own.raise : b_.tell(first_kind_ + kind, mate);
  }
  bool alone(const std::vector<Rank>& ranks) const { return ranks.size() == 1 && ranks.front() == b_.rank(); }

  /// Slots go by the signals that whoever uses them has waited for: all count the same chunks.
  SlotRef out_slot(Wait turn) const { return {.base = 0, .depth = depth_, .sem = turn.sem}; }
  SlotRef in_slot(Wait turn) const { return {.base = depth_, .depth = depth_, .sem = turn.sem}; }

  void give(const BundleStream& stream, BundleRef bundle, Counter k) {
    const Wait free = hear(kFree, stream.sender, free_, depth_);
    b_.wait(give_, free);
    for (int n = 0; n < bundle.items; ++n) {
      const BundleItem& item = stream.items[static_cast<std::size_t>(n)];
      if (item.owner == b_.rank())
        b_.copy(give_, b_.bundled({bundle, n, 1, k}, stream.sender, region_, out_slot(free)),
                b_.bundled({bundle, n, 1, k}, Buffer::input, item.share));
    }
    b_.signal(give_, tell(kFilled, stream.sender, filled_));
  }

  void send(const BundleStream& stream, BundleRef bundle, Counter k) {
    const std::vector<Rank>& givers = stream.owners;
    for (Rank giver : givers) b_.wait(send_, hear(kFilled, giver, filled_));
    const Slice chunk =
        b_.bundled({bundle, 0, bundle.items, k}, b_.rank(), region_, out_slot(hear(kFilled, givers.back(), filled_)));
    b_.send(send_, chunk, stream.receiver, kChannel, alone(givers) ? free_.raise : returned_.raise);
    if (alone(givers)) return;
    b_.wait(recycle_, returned_.wait);
    for (Rank giver : givers) b_.signal(recycle_, tell(kFree, giver, free_));
  }

  void receive(const BundleStream& stream, BundleRef bundle, Counter k) {
    const std::vector<Rank>& takers = stream.owners;
    for (Rank taker : takers) b_.wait(receive_, hear(kRead, taker, read_, depth_));
    const Slice chunk = b_.bundled({bundle, 0, bundle.items, k}, b_.rank(), region_,
                                   in_slot(hear(kRead, takers.back(), read_, depth_)));
    b_.recv(receive_, chunk, stream.sender, kChannel, alone(takers) ? shown_.raise : arrived_.raise);
    if (alone(takers)) return;
    b_.wait(show_, arrived_.wait);
    for (Rank taker : takers) b_.signal(show_, tell(kShown, taker, shown_));
  }

  void take(const BundleStream& stream, BundleRef bundle, Counter k) {
    const Wait shown = hear(kShown, stream.receiver, shown_);
    b_.wait(take_, shown);
    for (int n = 0; n < bundle.items; ++n) {
      const BundleItem& item = stream.items[static_cast<std::size_t>(n)];
      if (item.owner == b_.rank())
        b_.copy(take_, b_.bundled({bundle, n, 1, k}, Buffer::output, item.share),
                b_.bundled({bundle, n, 1, k}, stream.receiver, region_, in_slot(shown)));
    }
    b_.signal(take_, tell(kRead, stream.receiver, read_));
  }

  Builder& b_;
  int first_kind_, depth_;
  const BundleStreams& streams_;
  int region_;
  LaneRef give_, recycle_, show_, take_, send_, receive_;
  Flag filled_{}, free_{}, returned_{}, arrived_{}, shown_{}, read_{};
};

}  // namespace

void write_bundles(Builder& builder, int first_kind, int depth, const BundleStreams& streams) {
  if (streams.most > 0) Bundles(builder, first_kind, depth, streams).write();
}

}  // namespace umbel::algos
