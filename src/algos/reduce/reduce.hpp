// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// One function per reduce algorithm, which catalog.cpp lists.
#pragma once

#include "algos/families.hpp"

namespace umbel::algos::reduce {

Algorithm central();
Algorithm direct();
Algorithm binomial();
Algorithm chain();
Algorithm double_tree();
Algorithm reduce_scatter_gather();
Algorithm hierarchical_leader();
Algorithm hierarchical_tree();
Algorithm hierarchical_chain();

}  // namespace umbel::algos::reduce
