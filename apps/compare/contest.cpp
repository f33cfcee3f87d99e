// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "contest.hpp"

#include <algorithm>
#include <chrono>

#include "bench/calls.hpp"

namespace umbel::compare {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Of `most` rounds, whether one that runs in `rounds` of them, evenly spread, runs in this one.
bool runs_in(int round, int rounds, int most) {
  const auto times_until = [&](int r) { return static_cast<std::int64_t>(r) * rounds / most; };
  return times_until(round + 1) > times_until(round);
}

}  // namespace

Contest::Contest(const bench::Collective& collective, std::uint64_t max_bytes, bool registered, bench::Session& session,
                 Budget budget)
    : collective_(collective),
      session_(session),
      budget_(budget),
      placement_(collective.traits.collective == UMBEL_BROADCAST ? bench::Placement::in_place
                                                                 : bench::Placement::out_of_place),
      data_(collective.traits, bench::capacity_of(collective.traits, max_bytes, {0}, session.rank(), session.size()),
            session.rank(), session.size(), registered) {}

std::vector<Score> Contest::run(const bench::Case& c, const Contenders& contenders) {
  std::vector<Score> scores;
  for (const auto& contender : contenders) scores.push_back({.name = contender->name(), .lacks = {}});
  std::vector<Entry> entries;
  const bench::Call call = data_.prepare(c, placement_, iteration_);
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    scores[i].lacks = contenders[i]->lacks(collective_, call);
    if (scores[i].lacks.empty()) entries.push_back({*contenders[i], scores[i]});
  }
  constexpr int kWarmups = 2;
  for (int warmup = 0; warmup < kWarmups; ++warmup) {
    for (Entry& entry : entries) take_turn(c, entry, false);
  }
  plan_rounds(entries);
  int most = 0;
  for (const Entry& entry : entries) most = std::max(most, entry.rounds);
  for (int round = 0; round < most; ++round) {
    // whoever begins in one round ends in the next
    for (std::size_t i = 0; i < entries.size(); ++i) {
      Entry& entry = entries[round % 2 == 0 ? i : entries.size() - 1 - i];
      if (!runs_in(round, entry.rounds, most)) continue;
      const bool last = entry.score.us.size() + 1 == static_cast<std::size_t>(entry.rounds);
      entry.score.us.push_back(take_turn(c, entry, last));
    }
  }
  for (Entry& entry : entries) {
    session_.combine(entry.score.us, bench::Across::maximum);
    entry.score.wrong = session_.sum(entry.score.wrong);
  }
  return scores;
}

double Contest::take_turn(const bench::Case& c, Entry& entry, bool last) {
  const Clock::time_point turn = Clock::now();
  const std::uint64_t iteration = iteration_++;
  const bench::Call call = data_.prepare(c, placement_, iteration);
  entry.contender.get_ready(collective_);
  entry.contender.run(bench::calls::kBarrier, call);  // its own: ranks leave another's as that lets them
  const Clock::time_point start = Clock::now();
  entry.contender.run(collective_, call);
  constexpr double kMicro = 1e6;
  const double us = seconds_since(start) * kMicro;
  if (last) {
    entry.score.choice = entry.contender.choice();
    entry.score.wrong = data_.count_wrong(c, placement_, call, iteration);
  }
  entry.turn_s = seconds_since(turn);
  return us;
}

void Contest::plan_rounds(std::vector<Entry>& entries) {
  std::vector<double> longest;
  for (const Entry& entry : entries) longest.push_back(entry.turn_s);
  session_.combine(longest, bench::Across::maximum);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const double fitting = std::clamp(budget_.seconds / longest[i], 0.0, static_cast<double>(budget_.most));
    entries[i].rounds = std::max(budget_.least, static_cast<int>(fitting));
  }
}

}  // namespace umbel::compare
