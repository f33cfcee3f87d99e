// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/cost.hpp"

#include <algorithm>
#include <vector>

#include "algos/reduce/trees.hpp"
#include "algos/schedule.hpp"

namespace umbel::algos::reduce {
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
        folds_(static_cast<std::size_t>(query.shape.ranks()) * trees.size()),
        entered_(folds_.size(), Schedule::kNone),
        results_(trees.size()) {
    if (!spec_.direct) return;
    for (std::size_t t = 0; t < trees.size(); ++t)
      for (Rank rank = 0; rank < shape_.ranks(); ++rank)
        if (in_place(t, rank)) entered_[at(t, rank)] = lane(t, rank).next(s_, s_.work(rank, t_.raise()));
  }

  void pass(double chunk) {
    chunk_ = chunk;
    spill_ = t_.spill(static_cast<double>(std::min<std::size_t>(trees_.size(), 2)) * spec_.depth * chunk);
    for (std::size_t t = 0; t < trees_.size(); ++t) {
      const Shown top = up(t, trees_[t].root);
      if (trees_[t].root == spec_.root) continue;
      const auto copied = result_lane_.move(s_, spec_.root, t_.read(chunk) * spill_, chunk, 1);
      s_.after(copied.begin, top.task, top.later);
      results_[t].push_back(copied.end);
    }
  }

  /// Nobody returns while its input is read.
  void close() {
    for (std::size_t t = 0; t < trees_.size(); ++t) {
      for (Rank rank = 0; rank < shape_.ranks(); ++rank) {
        for (Rank child : trees_[t].below(rank)) {
          if (!spec_.direct || !in_place(t, child)) continue;
          const Task left = lane(t, rank).next(s_, s_.work(rank, t_.raise()));
          s_.after(s_.work(child, 0), left, t_.flight());
        }
      }
    }
  }

 private:
  /// A chunk that a parent may fold: `later` after the end of a task.
  struct Shown {
    Task task = Schedule::kNone;
    double later = 0;
  };

  std::size_t at(std::size_t t, Rank rank) const { return static_cast<std::size_t>(rank) * trees_.size() + t; }
  bool leaf(std::size_t t, Rank rank) const { return trees_[t].below(rank).empty(); }
  /// Its parent; of a tree's top the root.
  Rank next(std::size_t t, Rank rank) const { return rank == trees_[t].root ? spec_.root : trees_[t].above(rank); }
  bool local(std::size_t t, Rank rank) const { return shape_.same_node(rank, next(t, rank)); }
  bool in_place(std::size_t t, Rank rank) const { return spec_.direct && leaf(t, rank) && local(t, rank); }
  bool shows(std::size_t t, Rank rank) const { return next(t, rank) != rank && local(t, rank) && !in_place(t, rank); }
  /// Leaves have one lane for all trees.
  LaneOf& lane(std::size_t t, Rank rank) {
    return lanes_[static_cast<std::size_t>(rank) * (trees_.size() + 1) + (leaf(t, rank) ? trees_.size() : t)];
  }

  /// The rank's task of this chunk must wait until its slot, `depth` chunks ago, has been read.
  void claim(std::size_t t, Rank rank, Task task) {
    const bool top = rank == trees_[t].root;
    const std::vector<Task>& read = top ? results_[t] : folds_[at(t, next(t, rank))];
    if (shows(t, rank)) s_.reuse(task, read);  // the parent's fold of this chunk is not there yet
  }

  Shown up(std::size_t t, Rank rank) {
    if (leaf(t, rank)) return show(t, rank);
    std::vector<Shown> operands;
    const auto children = static_cast<int>(trees_[t].below(rank).size());
    double seconds = t_.fold(chunk_, children + 1);
    int popped = 0;  // slots that are given back afterwards
    for (Rank child : trees_[t].below(rank)) {
      operands.push_back(up(t, child));
      if (local(t, child)) seconds += in_place(t, child) ? t_.read_direct(chunk_) : t_.read(chunk_) * spill_;
      popped += shows(t, child) ? 1 : 0;
    }
    const bool shown = shows(t, rank);
    const auto fold = lane(t, rank).move(s_, rank, seconds, (children + 1) * chunk_, shown ? 1 : 0);
    for (const Shown& operand : operands) s_.after(fold.begin, operand.task, operand.later);
    claim(t, rank, fold.begin);
    folds_[at(t, rank)].push_back(lane(t, rank).next(s_, s_.work(rank, popped * t_.raise())));
    if (shown) return {fold.end, t_.flight()};
    if (next(t, rank) == rank) return {fold.end, 0};
    return {s_.send(rank, next(t, rank), chunk_, fold.end), 0};
  }

  /// A leaf's.
  Shown show(std::size_t t, Rank rank) {
    if (in_place(t, rank)) return {entered_[at(t, rank)], t_.flight()};
    if (!local(t, rank)) return {s_.send(rank, next(t, rank), chunk_), 0};
    const auto shown = lane(t, rank).move(s_, rank, t_.copy(chunk_) * spill_, chunk_, 1);
    claim(t, rank, shown.begin);
    return {shown.end, t_.flight()};
  }

  const Shape& shape_;
  const Spec& spec_;
  const std::vector<Tree>& trees_;
  Schedule& s_;
  const CostTerms& t_;
  double chunk_ = 0, spill_ = 1;  // slots that leave the cache are slower by this factor
  std::vector<LaneOf> lanes_;
  std::vector<std::vector<Task>> folds_;  // by rank and tree: of each chunk
  std::vector<Task> entered_;             // a leaf's input may be read
  std::vector<std::vector<Task>> results_;
  LaneOf result_lane_;
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

}  // namespace umbel::algos::reduce
