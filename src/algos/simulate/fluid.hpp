// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Things that go on at the same time and share what they need: messages on links, copies on a memory bus, threads on
// cores. Rates are max–min fair: all grow alike until a resource is full or a flow is as fast as it can be; those
// stay, the others go on growing (progressive filling). When a flow comes or goes, the rates of those that it shares
// something with, directly or through others, are made anew.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace umbel::algos::simulate {

class Fluid {
 public:
  /// What a flow takes of a resource for each unit of its own rate.
  struct Use {
    int resource = 0;
    double weight = 1;
  };
  /// A flow's rate has changed: it ends at `time` unless that changes again.
  struct Forecast {
    int flow = 0;
    std::uint32_t version = 0;
    double time = 0;
  };

  int add_resource(double capacity);
  /// Begins to work off `amount`, at a rate of at most `fastest`. Changed ends are added to forecasts().
  /// @pre uses some resource, or `fastest` is finite
  int start(double now, double amount, double fastest, std::span<const Use> uses);
  /// True when the forecast still holds: the flow is over and removed, and others are faster.
  bool finish(const Forecast& forecast);

  /// Whether any flow has ever been slower than it would have been alone.
  bool shared() const { return shared_; }

  /// Forecasts since the last clear(), to be put in the queue of events.
  std::span<const Forecast> forecasts() const { return forecasts_; }
  void clear() { forecasts_.clear(); }

 private:
  struct Flow {
    double remaining = 0;
    double rate = 0;
    double fastest = std::numeric_limits<double>::infinity();
    double since = 0;  // `remaining` is as of then
    double alone = 0;  // the rate that it would have if there were no others
    std::uint32_t version = 0;
    std::vector<Use> uses;
    bool active = false;
    bool settled = false;  // scratch of share()
    std::uint64_t seen = 0;
  };
  struct Resource {
    double capacity = 0;
    std::vector<int> flows;  // active ones
    double left = 0;         // scratch of share()
    double weight = 0;
    std::uint64_t seen = 0;
  };

  void share(double now);
  void collect();
  void fill();
  void settle(int flow, double rate);
  Flow& flow(int n) { return flows_[static_cast<std::size_t>(n)]; }
  Resource& resource(int n) { return resources_[static_cast<std::size_t>(n)]; }

  std::vector<Flow> flows_;
  std::vector<int> unused_;
  std::vector<Resource> resources_;
  std::vector<int> touched_flows_, touched_resources_;  // scratch of share()
  std::uint64_t round_ = 0;
  bool shared_ = false;
  std::vector<Forecast> forecasts_;
};

}  // namespace umbel::algos::simulate
