// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Reduce up a tree, broadcast down the same tree, chunk by chunk: the lanes that tree algorithms share. They differ in
// the shape of the tree.
#pragma once

#include <vector>

#include "algos/builder.hpp"
#include "algos/canonical.hpp"
#include "algos/cost.hpp"
#include "algos/lanes/tree.hpp"
#include "algos/stream.hpp"

namespace umbel::algos::all_reduce {

/// What the lanes of one tree work on.
struct TreeSetup {
  std::vector<Rank> members;   ///< in the order of the lowest rank that each stands for
  int here = 0;                ///< own index in it
  int block = 0;               ///< what the tree reduces
  Buffer own = Buffer::input;  ///< where the own operand lies
  int kind = 0;                ///< first of kTreeKinds kinds of semaphores
  int region = 0;
  int slot = 0;  ///< first of tree_slots()
  int depth = 1;
  int max_children = 2;  ///< of any member
  int channel = 0;
  Wait partial{};  ///< optional: signalled when a chunk of the own operand is there
  Raise done{};    ///< optional: to raise when a chunk of the result is in the output
};

inline constexpr int kTreeKinds = 4;
constexpr int tree_slots(int depth, int max_children) { return (2 + max_children) * depth; }

/// What the root of one of two trees makes of the members' operands.
Span double_tree_span(int tree, const std::vector<Span>& members);

/// Writes the lanes of one tree.
void write_tree(Builder& builder, const TreePlace& place, const TreeSetup& setup);

/// Seconds that `trees` trees over all ranks take for equal parts of the call, by a schedule of what their lanes do.
double trees_cost(const CostQuery& query, int trees, TreePlace (*place_of)(int tree, int member, int members));

}  // namespace umbel::algos::all_reduce
