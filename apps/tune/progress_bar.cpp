// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "progress_bar.hpp"

#include <fmt/format.h>

#include <utility>

namespace umbel::tune {

void ProgressBar::show(double done, double left) {
  constexpr int kWidth = 40, kQuarters = 4;
  if (style_ == Style::bar) {
    const int full = static_cast<int>(done * kWidth);
    std::string text =
        fmt::format("[{:=<{}}{:{}}] {:3.0f}%  {:.0f} s left ", "", full, "", kWidth - full, 100 * done, left);
    if (text == drawn_) return;
    fmt::print(stderr, "\r{}", text);
    std::fflush(stderr);
    drawn_ = std::move(text);
  } else if (style_ == Style::lines && done * kQuarters >= quarters_ + 1) {
    quarters_ = static_cast<int>(done * kQuarters);
    fmt::print(stderr, "umbel_tune: {:.0f}%, {:.0f} s left\n", 100 * done, left);
    std::fflush(stderr);
  }
}

void ProgressBar::close() {
  if (drawn_.empty()) return;
  fmt::print(stderr, "\r{:{}}\r", "", drawn_.size());
  std::fflush(stderr);
  drawn_.clear();
}

}  // namespace umbel::tune
