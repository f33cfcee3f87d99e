// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include <algorithm>
#include <vector>

#include "algos/lanes/pairs.hpp"
#include "algos/order.hpp"
#include "algos/schedule.hpp"

namespace umbel::algos {
namespace {

using Task = Schedule::Task;
using Chunks = std::vector<double>;

/// All to all: every rank does the same at the same time, and rank 0 stands for all. What it gives in some turn is what
/// it takes in that turn.
void write_all(const CostQuery& query, int groups, Schedule& s, const Chunks& chunks) {
  const CostTerms& t = s.terms();
  const int mates = query.shape.largest_node() - 1;
  const int others = query.shape.ranks() - 1 - mates;
  const double spill = t.spill(std::min(groups, mates) * query.spec.depth * chunks.front());
  LaneOf give, take;
  std::vector<Task> last;  // by turn: all of it has been taken
  double n = 0;
  for (const double chunk : chunks) n += chunk;
  const auto keep = [&] {
    for (const double chunk : chunks) take.move(s, 0, t.copy(chunk), chunk, 0);
  };
  const Task entered = query.spec.direct ? take.next(s, s.work(0, mates * t.raise())) : Schedule::kNone;
  if (query.spec.direct || mates == 0) keep();
  for (int turn = 0; turn < mates && query.spec.direct; ++turn) {
    const Task taken = take.next(s, s.work(0, t.read_direct(n) + t.raise()));
    s.after(taken, entered, t.flight() - (mates - 1 - turn) * t.raise());
    s.after(s.work(0, 0), taken, t.flight());
  }
  for (int turn = 0; turn < mates && !query.spec.direct; ++turn) {
    std::vector<Task> taken;
    for (std::size_t k = 0; k < chunks.size(); ++k) {
      const auto given = give.move(s, 0, t.copy(chunks[k]) * spill, chunks[k], 1);
      s.add_instrs(given.begin, 2);
      if (turn == 0 && k == 0) keep();
      s.reuse(given.begin, taken);
      if (turn >= groups) s.after(given.begin, last[static_cast<std::size_t>(turn - groups)], t.flight());
      const auto took = take.move(s, 0, t.read(chunks[k]) * spill, chunks[k], 1);
      s.add_instrs(took.begin, 2);
      s.after(took.begin, given.end, t.flight());
      taken.push_back(took.end);
    }
    last.push_back(taken.back());
  }
  for (int turn = 0; turn < others; ++turn)
    for (const double chunk : chunks) s.send(0, 0, chunk);
}

/// The root gives to, or takes from, everybody.
class Star {
 public:
  Star(const CostQuery& query, Schedule& schedule, const Chunks& chunks)
      : shape_(query.shape), spec_(query.spec), s_(schedule), t_(schedule.terms()), chunks_(chunks) {
    for (Rank other : others_in_turn(spec_.root, shape_.ranks()))
      (shape_.same_node(spec_.root, other) ? mates_ : others_).push_back(other);
    for (const double chunk : chunks) all_ += chunk;
    // Only a scatter's root has slots for all its mates.
    spill_ = t_.spill(static_cast<double>(mates_.size()) * spec_.depth * chunks.front());
  }

  void gather() {
    for (Rank other : others_)
      for (const double chunk : chunks_) s_.send(other, spec_.root, chunk);
    keep();
    for (Rank mate : mates_) pass(mate, mate, spec_.root);
  }

  void scatter() {
    if (spec_.direct && !mates_.empty()) {
      entered_ = take_.next(s_, s_.work(spec_.root, static_cast<double>(mates_.size()) * t_.raise()));
      later_ = t_.flight() - static_cast<double>(mates_.size() - 1) * t_.raise();
    }
    if (spec_.direct) keep();
    for (Rank mate : mates_) pass(mate, spec_.root, mate);
    if (!spec_.direct) keep();
    for (Rank other : others_)
      for (const double chunk : chunks_) s_.send(spec_.root, other, chunk);
  }

 private:
  void keep() {
    for (const double chunk : chunks_) take_.move(s_, spec_.root, t_.copy(chunk), chunk, 0);
  }

  /// What goes from one rank to another of its node, one of which is the root.
  void pass(Rank mate, Rank from, Rank to) {
    LaneOf lane;
    if (spec_.direct) {
      const bool gives = from == spec_.root;
      const Task entered = gives ? entered_ : s_.work(mate, t_.raise());
      LaneOf& takes = gives ? lane : take_;
      const Task taken = takes.next(s_, s_.work(to, t_.read_direct(all_) + t_.raise()));
      s_.after(taken, entered, gives ? later_ : t_.flight());
      later_ += t_.raise();
      s_.after(s_.work(from, 0), taken, t_.flight());
      return;
    }
    LaneOf &gives = from == spec_.root ? give_ : lane, &takes = to == spec_.root ? take_ : lane;
    const double spill = from == spec_.root ? spill_ : 1;
    std::vector<Task> taken;
    for (std::size_t k = 0; k < chunks_.size(); ++k) {
      const auto given = gives.move(s_, from, t_.copy(chunks_[k]) * spill, chunks_[k], 1);
      s_.reuse(given.begin, taken);
      const auto took = takes.move(s_, to, t_.read(chunks_[k]), chunks_[k], 1);
      s_.add_instrs(given.begin, 2);
      s_.add_instrs(took.begin, 2);
      s_.after(took.begin, given.end, t_.flight());
      taken.push_back(took.end);
    }
  }

  const Shape& shape_;
  const Spec& spec_;
  Schedule& s_;
  const CostTerms& t_;
  const Chunks& chunks_;
  std::vector<Rank> mates_, others_;
  LaneOf give_, take_;  // the root's
  double all_ = 0, spill_ = 1;
  Task entered_ = Schedule::kNone;
  double later_ = 0;  // when the next mate hears of it
};

}  // namespace

double pairs_of_all_cost(const CostQuery& query, int groups) {
  const CostTerms t(query);
  if (t.ranks() == 1) return t.copy(t.bytes());
  return pipelined(query, t.bytes(), static_cast<std::size_t>(t.ranks()),
                   [&](Schedule& schedule, const Chunks& chunks) { write_all(query, groups, schedule, chunks); });
}

double pairs_with_root_cost(const CostQuery& query, Collective collective) {
  const CostTerms t(query);
  if (t.ranks() == 1) return t.copy(t.bytes());
  return pipelined(query, t.bytes(), static_cast<std::size_t>(t.ranks()),
                   [&](Schedule& schedule, const Chunks& chunks) {
                     Star star(query, schedule, chunks);
                     if (collective == Collective::gather)
                       star.gather();
                     else
                       star.scatter();
                   });
}

}  // namespace umbel::algos
