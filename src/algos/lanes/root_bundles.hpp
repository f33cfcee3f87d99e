// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Bundles between a root and each other node: gather's and scatter's `hierarchical_bundles`, which differ in the
// direction only.
#pragma once

#include "algos/algorithm.hpp"

namespace umbel::algos {

/// Shares of the largest bundle: the ranks of the largest node without the root, if these are several; else 0.
int largest_bundle(const Shape& shape, Rank root);

/// What a call is made of, for costs.
struct RootBundles {
  explicit RootBundles(const CostQuery& query);

  int largest = 0;      ///< shares of the largest bundle
  int bundled = 0;      ///< shares in all bundles
  int alone = 0;        ///< shares that go between the root and another node without company
  int mates = 0;        ///< of the root
  double messages = 0;  ///< of all bundles
};

/// @param collective  gather or scatter
Program build_root_bundles(Collective collective, Rank rank, const Shape& shape, const Spec& spec);

}  // namespace umbel::algos
