// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/check/expressions.hpp"

#include <gtest/gtest.h>

namespace umbel::algos::check {
namespace {

using Trouble = Expressions::Trouble;

Expr fold(Expressions& table, std::initializer_list<Expr> operands, bool final = false) {
  const auto result = table.reduce(std::vector<Expr>(operands), final, true);
  EXPECT_EQ(result.trouble, Trouble::none);
  return result.expr;
}

TEST(Expressions, EqualOnesHaveEqualNumbers) {
  Expressions table(3);
  const Expr a = fold(table, {table.leaf(0), table.leaf(1)});
  EXPECT_EQ(a, fold(table, {table.leaf(0), table.leaf(1)}));
  EXPECT_NE(a, fold(table, {table.leaf(0), table.leaf(1)}, true))
      << "where it is divided and rounded last is part of it";
  const Expr stepwise = fold(table, {a, table.leaf(2)});
  const Expr at_once = fold(table, {table.leaf(0), table.leaf(1), table.leaf(2)});
  EXPECT_NE(stepwise, at_once) << "rounded after each fold, or once";
  EXPECT_EQ(table.text(stepwise), "((0+1)+2)");
  EXPECT_EQ(table.text(at_once), "(0+1+2)");
}

TEST(Expressions, OneOperandIsItselfUnlessFinal) {
  Expressions table(2);
  EXPECT_EQ(fold(table, {table.leaf(1)}), table.leaf(1));
  EXPECT_NE(fold(table, {table.leaf(1)}, true), table.leaf(1));
}

TEST(Expressions, RefusesWhatCannotBeCombined) {
  Expressions table(70);  // more ranks than bits in a word
  const Expr a = fold(table, {table.leaf(3), table.leaf(68)});
  EXPECT_EQ(table.reduce(std::vector{a, table.leaf(68)}, false, true).trouble, Trouble::twice);
  EXPECT_EQ(table.reduce(std::vector{a, table.leaf(68)}, false, true).rank, 68);
  EXPECT_EQ(table.reduce(std::vector{table.leaf(5), a}, false, true).trouble, Trouble::order);
  EXPECT_EQ(table.reduce(std::vector{table.leaf(5), a}, false, false).trouble, Trouble::none);
  const Expr done = fold(table, {a, table.leaf(5)}, true);
  EXPECT_EQ(table.reduce(std::vector{table.leaf(0), done}, false, true).trouble, Trouble::final_inside);
}

TEST(Expressions, CompleteIsEveryRankOnceAndOneFinalFold) {
  Expressions table(3);
  const Expr two = fold(table, {table.leaf(0), table.leaf(1)});
  EXPECT_FALSE(table.complete(two));
  EXPECT_EQ(table.missing(two), std::vector<Rank>{2});
  EXPECT_FALSE(table.complete(fold(table, {two, table.leaf(2)})));
  EXPECT_TRUE(table.complete(fold(table, {two, table.leaf(2)}, true)));
  const Expressions alone(1);
  EXPECT_TRUE(alone.complete(alone.leaf(0))) << "one rank may copy";
}

/// The balanced tree over [low, low + n), by its definition.
Expr balanced(Expressions& table, Rank low, int n) {
  if (n == 1) return table.leaf(low);
  int left = 1;
  while (left * 2 < n) left *= 2;
  return fold(table, {balanced(table, low, left), balanced(table, low + left, n - left)});
}

TEST(Expressions, KnowsTheCanonicalTree) {
  for (int ranks = 1; ranks <= 20; ++ranks) {
    Expressions table(ranks);
    EXPECT_TRUE(table.canonical(balanced(table, 0, ranks))) << ranks;
    Expr chain = table.leaf(0);
    for (Rank r = 1; r < ranks; ++r) chain = fold(table, {chain, table.leaf(r)});
    EXPECT_EQ(table.canonical(chain), ranks <= 3) << ranks;
  }
}

}  // namespace
}  // namespace umbel::algos::check
