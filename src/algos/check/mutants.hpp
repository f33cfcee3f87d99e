// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <functional>

#include "algos/check/mutate.hpp"

namespace umbel::algos::check {

/// A program that differs from a right one in one small way.
struct Mutant {
  Mutation mutation = Mutation::drop;
  Program program;
  int lane = 0;  ///< where, in the right program
  std::uint32_t pc = 0;
  bool timing = false;  ///< does the same things, perhaps too early: has more credits
  std::string text;     ///< what was done, e.g. "source 1 moved by one block"
};

/// Makes every mutant of `right`, one after another.
void for_each_mutant(const Program& right, const Shape& shape, const std::function<void(const Mutant&)>& use);

}  // namespace umbel::algos::check
