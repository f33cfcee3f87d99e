// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace umbel::algos {
namespace {

constexpr double kBehind = 1e-12;  // a lane whose turn is over comes after others that are ready

}  // namespace

Schedule::Schedule(const CostQuery& query) : terms_(query), shape_(query.shape), depth_(query.spec.depth) {
  rails_ = static_cast<int>(query.model.rails);
  doers_.resize(static_cast<std::size_t>(shape_.ranks()) + 2 * static_cast<std::size_t>(shape_.nodes() * rails_));
}

Schedule::Task Schedule::add(double seconds, int doer, int other) {
  items_.push_back({.seconds = seconds, .doers = {doer, other}});
  for (const int one : items_.back().doers)
    if (one >= 0) doers_[static_cast<std::size_t>(one)].load += seconds;
  return static_cast<Task>(items_.size()) - 1;
}

Schedule::Task Schedule::work(Rank rank, double seconds, double bytes) {
  constexpr double kMostTurns = 64;  // longer tasks take turns in larger parts
  const Task task = add(seconds, rank);
  items_.back().bytes = std::min(bytes, kMostTurns * Turn{}.bytes);
  return task;
}

Schedule::Task Schedule::send(Rank from, Rank to, double bytes, Task ready) {
  const auto link = [&](Rank rank) { return shape_.node_of(rank) * rails_ + shape_.local_index(rank) % rails_; };
  const int out = shape_.ranks() + link(from), in = shape_.ranks() + shape_.nodes() * rails_ + link(to);
  const Task posted = work(from, terms_.post() / 2);
  after(posted, ready);
  const Task sent = add(terms_.wire(bytes), out, in);
  after(sent, posted);
  const Task there = work(to, terms_.post() / 2);
  after(there, sent, terms_.message());
  return there;
}

void Schedule::after(Task task, Task before, double later) {
  if (before == kNone) return;
  Item& item = items_[static_cast<std::size_t>(before)];
  edges_.push_back({.task = task, .later = later, .next = item.first_edge});
  item.first_edge = static_cast<int>(edges_.size()) - 1;
  ++items_[static_cast<std::size_t>(task)].missing;
}

void Schedule::follow(Task task, Task before) {
  after(task, before);
  if (before != kNone) item(before).follower = task;
}

/// The task can begin. It does, or waits for who is busy.
void Schedule::offer(Task task, double now) {
  for (const int doer : item(task).doers) {
    if (doer < 0 || !doers_[static_cast<std::size_t>(doer)].busy) continue;
    doers_[static_cast<std::size_t>(doer)].waiting.emplace(item(task).ready, task);
    return;
  }
  start(task, now, {});
}

/// @param turn  what is left of it
void Schedule::start(Task task, double now, const Turn& turn) {
  Item& one = item(task);
  double seconds = one.seconds;
  one.partly = one.bytes > turn.bytes;
  if (one.partly) {
    seconds *= turn.bytes / one.bytes;
    one.seconds -= seconds;
  }
  const double moved = std::min(one.bytes, turn.bytes);
  one.bytes -= moved;
  for (const int doer : one.doers) {
    if (doer < 0) continue;
    doers_[static_cast<std::size_t>(doer)].busy = true;
    doers_[static_cast<std::size_t>(doer)].turn = {.bytes = turn.bytes - moved, .instrs = turn.instrs - one.instrs};
  }
  events_.emplace(now + seconds, What::end, task);
}

void Schedule::end(Task task, double now) {
  const Item& one = item(task);
  for (const int doer : one.doers)
    if (doer >= 0) doers_[static_cast<std::size_t>(doer)].busy = false;
  if (one.partly) {
    item(task).ready = now + kBehind;
    events_.emplace(item(task).ready, What::ready, task);
  } else {
    release(task, now, doers_[static_cast<std::size_t>(one.doers[0])].turn);
  }
  for (const int doer : one.doers)
    if (doer >= 0) take_next(doer, now);
}

/// What comes after the task has one thing less to wait for. The lane's next task begins at once if it can.
void Schedule::release(Task task, double now, Turn turn) {
  for (int e = item(task).first_edge; e >= 0; e = edges_[static_cast<std::size_t>(e)].next) {
    const Edge& edge = edges_[static_cast<std::size_t>(e)];
    Item& next = item(edge.task);
    next.ready = std::max(next.ready, now + edge.later);
    if (--next.missing > 0) continue;
    const bool follows = edge.task == item(task).follower && next.ready <= now;
    if (follows && !turn.over()) {
      start(edge.task, now, turn);
      continue;
    }
    next.ready = std::max(next.ready, follows ? now + kBehind : now);
    events_.emplace(next.ready, What::ready, edge.task);
  }
}

void Schedule::take_next(int doer, double now) {
  Doer& one = doers_[static_cast<std::size_t>(doer)];
  while (!one.busy && !one.waiting.empty()) {
    const Task task = one.waiting.top().second;
    one.waiting.pop();
    offer(task, now);
  }
}

double Schedule::run() {
  for (std::size_t n = 0; n < items_.size(); ++n)
    if (items_[n].missing == 0) events_.emplace(0.0, What::ready, static_cast<Task>(n));
  double now = 0;
  std::size_t ended = 0;
  while (!events_.empty()) {
    const auto [time, what, task] = events_.top();
    events_.pop();
    now = time;
    if (what == What::ready) {
      offer(task, now);
    } else {
      if (!item(task).partly) ++ended;
      end(task, now);
    }
  }
  if (ended != items_.size()) throw std::logic_error("tasks of a cost wait for each other");
  return now;
}

double Schedule::busiest() const {
  double most = 0;
  for (const Doer& doer : doers_) most = std::max(most, doer.load);
  return most;
}

double pipelined(const CostQuery& query, double bytes, std::size_t width,
                 const std::function<void(Schedule& schedule, const std::vector<double>& chunks)>& write) {
  constexpr int kLooked = 8;
  constexpr std::size_t kNarrow = 256;
  const auto chunk = static_cast<double>(query.cut.chunk_bytes);
  const double whole = std::min(bytes, chunk);
  double pace = 0;
  const auto time = [&](int count, double last) {
    Schedule schedule(query);
    std::vector<double> chunks(static_cast<std::size_t>(count), whole);
    chunks.back() = last;
    write(schedule, chunks);
    pace = schedule.busiest();
    return schedule.run();
  };
  const int looked = width <= kNarrow ? kLooked : 1;
  const double count = std::max(1.0, std::ceil(bytes / chunk));
  if (count <= looked) return time(static_cast<int>(count), bytes - (count - 1) * whole);
  const double all = time(looked, whole);
  if (looked > 1) pace = (all - time(looked / 2, whole)) / (looked - looked / 2);
  return all + (bytes / whole - looked) * pace;
}

}  // namespace umbel::algos
