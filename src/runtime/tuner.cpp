// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/tuner.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace umbel::runtime {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLeastRounds = 3;
constexpr double kRoundsWanted = 40;
constexpr double kShortestRun = 2e-3, kLongestRun = 50e-3;
constexpr int kMostRepetitions = 1 << 20;
constexpr int kShorter = 4;  ///< a short run has this part of a long one's repetitions

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// One task: how often it is repeated, and its programs.
class Measurement {
 public:
  /// @param seconds  that a long run should take
  Measurement(TaskRunner& runner, const Task& task, double seconds) : runner_(runner), task_(task) {
    int repetitions = task.least;
    (void)run(make(repetitions));  // opens connections
    double taken = least_time(repetitions);
    for (; taken < seconds / kShorter && repetitions < kMostRepetitions; taken = least_time(repetitions))
      repetitions *= kShorter;
    const double wanted = std::min<double>(kMostRepetitions, repetitions * seconds / taken);
    long_ = std::max(kShorter * task.least, static_cast<int>(wanted));
    short_ = std::max(task.least, long_ / kShorter);
    if (short_ == long_) ++long_;
    long_run_ = &make(long_);
    short_run_ = &make(short_);
  }

  TaskName name() const { return task_.name; }

  /// Seconds of a repetition; 0 where this rank's time tells nothing.
  double once() {
    const double brief = run(*short_run_), whole = run(*long_run_);
    return timed_ ? (whole - brief) / (long_ - short_) : 0;
  }

 private:
  Built& make(int repetitions) {
    const Founded& founded = runner_.founded();
    TaskProgram made = task_.build(founded.members.me, founded.members.shape, repetitions);
    timed_ = made.timed;
    return runner_.keep(std::move(made.program));
  }

  double run(Built& built) { return runner_.run(built, task_.bytes); }

  /// The slowest rank's time, in the best of some runs.
  double least_time(int repetitions) {
    constexpr int kTries = 3;
    Built& built = make(repetitions);
    double least = 1e9;
    for (int k = 0; k < kTries; ++k)
      least = std::min(least, std::ranges::max(net::all_gather(runner_.bootstrap(), run(built))));
    return std::max(least, 1e-9);
  }

  TaskRunner& runner_;
  const Task& task_;
  bool timed_ = false;
  int long_ = 1, short_ = 1;
  Built* long_run_ = nullptr;
  Built* short_run_ = nullptr;
};

/// Tells of the time that has passed.
class Clocked {
 public:
  Clocked(const net::Bootstrap& bootstrap, const TunerOptions& options) : bootstrap_(bootstrap), options_(options) {}

  void tell() const { tell(elapsed()); }
  void tell_end() const { tell(options_.seconds); }

  /// Collective: rank 0 says whether there is time for another round.
  bool has_time(int rounds) {
    const double now = elapsed(), last_round = now - round_began_;
    round_began_ = now;
    const bool more = rounds < kLeastRounds || now + last_round <= options_.seconds;
    return net::all_gather(bootstrap_, static_cast<std::uint8_t>(more ? 1 : 0)).front() != 0;
  }

 private:
  void tell(double now) const {
    if (bootstrap_.rank != 0 || !options_.progress) return;
    options_.progress(std::min(1.0, now / options_.seconds), std::max(0.0, options_.seconds - now));
  }
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  const net::Bootstrap& bootstrap_;
  const TunerOptions& options_;
  Clock::time_point start_ = Clock::now();
  double round_began_ = 0;
};

}  // namespace

Tuned tune(TaskRunner& runner, const TunerOptions& options) {
  const Founded& founded = runner.founded();
  Clocked clock(runner.bootstrap(), options);
  std::vector<const Task*> served;
  for (const Task& task : kTasks)
    if (task.serves(founded.members.shape, founded.direct)) served.push_back(&task);
  const double runs = kRoundsWanted * static_cast<double>(served.size()) * (1 + 1.0 / kShorter);
  std::vector<Measurement> measurements;
  for (const Task* task : served) {
    measurements.emplace_back(runner, *task, std::clamp(options.seconds / runs, kShortestRun, kLongestRun));
    clock.tell();
  }
  Tuned tuned;
  std::vector<Figures> rounds;
  for (; clock.has_time(tuned.rounds); ++tuned.rounds) {
    TaskTimes times{};
    for (Measurement& measurement : measurements) {
      times[static_cast<std::size_t>(measurement.name())] = measurement.once();
      clock.tell();
    }
    rounds.push_back(figures_of(times, founded.ranks_per_core));
  }
  clock.tell_end();
  for (std::size_t k = 0; k < kTunedFigures.size(); ++k) {
    std::vector<double> values;
    for (const Figures& figures : rounds) values.push_back(figures[k]);
    values = net::all_gather(runner.bootstrap(), median(std::move(values)));
    std::erase(values, 0.0);  // of ranks that have none
    const bool any = !values.empty();
    std::erase_if(values, [](double value) { return value < 0; });
    tuned.figures[k] = median(values);
    if (any && values.empty()) tuned.unclear.push_back(kTunedFigures[k].first);
  }
  return tuned;
}

}  // namespace umbel::runtime
