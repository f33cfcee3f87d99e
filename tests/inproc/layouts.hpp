// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Ways to place a number of ranks on nodes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/shape.hpp"
#include "runtime/placement.hpp"
#include "support/sanitized.hpp"

namespace umbel::test {

/// UMBEL_NODES for `ranks` ranks, by a rank's path.
template <class PathOf>
std::string placed(int ranks, const PathOf& path_of) {
  std::string text;
  for (int rank = 0; rank < ranks; ++rank) text += (rank == 0 ? "" : ",") + path_of(rank);
  return text;
}

/// Ways to place so many ranks, of which no two are the same.
inline std::vector<std::string> layouts(int ranks) {
  const int last = ranks - 1, half = ranks / 2;
  const auto nodes = [&](const auto& node_of) {
    return placed(ranks, [&](int r) { return fmt::format("{}", node_of(r)); });
  };
  const auto racks = [&](const auto& rack_of, const auto& node_of) {
    return placed(ranks, [&](int r) { return fmt::format("{}/{}", rack_of(r), node_of(r)); });
  };
  const std::vector<std::string> all{
      nodes([](int) { return 0; }),                                          // one node
      nodes([&](int r) { return r * 2 / ranks; }),                           // two alike
      nodes([&](int r) { return r * 3 / ranks; }),                           // three
      nodes([](int r) { return r / 2; }),                                    // pairs
      nodes([](int r) { return r; }),                                        // each alone
      nodes([](int r) { return r % 2; }),                                    // cyclic
      nodes([](int r) { return r % 3; }),                                    //
      nodes([&](int r) { return std::min(r, last - r); }),                   // from both ends
      nodes([](int r) { return r == 0 ? 0 : 1; }),                           // uneven
      nodes([&](int r) { return r == last ? 1 : 0; }),                       //
      nodes([&](int r) { return r == half ? 1 : 0; }),                       //
      nodes([&](int r) { return r < half ? 0 : r; }),                        //
      nodes([&](int r) { return r <= half ? r : half + 1; }),                //
      racks([&](int r) { return r * 2 / ranks; }, [](int r) { return r; }),  // three levels
      racks([](int r) { return r % 2; }, [](int r) { return r / 2; }),       //
      racks([](int r) { return r / 2 % 2; }, [](int r) { return r / 2; }),   //
      racks([&](int r) { return r == last ? 1 : 0; }, [](int r) { return r / 2; }),
  };
  std::vector<std::string> distinct;
  std::vector<Shape> shapes;
  for (const std::string& text : all) {
    const Shape shape = Shape::from_paths(runtime::parse_placement(text, ranks));
    if (std::ranges::find(shapes, shape) != shapes.end()) continue;
    shapes.push_back(shape);
    distinct.push_back(text);
  }
  EXPECT_GE(distinct.size(), ranks < 4 ? 8U : 12U);
  if (kSanitized) {
    for (std::size_t k = 0; k * 4 < distinct.size(); ++k) distinct[k] = distinct[k * 4];
    distinct.resize((distinct.size() + 3) / 4);
  }
  return distinct;
}

}  // namespace umbel::test
