// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Whether an algorithm folds in the canonical order: the balanced binary tree over rank numbers, lower ranks on the
// left, the left part of every subtree a power of two. An algorithm that does gives the same bits on every placement of
// the ranks, and the same as every other one that does.
//
// Each algorithm says so by telling, once more and in terms of the ranks that a partial result contains, in which order
// it folds; the checker finds the same out from the programs, and a proof fails where the two differ.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "base/shape.hpp"

namespace umbel::algos {

/// What a partial result contains: the canonical tree over ranks [first, first + leaves), or, with no leaves, anything
/// else.
struct Span {
  Rank first = 0;
  int leaves = 0;

  static Span of(Rank rank) { return {.first = rank, .leaves = 1}; }
  bool canonical(const Shape& shape) const { return leaves == shape.ranks(); }
};

/// The fold of two partial results.
inline Span fold(const Span& left, const Span& right) {
  const int leaves = left.leaves + right.leaves;
  const bool fits = left.leaves > 0 && right.leaves > 0 && right.first == left.first + left.leaves &&
                    left.leaves == static_cast<int>(std::bit_floor(static_cast<unsigned>(leaves - 1)));
  return {.first = std::min(left.first, right.first), .leaves = fits ? leaves : 0};
}

/// Folded left to right, lower ranks first.
inline Span fold(std::vector<Span> operands) {
  std::ranges::sort(operands, {}, &Span::first);
  Span all = operands.front();
  for (std::size_t k = 1; k < operands.size(); ++k) all = fold(all, operands[k]);
  return all;
}

/// Folded as a balanced tree whose left parts are powers of two, lower ranks first.
inline Span fold_as_tree(std::vector<Span> operands) {
  std::ranges::sort(operands, {}, &Span::first);
  for (std::size_t step = 1; step < operands.size(); step *= 2)
    for (std::size_t left = 0; left + step < operands.size(); left += 2 * step)
      operands[left] = fold(operands[left], operands[left + step]);
  return operands.front();
}

inline std::vector<Span> spans_of(const std::vector<Rank>& ranks) {
  std::vector<Span> spans;
  for (Rank rank : ranks) spans.push_back(Span::of(rank));
  return spans;
}

/// Whether partial results that go around a ring, from each member to the one before it, and collect the members' own,
/// are all canonical at the end.
inline bool folds_around_canonically(const std::vector<Span>& members, const Shape& shape) {
  for (std::size_t start = 0; start < members.size(); ++start) {
    Span block = members[start];
    for (std::size_t hops = 1; hops < members.size(); ++hops) {
      block = fold({block, members[(start + hops) % members.size()]});
      if (block.leaves == 0) return false;
    }
    if (!block.canonical(shape)) return false;
  }
  return true;
}

}  // namespace umbel::algos
