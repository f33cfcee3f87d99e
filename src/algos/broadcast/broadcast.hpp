// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// One function per broadcast algorithm, which catalog.cpp lists.
#pragma once

#include "algos/families.hpp"

namespace umbel::algos::broadcast {

Algorithm direct();
Algorithm binomial();
Algorithm knomial();
Algorithm chain();
Algorithm scatter_all_gather();
Algorithm double_tree();
Algorithm hierarchical_chain();
Algorithm hierarchical_tree();
Algorithm hierarchical_rails();

}  // namespace umbel::algos::broadcast
