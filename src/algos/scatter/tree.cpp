// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/scatter/tree.hpp"

#include <algorithm>

#include "algos/builder.hpp"
#include "algos/cost.hpp"

namespace umbel::algos::scatter {
namespace {

enum Kind { kFilled, kFree, kKinds };
constexpr int kChannel = 0;

/// Whether a child's shares go through its parent's slot.
bool through_slot(const RankTree& tree, const Shape& shape, Rank child) {
  const Rank parent = tree.parent(child);
  return parent != tree.root() || shape.same_node(parent, child) || !tree.leaf(child);
}

/// Where a child's shares begin in its parent's slot; what is behind the last, for −1. The own share comes first, but
/// at the root.
int place_of(const RankTree& tree, const Shape& shape, Rank parent, Rank child) {
  int place = parent == tree.root() ? 0 : 1;
  for (Rank other : tree.children(parent)) {
    if (other == child) break;
    if (through_slot(tree, shape, other)) place += tree.size(other);
  }
  return place;
}

/// Shares in the largest slot of any rank.
int most_packed(const RankTree& tree, const Shape& shape) {
  int most = place_of(tree, shape, tree.root(), -1);
  for (Rank child : tree.children(tree.root()))
    if (!tree.leaf(child)) most = std::max(most, tree.size(child));
  return most;
}

class TreeLanes {
 public:
  TreeLanes(Builder& b, const RankTree& tree, int depth)
      : b_(b), tree_(tree), depth_(depth), memory_(b.memory_lane()), receive_(b.net_lane()), send_(b.net_lane()) {
    const int most = most_packed(tree, b.shape());
    if (most > 0) region_ = b.region(depth, most, true);
    for (Rank child : tree.children(b.rank()))
      (local(child) ? near_ : through_slot(tree, b.shape(), child) ? far_ : straight_).push_back(child);
    for (auto* children : {&near_, &far_}) std::ranges::reverse(*children);  // those with the most below them first
    for (Rank child : near_) free_.push_back(b.hear(kFree, child, depth));
    if (far_.empty()) return;
    returned_ = b.flag(depth);
    ready_ = b.flag();
    free_.push_back(returned_.wait);
  }

  void write() {
    if (b_.rank() == tree_.root())
      write_root();
    else if (tree_.leaf(b_.rank()))
      write_leaf();
    else
      write_inner();
  }

 private:
  bool local(Rank peer) const { return b_.shape().same_node(b_.rank(), peer); }
  static Range share(Rank of, Counter k) { return {.block = fixed(of), .chunk = counted(k)}; }

  /// Chunk `k` of `count` shares from place `at` of the owner's slot.
  Slice packed(Rank owner, int at, int count, Counter k) const {
    return b_.window({.block = fixed(at), .blocks = count, .chunk = counted(k)}, owner, region_,
                     {.depth = depth_, .index = counted(k)});
  }
  int own_place_of(Rank child) const { return place_of(tree_, b_.shape(), b_.rank(), child); }

  void write_root() {
    const Rank rank = b_.rank();
    b_.each_chunk([&](Counter k) {
      for (Rank child : straight_) b_.send(send_, b_.input(share(child, k)), child, kChannel);
      for (Wait free : free_) b_.wait(memory_, free);
      for (const auto* children : {&far_, &near_}) {
        for (Rank child : *children) {
          int at = own_place_of(child);
          for (Rank of : tree_.subtree(child)) b_.copy(memory_, packed(rank, at++, 1, k), b_.input(share(of, k)));
          if (children == &near_) b_.signal(memory_, b_.tell(kFilled, child));
        }
        if (children == &far_) send_on(k);
      }
      b_.copy(memory_, b_.output(share(rank, k)), b_.input(share(rank, k)));
    });
  }

  /// To children of other nodes, from the slot.
  void send_on(Counter k) {
    if (far_.empty()) return;
    b_.signal(memory_, ready_.raise);
    b_.wait(send_, ready_.wait);
    for (Rank child : far_)
      b_.send(send_, packed(b_.rank(), own_place_of(child), tree_.size(child), k), child, kChannel,
              child == far_.back() ? returned_.raise : Raise{});
  }

