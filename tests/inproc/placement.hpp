// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Where the ranks of a parameterized test are.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace umbel::test {

struct Placement {
  int ranks;
  const char* nodes;  ///< as UMBEL_NODES; "" one node
};

/// Those to test on. ThreadSanitizer makes more threads than cores very slow: no more than five ranks there.
template <class Case = Placement>
auto placed_on(std::vector<Case> placements) {
#ifdef __SANITIZE_THREAD__
  std::erase_if(placements, [](const Case& placement) { return placement.ranks > 5; });
#endif
  return testing::ValuesIn(placements);
}

inline std::string name_of_placement(const testing::TestParamInfo<Placement>& info) {
  std::string nodes = *info.param.nodes == '\0' ? "one_node" : info.param.nodes;
  std::ranges::replace_if(
      nodes, [](char c) { return c == ',' || c == '/'; }, '_');
  return "p" + std::to_string(info.param.ranks) + "_" + nodes;
}

}  // namespace umbel::test
