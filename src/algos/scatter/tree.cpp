// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/scatter/tree.hpp"

#include <algorithm>

#include "algos/builder.hpp"
#include "algos/schedule.hpp"

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

using Task = Schedule::Task;

/// The tasks of the lanes above.
class Tasks {
 public:
  Tasks(const CostQuery& query, const RankTree& tree, Schedule& schedule)
      : shape_(query.shape),
        tree_(tree),
        s_(schedule),
        t_(schedule.terms()),
        lanes_(static_cast<std::size_t>(query.shape.ranks())),
        took_(lanes_.size()) {}

  void pass(double chunk) {
    chunk_ = chunk;
    const Rank root = tree_.root();
    const auto [near, far, straight] = children(root);
    if (!far.empty()) {
      const Task packed = claim(root, near, t_.copy(shares(far) * chunk), shares(far) * chunk);
      for (Rank child : straight) s_.send(root, child, chunk);
      for (Rank child : far) scatter(child, s_.send(root, child, tree_.size(child) * chunk, packed));
    }
    std::vector<Task> shown;
    for (Rank child : near)
      shown.push_back(claim(root, near, t_.copy(tree_.size(child) * chunk) + t_.raise(), tree_.size(child) * chunk));
    lane(root).next(s_, s_.work(root, t_.copy(chunk), chunk));
    if (far.empty())
      for (Rank child : straight) s_.send(root, child, chunk);
    for (std::size_t k = 0; k < near.size(); ++k) scatter_near(near[k], shown[k], t_.flight());
  }

 private:
  struct Children {
    std::vector<Rank> near, far, straight;  // in the node, sent from the slot, sent from the input
  };

  LaneOf& lane(Rank rank) { return lanes_[static_cast<std::size_t>(rank)]; }
  /// When the rank has taken its share of each chunk.
  std::vector<Task>& took(Rank rank) { return took_[static_cast<std::size_t>(rank)]; }

  Children children(Rank rank) const {
    Children all;
    for (Rank child : tree_.children(rank)) {
      const bool near = shape_.same_node(rank, child);
      (near ? all.near : through_slot(tree_, shape_, child) ? all.far : all.straight).push_back(child);
    }
    std::ranges::reverse(all.near);
    std::ranges::reverse(all.far);
    return all;
  }
  int shares(const std::vector<Rank>& ranks) const {
    int all = 0;
    for (Rank rank : ranks) all += tree_.size(rank);
    return all;
  }

  /// Work on a slot that all of `mates` have left.
  Task claim(Rank rank, const std::vector<Rank>& mates, double seconds, double bytes) {
    const Task task = lane(rank).next(s_, s_.work(rank, seconds, bytes));
    for (Rank mate : mates) s_.reuse(task, took(mate));
    return task;
  }

  /// `there`: a message is in the rank's slot, or, of a leaf, in its output.
  void scatter(Rank rank, Task there) {
    if (tree_.leaf(rank)) return;
    const Task shown = hand_on(rank, there, 0, 0);
    const double later = t_.flight() - static_cast<double>(children(rank).near.size()) * t_.raise();
    lane(rank).next(s_, s_.work(rank, t_.copy(chunk_)));
    finish(rank, shown, later);
  }

  /// From the parent's slot, `later` after the end of `shown`.
  void scatter_near(Rank rank, Task there, double later) {
    Task shown = Schedule::kNone;
    if (!tree_.leaf(rank)) shown = hand_on(rank, there, later, t_.read((tree_.size(rank) - 1) * chunk_));
    const Task own = lane(rank).next(s_, s_.work(rank, t_.read(chunk_) + t_.raise()));
    if (tree_.leaf(rank)) s_.after(own, there, later);
    took(rank).push_back(own);
    if (shown != Schedule::kNone)
      finish(rank, shown, t_.flight() - static_cast<double>(children(rank).near.size()) * t_.raise());
  }

  /// Takes what is for the ranks below, which takes `seconds`, and shows it to the node-mates among them.
  Task hand_on(Rank rank, Task there, double later, double seconds) {
    const auto [near, far, straight] = children(rank);
    const Task shown = claim(rank, near, seconds + static_cast<double>(near.size()) * t_.raise(), 0);
    s_.after(shown, there, later);
    return shown;
  }

  void finish(Rank rank, Task shown, double later) {
    const auto [near, far, straight] = children(rank);
    for (Rank child : far) scatter(child, s_.send(rank, child, tree_.size(child) * chunk_, shown));
    for (std::size_t k = 0; k < near.size(); ++k)
      scatter_near(near[k], shown, later + static_cast<double>(k + 1) * t_.raise());
  }

  const Shape& shape_;
  const RankTree& tree_;
  Schedule& s_;
  const CostTerms& t_;
  double chunk_ = 0;
  std::vector<LaneOf> lanes_;
  std::vector<std::vector<Task>> took_;
};

}  // namespace

double tree_cost(const CostQuery& query, const RankTree& tree) {
  const CostTerms t(query);
  if (t.ranks() == 1) return t.copy(t.bytes());
  return pipelined(query, t.bytes(), static_cast<std::size_t>(t.ranks()),
                   [&](Schedule& schedule, const std::vector<double>& chunks) {
                     Tasks tasks(query, tree, schedule);
                     for (const double chunk : chunks) tasks.pass(chunk);
                   });
}

}  // namespace umbel::algos::scatter
