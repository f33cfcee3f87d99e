// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace umbel::algos::check {

/// A vector clock: one time per component (a lane, a net lane's transfers, a rank's caller).
using Clock = std::uint32_t*;

/// A point in one component's time. Time 0 is "never".
struct Epoch {
  std::uint32_t component = 0;
  std::uint32_t time = 0;
};

/// Whether everything up to `epoch` is known to `clock`.
inline bool known(const Epoch& epoch, const std::uint32_t* clock) { return clock[epoch.component] >= epoch.time; }

/// Owns clocks of one width and hands freed ones out again.
class Clocks {
 public:
  explicit Clocks(std::size_t width) : width_(width) {}

  Clock zero() {
    Clock clock = take();
    std::fill_n(clock, width_, 0U);
    return clock;
  }

  Clock copy(const std::uint32_t* from) {
    Clock clock = take();
    std::copy_n(from, width_, clock);
    return clock;
  }

  void join(Clock into, const std::uint32_t* from) const {
    for (std::size_t i = 0; i < width_; ++i) into[i] = std::max(into[i], from[i]);
  }

  void free(Clock clock) { free_.push_back(clock); }

 private:
  Clock take() {
    if (free_.empty()) {
      owned_.push_back(std::make_unique_for_overwrite<std::uint32_t[]>(width_));
      return owned_.back().get();
    }
    Clock clock = free_.back();
    free_.pop_back();
    return clock;
  }

  std::size_t width_;
  std::vector<std::unique_ptr<std::uint32_t[]>> owned_;
  std::vector<Clock> free_;
};

}  // namespace umbel::algos::check
