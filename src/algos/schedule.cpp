// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/schedule.hpp"

#include <algorithm>
#include <cmath>

namespace umbel::algos {

Schedule::Schedule(const CostQuery& query) : terms_(query), shape_(query.shape) {
  load_.resize(static_cast<std::size_t>(shape_.ranks()) + 2 * static_cast<std::size_t>(shape_.nodes()));
}

Schedule::Task Schedule::add(double seconds, int doer, int other) {
  items_.push_back({.seconds = seconds, .doers = {doer, other}});
  for (const int one : items_.back().doers)
    if (one >= 0) load_[static_cast<std::size_t>(one)] += seconds;
  return static_cast<Task>(items_.size()) - 1;
}

Schedule::Task Schedule::work(Rank rank, double seconds, double bytes) {
  const Task task = add(seconds, rank);
  items_.back().bytes = bytes;
  return task;
}

Schedule::Task Schedule::send(Rank from, Rank to, double bytes, Task ready) {
  const int out = shape_.ranks() + shape_.node_of(from), in = shape_.ranks() + shape_.nodes() + shape_.node_of(to);
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

/// Its doers do it for so long, as soon as all of them can. @return the end
double Schedule::occupy(const Item& item, double seconds) {
  double end = item.ready;
  for (const int doer : item.doers)
    if (doer >= 0) end = std::max(end, free_[static_cast<std::size_t>(doer)]);
  end += seconds;
  for (const int doer : item.doers)
    if (doer >= 0) free_[static_cast<std::size_t>(doer)] = end;
  return end;
}

/// @return whether the lane's next task begins at once, which it may if the lane's turn `goes_on`
bool Schedule::finish(Task task, double end, bool goes_on) {
  bool begins = false;
  for (int e = item(task).first_edge; e >= 0; e = edges_[static_cast<std::size_t>(e)].next) {
    const Edge& edge = edges_[static_cast<std::size_t>(e)];
    Item& next = item(edge.task);
    next.ready = std::max(next.ready, end + edge.later);
    if (--next.missing > 0) continue;
    if (goes_on && edge.task == item(task).follower && next.ready <= end)
      begins = true;
    else
      queue_.emplace(next.ready, edge.task);
  }
  return begins;
}

double Schedule::run() {
  constexpr double kTurnBytes = 128U << 10U;  // what the executor's lanes move in a turn
  for (std::size_t n = 0; n < items_.size(); ++n)
    if (items_[n].missing == 0) queue_.emplace(0.0, static_cast<Task>(n));
  free_.assign(load_.size(), 0.0);
  double last = 0;
  while (!queue_.empty()) {
    Task task = queue_.top().second;
    queue_.pop();
    for (double budget = kTurnBytes; task != kNone;) {
      Item& one = item(task);
      if (one.bytes > budget) {  // the rest in another turn
        const double seconds = one.seconds * (budget / one.bytes);
        one.ready = occupy(one, seconds);
        one.seconds -= seconds;
        one.bytes -= budget;
        queue_.emplace(one.ready, task);
        break;
      }
      budget -= one.bytes;
      const double end = occupy(one, one.seconds);
      last = std::max(last, end);
      task = finish(task, end, budget > 0) ? one.follower : kNone;
    }
  }
  return last;
}

double Schedule::busiest() const { return *std::ranges::max_element(load_); }

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
