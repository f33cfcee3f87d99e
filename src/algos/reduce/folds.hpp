// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// In which order a member of a tree folds its own operand and those that come from its children. The same steps say
// what the program does and what expression comes out.
#pragma once

#include <vector>

#include "algos/canonical.hpp"

namespace umbel::algos::reduce {

/// How a member folds.
enum class Fold {
  in_turn,  ///< child by child, in the tree's order
  at_once,  ///< all operands in the order of the lowest rank that each contains; `ordered`: those of its node first, as
            ///< a balanced tree, then the others in turn
};

struct Operand {
  Rank lowest = 0;     ///< of the ranks that it contains
  bool local = false;  ///< comes from the node
};

/// One reduce. Lower ranks come first.
struct FoldStep {
  static constexpr int kBefore = -1;
  std::vector<int> operands;  ///< numbers of operands; kBefore: what the step before has made
  bool as_tree = false;       ///< as a balanced tree, else from left to right
};

/// @param operands  the own one, then the children's
std::vector<FoldStep> fold_steps(const std::vector<Operand>& operands, Fold fold, bool ordered);

/// What the steps make of operands that contain these.
Span span_of(const std::vector<FoldStep>& steps, const std::vector<Span>& operands);

}  // namespace umbel::algos::reduce
