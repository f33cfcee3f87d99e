// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include <vector>

#include "algos/all_reduce/tree.hpp"
#include "algos/schedule.hpp"

namespace umbel::algos::all_reduce {
namespace {

using Task = Schedule::Task;

/// The tasks of the lanes of one tree, as in tree.cpp. Members are ranks.
class Tasks {
 public:
  Tasks(const CostQuery& query, const std::vector<TreePlace>& places, int trees, Schedule& schedule)
      : shape_(query.shape),
        slots_(2.0 * trees * query.spec.depth),
        places_(places),
        s_(schedule),
        t_(schedule.terms()),
        members_(places.size()) {}

  void pass(double chunk) {
    chunk_ = chunk;
    spill_ = t_.spill(slots_ * chunk);
    for (std::size_t m = 0; m < places_.size(); ++m)
      if (places_[m].parent < 0) down(static_cast<int>(m), up(static_cast<int>(m)).task);
  }

 private:
  struct Member {
    LaneOf up, down;
    std::vector<Task> folds, reads;  // of each chunk: of the children's, and of the parent's result
  };
  /// A chunk that a parent may fold: `later` after the end of a task.
  struct Shown {
    Task task = Schedule::kNone;
    double later = 0;
  };

  Member& member(int m) { return members_[static_cast<std::size_t>(m)]; }
  const TreePlace& place(int m) const { return places_[static_cast<std::size_t>(m)]; }
  bool local(int m) const { return place(m).parent >= 0 && shape_.same_node(m, place(m).parent); }

  Shown up(int m) {
    std::vector<Shown> operands;
    const auto children = static_cast<int>(place(m).children.size());
    double seconds = children == 0 ? t_.copy(chunk_) * spill_ : t_.fold(chunk_, children + 1);
    int popped = 0;  // slots that are given back afterwards
    for (const TreePlace::Child& child : place(m).children) {
      operands.push_back(up(child.member));
      if (!local(child.member)) continue;
      seconds += t_.read(chunk_) * spill_;
      ++popped;
    }
    const int parent = place(m).parent;
    if (children == 0 && !local(m)) return {s_.send(m, parent, chunk_), 0};
    const auto fold = member(m).up.move(s_, m, seconds, (children + 1) * chunk_, local(m) ? 1 : 0);
    for (const Shown& operand : operands) s_.after(fold.begin, operand.task, operand.later);
    // What another lane does with it begins with a flag between the lanes, which costs nothing.
    const Task made = local(m) ? fold.end : member(m).up.next(s_, s_.work(m, 0));
    if (children > 0) member(m).folds.push_back(member(m).up.next(s_, s_.work(m, popped * t_.raise())));
    if (parent < 0) return {made, 0};
    if (!local(m)) return {s_.send(m, parent, chunk_, made), 0};
    // The slot must have been read: the parent's fold of this chunk is not there yet.
    s_.reuse(fold.begin, member(parent).folds);
    return {fold.end, t_.flight()};
  }

  /// `here`: the result is in the member's output.
  void down(int m, Task here) {
    std::vector<int> near, far;
    for (const TreePlace::Child& child : place(m).children) (local(child.member) ? near : far).push_back(child.member);
    std::vector<Task> shown;
    if (!near.empty()) {
      const Task copied = member(m).down.next(s_, s_.work(m, t_.copy(chunk_) * spill_, chunk_));
      shown = member(m).down.raise(s_, m, near.size());
      s_.after(copied, here);
      for (int child : near) s_.reuse(copied, member(child).reads);
    }
    std::vector<Task> there;
    for (int child : far) there.push_back(s_.send(m, child, chunk_, here));
    for (std::size_t k = 0; k < near.size(); ++k) {
      const auto read = member(near[k]).down.move(s_, near[k], t_.read(chunk_) * spill_, chunk_, 1);
      s_.after(read.begin, shown[k], t_.flight());
      member(near[k]).reads.push_back(read.end);
      down(near[k], read.end);
    }
    for (std::size_t k = 0; k < far.size(); ++k) down(far[k], there[k]);
  }

  const Shape& shape_;
  double slots_;  // of a chunk, that a rank shows things in
  const std::vector<TreePlace>& places_;
  Schedule& s_;
  const CostTerms& t_;
  double chunk_ = 0, spill_ = 1;
  std::vector<Member> members_;
};

}  // namespace

double trees_cost(const CostQuery& query, int trees, TreePlace (*place_of)(int tree, int member, int members)) {
  const CostTerms t(query);
  const int p = t.ranks();
  std::vector<std::vector<TreePlace>> places(static_cast<std::size_t>(trees));
  for (int tree = 0; tree < trees; ++tree)
    for (int member = 0; member < p; ++member)
      places[static_cast<std::size_t>(tree)].push_back(place_of(tree, member, p));
  const std::size_t width = places.size() * static_cast<std::size_t>(p);
  return pipelined(query, t.bytes() / trees, width, [&](Schedule& schedule, const std::vector<double>& chunks) {
    std::vector<Tasks> all;
    for (const auto& tree : places) all.emplace_back(query, tree, trees, schedule);
    for (const double chunk : chunks)
      for (Tasks& tasks : all) tasks.pass(chunk);
  });
}

}  // namespace umbel::algos::all_reduce
