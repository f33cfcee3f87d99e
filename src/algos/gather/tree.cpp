// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/gather/tree.hpp"

#include <algorithm>

#include "algos/builder.hpp"
#include "algos/schedule.hpp"

namespace umbel::algos::gather {
namespace {

enum Kind { kFilled, kFree, kKinds };
constexpr int kChannel = 0;

class TreeLanes {
 public:
  TreeLanes(Builder& b, const RankTree& tree, int depth)
      : b_(b),
        tree_(tree),
        depth_(depth),
        region_(b.region(depth, tree.largest(), true)),
        memory_(b.memory_lane()),
        receive_(b.net_lane()),
        send_(b.net_lane()) {
    for (Rank child : tree.children(b.rank())) (local(child) ? near_ : far_).push_back(child);
  }

  void write() {
    const Rank rank = b_.rank();
    if (rank == tree_.root()) {
      write_root();
    } else if (!near_.empty() || !far_.empty() || local(tree_.parent(rank))) {
      write_packer();
    } else {
      b_.each_chunk([&](Counter k) { b_.send(send_, b_.input(share(rank, k)), tree_.parent(rank), kChannel); });
    }
  }

 private:
  bool local(Rank peer) const { return b_.shape().same_node(b_.rank(), peer); }
  static Range share(Rank of, Counter k) { return {.block = fixed(of), .chunk = counted(k)}; }

  /// Chunk `k` of `count` shares from place `at` of a slot.
  Slice packed(Rank owner, int at, int count, Counter k, SlotRef slot) const {
    return b_.window({.block = fixed(at), .blocks = count, .chunk = counted(k)}, owner, region_, slot);
  }
  SlotRef turn(Counter k) const { return {.depth = depth_, .index = counted(k)}; }
  SlotRef turn(Wait by) const { return {.depth = depth_, .sem = by.sem}; }

  /// Where a child's shares begin in the own slot.
  int place_of(Rank child) const {
    int place = 1;
    for (Rank other : tree_.children(b_.rank())) {
      if (other == child) break;
      place += tree_.size(other);
    }
    return place;
  }

  void write_packer() {
    const Rank rank = b_.rank(), parent = tree_.parent(rank);
    const bool shows = local(parent);
    const Flag ready = shows ? Flag{} : b_.flag();
    const Flag returned = shows ? Flag{} : b_.flag(depth_);
    const Wait free = shows ? b_.hear(kFree, parent, depth_) : returned.wait;
    const Flag claimed = far_.empty() ? Flag{} : b_.flag();
    const Flag arrived = far_.empty() ? Flag{} : b_.flag();
    b_.each_chunk([&](Counter k) {
      b_.wait(memory_, free);
      if (claimed) receive(k, claimed, arrived);
      b_.copy(memory_, packed(rank, 0, 1, k, turn(k)), b_.input(share(rank, k)));
      for (Rank child : near_) {
        const int size = tree_.size(child);
        b_.wait(memory_, b_.hear(kFilled, child));
        b_.copy(memory_, packed(rank, place_of(child), size, k, turn(k)), packed(child, 0, size, k, turn(k)));
        b_.signal(memory_, b_.tell(kFree, child));
      }
      if (arrived) b_.wait(memory_, arrived.wait);
      if (shows) {
        b_.signal(memory_, b_.tell(kFilled, parent));
        return;
      }
      b_.signal(memory_, ready.raise);
      b_.wait(send_, ready.wait);
      b_.send(send_, packed(rank, 0, tree_.size(rank), k, turn(k)), parent, kChannel, returned.raise);
    });
  }

  /// From all children of other nodes, into the slot.
  void receive(Counter k, const Flag& claimed, const Flag& arrived) {
    b_.signal(memory_, claimed.raise);
    b_.wait(receive_, claimed.wait);
    for (Rank child : far_)
      b_.recv(receive_, packed(b_.rank(), place_of(child), tree_.size(child), k, turn(k)), child, kChannel,
              child == far_.back() ? arrived.raise : Raise{});
  }