  void write_inner() {
    const Rank rank = b_.rank(), parent = tree_.parent(rank);
    const Flag claimed = local(parent) ? Flag{} : b_.flag();
    const Flag arrived = local(parent) ? Flag{} : b_.flag();
    b_.each_chunk([&](Counter k) {
      for (Wait free : free_) b_.wait(memory_, free);
      if (claimed) {
        b_.signal(memory_, claimed.raise);
        b_.wait(receive_, claimed.wait);
        b_.recv(receive_, packed(rank, 0, tree_.size(rank), k), parent, kChannel, arrived.raise);
        b_.wait(memory_, arrived.wait);
      } else {
        const int at = place_of(tree_, b_.shape(), parent, rank), below = tree_.size(rank) - 1;
        b_.wait(memory_, b_.hear(kFilled, parent));
        b_.copy(memory_, packed(rank, 1, below, k), packed(parent, at + 1, below, k));
      }
      send_on(k);
      for (Rank child : near_) b_.signal(memory_, b_.tell(kFilled, child));
      if (claimed) {
        b_.copy(memory_, b_.output(share(rank, k)), packed(rank, 0, 1, k));
      } else {
        take(parent, k);
      }
    });
  }

  void write_leaf() {
    const Rank rank = b_.rank(), parent = tree_.parent(rank);
    b_.each_chunk([&](Counter k) {
      if (local(parent)) {
        b_.wait(memory_, b_.hear(kFilled, parent));
        take(parent, k);
      } else {
        b_.recv(receive_, b_.output(share(rank, k)), parent, kChannel);
      }
    });
  }

  /// The own share, from the slot of a parent of the node, which is done with then.
  void take(Rank parent, Counter k) {
    const int at = place_of(tree_, b_.shape(), parent, b_.rank());
    b_.copy(memory_, b_.output(share(b_.rank(), k)), packed(parent, at, 1, k));
    b_.signal(memory_, b_.tell(kFree, parent));
  }

  Builder& b_;
  const RankTree& tree_;
  int depth_, region_ = -1;
  LaneRef memory_, receive_, send_;
  std::vector<Rank> near_, far_, straight_;  // children: in the node, sent from the slot, sent from the input
  std::vector<Wait> free_;                   // who must have left a slot before it is used again
  Flag returned_{}, ready_{};
};

}  // namespace

Program build_tree(Rank rank, const Shape& shape, const Spec& spec, const RankTree& tree) {
  if (shape.ranks() == 1) return alone(shape, Collective::scatter);
  Builder b(rank, shape, {.collective = Collective::scatter, .root = spec.root, .chunks = true}, kKinds);
  TreeLanes(b, tree, spec.depth).write();
  return b.finish();
}

Traffic tree_traffic(const RankTree& tree) {
  return {.steps = tree.height(), .sent = static_cast<double>(tree.size(tree.root()) - 1)};
}

namespace {

/// Seconds from when a rank has a chunk of all that is below it until all have theirs, and how long the busiest of them
/// is busy with that.
struct Progress {
  double done = 0, busy = 0;
};

Progress progress_of(const CostQuery& query, const CostTerms& t, const RankTree& tree, Rank rank, double part) {
  Progress all{.done = t.copy(part), .busy = t.copy(part)};
  double steady = 0;
  const auto children = tree.children(rank);
  for (std::size_t n = children.size(); n-- > 0;) {
    const Rank child = children[n];
    const double bytes = tree.size(child) * part;
    const bool near = query.shape.same_node(rank, child);
    if (rank == tree.root() && through_slot(tree, query.shape, child)) all.busy += t.copy(bytes);
    all.busy += near ? 0.0 : t.post() + t.wire(bytes);
    const Progress below = progress_of(query, t, tree, child, part);
    const double arrival = near ? t.flag() + t.read(bytes) : t.message();
    all.done = std::max(all.done, all.busy + arrival + below.done);
    steady = std::max(steady, below.busy + (near ? t.flag() + t.read(bytes) : 0.0));
  }
  all.busy = std::max(all.busy, steady);
  return all;
}

}  // namespace

double tree_cost(const CostQuery& query, const RankTree& tree) {
  const CostTerms t(query);
  const double chunks = t.chunks(t.bytes());
  const Progress root = progress_of(query, t, tree, tree.root(), t.bytes() / chunks);
  return root.done + (chunks - 1) * root.busy;
}

}  // namespace umbel::algos::scatter
