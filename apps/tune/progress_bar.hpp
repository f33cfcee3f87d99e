// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <cstdio>
#include <string>

namespace umbel::tune {

/// How far a long measurement is, on stderr: a bar that is drawn anew, or a line now and then.
class ProgressBar {
 public:
  enum class Style { none, bar, lines };

  explicit ProgressBar(Style style) : style_(style) {}
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar() { close(); }

  /// @param done  from 0 to 1  @param left  seconds
  void show(double done, double left);
  /// Takes the bar away.
  void close();

 private:
  Style style_;
  std::string drawn_;
  int quarters_ = 0;  ///< told by lines
};

}  // namespace umbel::tune
