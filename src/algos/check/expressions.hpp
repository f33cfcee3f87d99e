// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/types.hpp"

namespace umbel::algos::check {

/// An expression over the ranks' inputs: number in a table where equal expressions have equal numbers. 0: no value.
using Expr = std::uint32_t;

/// The table of expressions. An expression is a leaf "rank r's input" or a reduce of operands, folded left to right and
/// rounded once; which element it is about is kept beside it, so that the elements of a block share their expressions.
class Expressions {
 public:
  explicit Expressions(int ranks);

  Expr leaf(Rank rank) const { return static_cast<Expr>(rank) + 1; }

  /// Why operands cannot be combined.
  enum class Trouble : std::uint8_t { none, twice, order, final_inside };
  /// The reduce of `operands`. One operand that is not final is itself.
  struct Result {
    Expr expr = 0;
    Trouble trouble = Trouble::none;
    Rank rank = -1;  ///< twice: who contributes twice
  };
  Result reduce(std::span<const Expr> operands, bool final, bool lower_first);

  /// Contains every rank once, and the last fold is marked final.
  bool complete(Expr expr) const;
  /// The balanced binary tree over the rank numbers: left parts are aligned powers of two.
  bool canonical(Expr expr) const;
  /// Ranks that `expr` lacks.
  std::vector<Rank> missing(Expr expr) const;
  bool is_final(Expr expr) const { return nodes_[expr].final; }

  /// "((0+1)+2)", "!" marks a final fold.
  std::string text(Expr expr) const;

 private:
  struct Node {
    std::uint32_t first = 0;  ///< operands_[first, first + count); none: a leaf
    std::uint32_t count = 0;
    Rank lowest = 0;
    std::int32_t tree = 0;  ///< > 0: the canonical tree over [lowest, lowest + tree)
    std::int32_t leaves = 0;
    bool final = false;
  };
  std::uint64_t* members(Expr expr) { return members_.data() + expr * words_; }
  const std::uint64_t* members(Expr expr) const { return members_.data() + expr * words_; }
  std::optional<Expr> find(std::span<const Expr> operands, bool final, std::uint64_t hash) const;
  Result insert(std::span<const Expr> operands, bool final, bool lower_first, std::uint64_t hash);

  int ranks_;
  std::size_t words_;
  std::vector<Node> nodes_;
  std::vector<Expr> operands_;
  std::vector<std::uint64_t> members_;
  std::unordered_multimap<std::uint64_t, Expr> index_;
};

}  // namespace umbel::algos::check
