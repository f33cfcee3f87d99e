// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/simulate/fluid.hpp"

#include <algorithm>

namespace umbel::algos::simulate {

int Fluid::add_resource(double capacity) {
  resources_.push_back({.capacity = capacity, .flows = {}});
  return static_cast<int>(resources_.size()) - 1;
}

int Fluid::start(double now, double amount, double fastest, std::span<const Use> uses) {
  if (unused_.empty()) {
    unused_.push_back(static_cast<int>(flows_.size()));
    flows_.emplace_back();
  }
  const int number = unused_.back();
  unused_.pop_back();
  Flow& f = flow(number);
  f.remaining = amount;
  f.rate = 0;
  f.fastest = fastest;
  f.since = now;
  ++f.version;
  f.uses.assign(uses.begin(), uses.end());
  f.active = true;
  f.alone = fastest;
  for (const Use& use : uses) {
    f.alone = std::min(f.alone, resource(use.resource).capacity / use.weight);
    resource(use.resource).flows.push_back(number);
  }
  touched_flows_.assign(1, number);
  touched_resources_.clear();
  share(now);
  return number;
}

bool Fluid::finish(const Forecast& forecast) {
  Flow& f = flow(forecast.flow);
  if (!f.active || f.version != forecast.version) return false;
  f.active = false;
  touched_flows_.clear();
  touched_resources_.clear();
  ++round_;
  for (const Use& use : f.uses) {
    std::erase(resource(use.resource).flows, forecast.flow);
    for (int other : resource(use.resource).flows) touched_flows_.push_back(other);
  }
  unused_.push_back(forecast.flow);
  std::ranges::sort(touched_flows_);
  touched_flows_.erase(std::ranges::unique(touched_flows_).begin(), touched_flows_.end());
  share(forecast.time);
  return true;
}

/// Makes the rates anew of all flows that share something with touched_flows_.
void Fluid::share(double now) {
  collect();
  for (int n : touched_flows_) {
    Flow& f = flow(n);
    f.remaining = std::max(0.0, f.remaining - f.rate * (now - f.since));
    f.since = now;
    f.settled = false;
  }
  for (int n : touched_resources_) resource(n).left = resource(n).capacity;
  std::vector<double> before;
  for (int n : touched_flows_) before.push_back(flow(n).rate);
  fill();
  for (std::size_t k = 0; k < touched_flows_.size(); ++k) {
    Flow& f = flow(touched_flows_[k]);
    constexpr double kClearly = 0.999;
    shared_ |= f.rate < f.alone * kClearly && f.remaining > 0;
    if (f.rate == before[k]) continue;  // its end stays where it was
    ++f.version;
    forecasts_.push_back({touched_flows_[k], f.version, f.remaining > 0 ? now + f.remaining / f.rate : now});
  }
}

/// Adds what is reached from touched_flows_ through shared resources.
void Fluid::collect() {
  ++round_;
  for (int n : touched_flows_) flow(n).seen = round_;
  for (std::size_t k = 0; k < touched_flows_.size(); ++k) {
    for (const Use& use : flow(touched_flows_[k]).uses) {
      Resource& r = resource(use.resource);
      if (r.seen == round_) continue;
      r.seen = round_;
      touched_resources_.push_back(use.resource);
      for (int other : r.flows) {
        if (flow(other).seen == round_) continue;
        flow(other).seen = round_;
        touched_flows_.push_back(other);
      }
    }
  }
}

void Fluid::settle(int number, double rate) {
  Flow& f = flow(number);
  f.rate = rate;
  f.settled = true;
  for (const Use& use : f.uses) {
    Resource& r = resource(use.resource);
    r.left = std::max(0.0, r.left - rate * use.weight);
  }
}

/// Progressive filling. Each turn settles at least one flow.
void Fluid::fill() {
  for (std::size_t open = touched_flows_.size(); open > 0;) {
    double rate = std::numeric_limits<double>::infinity();
    for (int n : touched_resources_) resource(n).weight = 0;
    for (int n : touched_flows_) {
      if (flow(n).settled) continue;
      rate = std::min(rate, flow(n).fastest);
      for (const Use& use : flow(n).uses) resource(use.resource).weight += use.weight;
    }
    for (int n : touched_resources_)
      if (resource(n).weight > 0) rate = std::min(rate, resource(n).left / resource(n).weight);
    // Those that are as fast as they can be, and those on a resource that is full at this rate.
    std::vector<int> full;
    constexpr double kClose = 1 + 1e-9;
    for (int n : touched_flows_) {
      const Flow& f = flow(n);
      if (f.settled) continue;
      const bool stays = f.fastest <= rate * kClose || std::ranges::any_of(f.uses, [&](const Use& use) {
                           return resource(use.resource).left <= rate * resource(use.resource).weight * kClose;
                         });
      if (stays) full.push_back(n);
    }
    for (int n : full) settle(n, rate);
    open -= full.size();
  }
}

}  // namespace umbel::algos::simulate
