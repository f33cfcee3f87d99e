// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The placements and sizes that proofs use.
#include <algorithm>

#include <gtest/gtest.h>

#include "algos/check/prove.hpp"
#include "algos/check/sizes.hpp"

namespace umbel::algos::check {
namespace {

TEST(Shapes, AreDifferentAndOfEveryKind) {
  for (int ranks = 1; ranks <= 64; ++ranks) {
    const auto shapes = shapes_of(ranks);
    for (std::size_t a = 0; a < shapes.size(); ++a) {
      EXPECT_EQ(shapes[a].shape.ranks(), ranks);
      for (std::size_t b = 0; b < a; ++b)
        EXPECT_FALSE(shapes[a].shape == shapes[b].shape) << shapes[a].name << ", " << shapes[b].name;
    }
    if (ranks < 8) continue;
    const auto any = [&](auto&& holds) {
      return std::ranges::any_of(shapes, [&](const NamedShape& s) { return holds(s.shape); });
    };
    EXPECT_TRUE(any([](const Shape& s) { return s.nodes() == 1; }));
    EXPECT_TRUE(any([&](const Shape& s) { return s.nodes() == ranks; }));
    EXPECT_TRUE(any([](const Shape& s) { return s.levels() == 2; }));
    EXPECT_TRUE(any([](const Shape& s) { return s.smallest_node() < s.largest_node(); }));
    EXPECT_TRUE(any([](const Shape& s) { return s.node_of(0) == s.node_of(2) && s.node_of(0) != s.node_of(1); }))
        << "cyclic";
  }
}

TEST(Shapes, TextNamesTheNodeOfEachRank) {
  EXPECT_EQ(text_of(Shape::one_node(3)), "0,0,0");
  EXPECT_EQ(text_of(Shape::from_nodes(std::vector{5, 2, 5})), "0,1,0");
  EXPECT_EQ(text_of(Shape::from_paths(std::vector<std::vector<int>>{{0, 0}, {0, 1}, {1, 0}})), "0/0,0/1,1/0");
}

Program cut(int blocks, int chunk_blocks, bool pieces, bool chunks) {
  Program p;
  p.blocks = blocks;
  p.chunk_blocks = chunk_blocks;
  p.uses_pieces = pieces;
  p.uses_chunks = chunks;
  return p;
}

Binding bound(const Program& p, const Size& size) {
  constexpr std::size_t kBytes = 4;
  constexpr std::uint64_t kWhole = std::uint64_t{1} << 40U;
  return bind(p, size.count, kBytes,
              {(size.piece ? size.piece : kWhole) * kBytes, (size.chunk ? size.chunk : kWhole) * kBytes}, size.granule);
}

TEST(Sizes, HaveTheWantedPiecesAndChunks) {
  for (const int blocks : {1, 2, 3, 8, 21}) {
    for (const int run : {1, blocks}) {
      const Program p = cut(blocks, run, true, true);
      for (const unsigned pieces : {1U, 2U, 3U}) {
        for (const unsigned chunks : {1U, 2U, 4U}) {
          const Binding b = bound(p, size_of(p, pieces, chunks, 0));
          EXPECT_EQ(b.pieces, pieces);
          EXPECT_EQ(b.chunks, chunks);
        }
      }
    }
  }
}

TEST(Sizes, CoverTheTripsThatReuseSlots) {
  for (const int depth : {1, 2, 3}) {
    const Program p = cut(6, 2, true, true);
    bool seen[8] = {};
    for (const Size& size : sizes_of(std::span(&p, 1), depth, Effort::full))
      seen[std::min(bound(p, size).chunks, 7U)] = true;
    for (const int k : {1, 2, depth, depth + 1}) EXPECT_TRUE(seen[k]) << k;
  }
}

TEST(Sizes, TheFormulaIsCountedInOneChunkOfEqualBlocks) {
  const Program p = cut(6, 3, true, true);
  const Binding b = bound(p, formula_size(p));
  EXPECT_EQ(b.pieces, 1U);
  EXPECT_EQ(b.chunks, 1U);
  EXPECT_EQ(b.count % 6, 0U);
}

}  // namespace
}  // namespace umbel::algos::check
