// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include <algorithm>
#include <vector>

#include "algos/broadcast/trees.hpp"
#include "algos/schedule.hpp"

namespace umbel::algos::broadcast {
namespace {

using Task = Schedule::Task;

/// The tasks of the lanes in trees.cpp.
class Tasks {
 public:
  Tasks(const CostQuery& query, const std::vector<Tree>& trees, Schedule& schedule)
      : shape_(query.shape),
        spec_(query.spec),
        trees_(trees),
        s_(schedule),
        t_(schedule.terms()),
        lanes_(static_cast<std::size_t>(query.shape.ranks()) * (trees.size() + 1)),
        read_(static_cast<std::size_t>(query.shape.ranks()) * trees.size()) {}

  void pass(double chunk) {
    chunk_ = chunk;
    spill_ = t_.spill(static_cast<double>(std::min<std::size_t>(trees_.size(), 2)) * spec_.depth * chunk);
    for (std::size_t t = 0; t < trees_.size(); ++t) {
      const Rank root = trees_[t].root;
      hand_on(t, root, lane(t, root).next(s_, s_.work(root, t_.copy(chunk), chunk)));
    }
  }

  /// Nobody returns while its output is read.
  void close() {
    if (!spec_.direct) return;
    for (std::size_t t = 0; t < trees_.size(); ++t) {
      for (Rank rank = 0; rank < shape_.ranks(); ++rank) {
        if (rank == trees_[t].root || !shape_.same_node(rank, trees_[t].above(rank))) continue;
        const Task left = lane(t, rank).next(s_, s_.work(rank, t_.raise()));
        s_.after(s_.work(trees_[t].above(rank), 0), left, t_.flight());
      }
    }
  }

 private:
  /// Roots and leaves have one lane for all trees.
  LaneOf& lane(std::size_t t, Rank rank) {
    const bool shared = rank == trees_[t].root || trees_[t].below(rank).empty();
    return lanes_[static_cast<std::size_t>(rank) * (trees_.size() + 1) + (shared ? trees_.size() : t)];
  }
  /// When the rank has read each chunk of a node-mate's slots.
  std::vector<Task>& reads(std::size_t t, Rank rank) {
    return read_[static_cast<std::size_t>(rank) * trees_.size() + t];
  }

  /// `here`: the chunk is in the rank's output.
  void hand_on(std::size_t t, Rank rank, Task here) {
    std::vector<Rank> near, far;
    for (Rank child : trees_[t].below(rank)) (shape_.same_node(rank, child) ? near : far).push_back(child);
    const std::vector<Task> shown = show(t, rank, near, here);
    std::vector<Task> there;
    for (Rank child : far) there.push_back(s_.send(rank, child, chunk_, here));
    for (std::size_t k = 0; k < near.size(); ++k) take(t, near[k], shown[k]);
    for (std::size_t k = 0; k < far.size(); ++k) hand_on(t, far[k], there[k]);
  }

  /// @return the flags for the mates
  std::vector<Task> show(std::size_t t, Rank rank, const std::vector<Rank>& mates, Task here) {
    if (mates.empty()) return {};
    LaneOf& own = lane(t, rank);
    if (!spec_.direct) {
      const Task copied = own.next(s_, s_.work(rank, t_.copy(chunk_) * spill_, chunk_));
      s_.after(copied, here);
      for (Rank mate : mates) s_.reuse(copied, reads(t, mate));
    }
    std::vector<Task> flags = own.raise(s_, rank, mates.size());
    s_.after(flags.front(), here);
    return flags;
  }

  void take(std::size_t t, Rank rank, Task shown) {
    const double seconds = spec_.direct ? t_.read_direct(chunk_) : t_.read(chunk_) * spill_;
    const auto read = lane(t, rank).move(s_, rank, seconds, chunk_, spec_.direct ? 0 : 1);
    s_.after(read.begin, shown, t_.flight());
    reads(t, rank).push_back(read.end);
    hand_on(t, rank, read.end);
  }

  const Shape& shape_;
  const Spec& spec_;
  const std::vector<Tree>& trees_;
  Schedule& s_;
  const CostTerms& t_;
  double chunk_ = 0, spill_ = 1;  // slots that leave the cache are slower by this factor
  std::vector<LaneOf> lanes_;
  std::vector<std::vector<Task>> read_;
};

}  // namespace

double cost_of(const CostQuery& query, const std::vector<Tree>& trees) {
  const CostTerms t(query);
  if (t.ranks() == 1) return t.copy(t.bytes());
  const double block = t.bytes() / static_cast<double>(trees.size());
  const std::size_t width = trees.size() * static_cast<std::size_t>(t.ranks());
  return pipelined(query, block, width, [&](Schedule& schedule, const std::vector<double>& chunks) {
    Tasks tasks(query, trees, schedule);
    for (const double chunk : chunks) tasks.pass(chunk);
    tasks.close();
  });
}

}  // namespace umbel::algos::broadcast
