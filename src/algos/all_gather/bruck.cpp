// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Bruck's all-gather.
//
// Idea. A rank always has a run of shares that begins with its own. In step s it gets those that follow from the rank
// 2^s further on, and gives as many to the rank 2^s before: the run doubles, and in the last step only what is missing
// is sent. The fewest steps that there are, for any p. The original keeps shares in a buffer that is rotated at the
// end; here they land in the output at once, and a run that wraps around the last rank is two messages.
//
// Names. See exchange.hpp. In step s the `missing` shares are min(2^s, p − 2^s).
//
// Steps ⌊log₂ p⌋, in ⌈log₂ p⌉ rounds: what goes out in the last one need not have come in the one before. Bytes sent
// per rank n(p−1), for shares of n. Any p, any shape, any size. Determinism: nothing is folded. Source: Bruck et al.,
// "Efficient algorithms for all-to-all communications in multiport message-passing systems", 1997.
#include <algorithm>
#include <optional>

#include "algos/all_gather/all_gather.hpp"
#include "algos/all_gather/exchange.hpp"
#include "algos/order.hpp"
#include "algos/schedule.hpp"

namespace umbel::algos::all_gather {
namespace {

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  const int p = shape.ranks();
  std::vector<Step> steps;
  int longest = 1;
  for (int distance = 1; distance < p; distance *= 2) {
    const int missing = std::min(distance, p - distance);
    longest = std::max(longest, missing);
    const Rank next = (rank + distance) % p;
    steps.push_back({.out = wrapped(modulo(rank - distance, p), rank, missing, p),
                     .in = wrapped(next, next, missing, p),
                     .stream = static_cast<int>(steps.size())});
  }
  return write_exchange(rank, shape, spec, {.streams = ceil_log2(p), .longest_run = longest}, steps);
}

Traffic traffic(const Shape& shape, const Spec&) {
  const int p = shape.ranks();
  return {.steps = floor_log2(p), .sent = static_cast<double>(p - 1)};
}

/// Inside a node ranks whose runs wrap around have other messages than the rest, and these wait for them.
class NodeTasks {
 public:
  NodeTasks(const CostQuery& query, int longest, Schedule& schedule, const std::vector<double>& chunks)
      : p_(query.shape.ranks()), s_(schedule), chunks_(chunks), lanes_(static_cast<std::size_t>(p_)) {
    for (const double chunk : chunks) share_ += chunk / longest;
    for (Rank rank = 0; rank < p_; ++rank) next(rank, s_.terms().copy(share_));
  }

  void step(int distance, int missing) {
    reads_.assign(lanes_.size(), {});
    for (std::size_t k = 0; k < chunks_.size(); ++k)
      for (std::size_t m = 0; m < (missing > 1 ? 2U : 1U); ++m) exchange(distance, missing, k, m);
  }

 private:
  Schedule::Task next(Rank rank, double seconds) {
    return lanes_[static_cast<std::size_t>(rank)].next(s_, s_.work(rank, seconds));
  }

  /// Bytes of chunk `k` of message `m` of a run, and whether there is such a message.
  std::optional<double> bytes(int first, int missing, std::size_t k, std::size_t m) const {
    const std::vector<Run> runs = wrapped(0, first, missing, p_);
    if (m >= runs.size()) return std::nullopt;
    return std::clamp(runs[m].shares * share_ - static_cast<double>(k) * chunks_[0], 0.0, chunks_[0]);
  }

  void exchange(int distance, int missing, std::size_t k, std::size_t m) {
    const CostTerms& t = s_.terms();
    std::vector<Schedule::Task> shown(lanes_.size(), Schedule::kNone);
    for (Rank rank = 0; rank < p_; ++rank) {
      const auto out = bytes(rank, missing, k, m);
      if (!out) continue;
      const Schedule::Task task = shown[static_cast<std::size_t>(rank)] = next(rank, t.copy(*out) + t.raise());
      s_.reuse(task, reads_[static_cast<std::size_t>(modulo(rank - distance, p_))]);
    }
    for (Rank rank = 0; rank < p_; ++rank) {
      const Rank from = (rank + distance) % p_;
      const auto in = bytes(from, missing, k, m);
      if (!in) continue;
      reads_[static_cast<std::size_t>(rank)].push_back(next(rank, t.read(*in) + t.raise()));
      s_.after(reads_[static_cast<std::size_t>(rank)].back(), shown[static_cast<std::size_t>(from)], t.flight());
    }
  }

  int p_;
  Schedule& s_;
  const std::vector<double>& chunks_;
  std::vector<LaneOf> lanes_;
  std::vector<std::vector<Schedule::Task>> reads_;  // in this step, by rank
  double share_ = 0;
};

double cost(const CostQuery& query) {
  const CostTerms t(query);
  const int p = t.ranks();
  if (p == 1) return t.copy(t.bytes());
  double time = t.copy(t.bytes());
  std::vector<Round> rounds;
  int longest = 1;
  for (int distance = 1; distance < p; distance *= 2) {
    const int missing = std::min(distance, p - distance);
    longest = std::max(longest, missing);
    // Some rank's run wraps, and all wait for it.
    const double half = missing / 2;
    rounds.push_back({.runs = missing > 1 ? std::vector<double>{missing - half, half} : std::vector<double>{1},
                      .needs = missing > 1 ? floor_log2(missing - 1) + 1 : 0});
    time += step_cost(t, missing, missing > 1 ? 2 : 1, ranks_leaving(query.shape, distance));
  }
  if (!t.one_node()) return t.alike() ? rounds_cost(query, rounds, longest) : time;
  const std::size_t width = 2 * rounds.size() * static_cast<std::size_t>(p);
  return pipelined(query, longest * t.bytes(), width, [&](Schedule& schedule, const std::vector<double>& chunks) {
    NodeTasks tasks(query, longest, schedule, chunks);
    for (int distance = 1; distance < p; distance *= 2) tasks.step(distance, std::min(distance, p - distance));
  });
}

}  // namespace

Algorithm bruck() {
  return everywhere({.name = "bruck",
                     .summary = "runs of shares that double, from ranks at doubling distance",
                     .steps = "⌊log₂ p⌋, in ⌈log₂ p⌉ rounds",
                     .sent = "n(p−1)",
                     .source = "Bruck et al. 1997",
                     .collective = Collective::all_gather},
                    {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::all_gather