  void write_root() {
    const Rank rank = b_.rank();
    const bool unpacks = std::ranges::any_of(far_, [&](Rank child) { return !tree_.leaf(child); });
    const Flag credits = unpacks ? b_.flag(depth_) : Flag{};
    const Flag arrived = unpacks ? b_.flag() : Flag{};
    b_.each_chunk([&](Counter k) {
      b_.copy(memory_, b_.output(share(rank, k)), b_.input(share(rank, k)));
      for (Rank child : near_) {
        b_.wait(memory_, b_.hear(kFilled, child));
        unpack(child, child, k, turn(k));
        b_.signal(memory_, b_.tell(kFree, child));
      }
      for (Rank child : far_) {
        if (tree_.leaf(child)) {
          b_.recv(receive_, b_.output(share(child, k)), child, kChannel);
          continue;
        }
        b_.wait(receive_, credits.wait);
        b_.recv(receive_, packed(rank, 0, tree_.size(child), k, turn(credits.wait)), child, kChannel, arrived.raise);
        b_.wait(memory_, arrived.wait);
        unpack(child, rank, k, turn(arrived.wait));
        b_.signal(memory_, credits.raise);
      }
    });
  }

  void unpack(Rank child, Rank owner, Counter k, SlotRef slot) {
    int at = 0;
    for (Rank of : tree_.subtree(child)) b_.copy(memory_, b_.output(share(of, k)), packed(owner, at++, 1, k, slot));
  }

  Builder& b_;
  const RankTree& tree_;
  int depth_, region_;
  LaneRef memory_, receive_, send_;
  std::vector<Rank> near_, far_;  // children
};

}  // namespace

Program build_tree(Rank rank, const Shape& shape, const Spec& spec, const RankTree& tree) {
  if (shape.ranks() == 1) return alone(shape, Collective::gather);
  Builder b(rank, shape, {.collective = Collective::gather, .root = spec.root, .chunks = true}, kKinds);
  TreeLanes(b, tree, spec.depth).write();
  return b.finish();
}

Traffic tree_traffic(const RankTree& tree) {
  return {.steps = tree.height(), .sent = static_cast<double>(tree.largest())};
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
        read_(lanes_.size()) {}

  void pass(double chunk) {
    chunk_ = chunk;
    gather(tree_.root());
  }

 private:
  bool local(Rank rank) const { return rank != tree_.root() && shape_.same_node(rank, tree_.parent(rank)); }
  LaneOf& lane(Rank rank) { return lanes_[static_cast<std::size_t>(rank)]; }
  std::vector<Task>& read(Rank rank) { return read_[static_cast<std::size_t>(rank)]; }

  /// @return the task at whose end the rank's parent may take what is below the rank
  Task gather(Rank rank) {
    const bool root = rank == tree_.root(), packs = !tree_.leaf(rank) || local(rank);
    std::vector<Task> there;
    for (Rank child : tree_.children(rank)) there.push_back(gather(child));
    if (!packs && !root) return s_.send(rank, tree_.parent(rank), chunk_);
    const Task own = lane(rank).next(s_, s_.work(rank, t_.copy(chunk_), chunk_));
    if (local(rank)) s_.reuse(own, read(rank));
    std::vector<Task> arrived;
    for (std::size_t k = 0; k < there.size(); ++k) {
      const Rank child = tree_.children(rank)[k];
      if (local(child))
        take(rank, child, there[k]);
      else if (!root || !tree_.leaf(child))
        arrived.push_back(there[k]);
      if (root && !local(child) && !tree_.leaf(child)) unpack(rank, child, there[k]);
    }
    if (root) return own;
    const Task whole = lane(rank).next(s_, s_.work(rank, local(rank) ? t_.raise() : 0));
    for (const Task task : arrived) s_.after(whole, task);
    return local(rank) ? whole : s_.send(rank, tree_.parent(rank), tree_.size(rank) * chunk_, whole);
  }

  /// From a node-mate's slot.
  void take(Rank rank, Rank child, Task there) {
    const Task taken = lane(rank).next(s_, s_.work(rank, t_.read(tree_.size(child) * chunk_) + t_.raise()));
    s_.after(taken, there, t_.flight());
    read(child).push_back(taken);
  }

  void unpack(Rank rank, Rank child, Task there) {
    s_.after(lane(rank).next(s_, s_.work(rank, t_.copy(tree_.size(child) * chunk_))), there);
  }

  const Shape& shape_;
  const RankTree& tree_;
  Schedule& s_;
  const CostTerms& t_;
  double chunk_ = 0;
  std::vector<LaneOf> lanes_;
  std::vector<std::vector<Task>> read_;  // by rank, of each chunk: its parent has read its slot
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

}  // namespace umbel::algos::gather
