// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// One function per reduce-scatter algorithm, which catalog.cpp lists.
#pragma once

#include "algos/families.hpp"

namespace umbel::algos::reduce_scatter {

Algorithm direct();
Algorithm ring();
Algorithm halving();
Algorithm pat();
Algorithm hierarchical_ring();
Algorithm hierarchical_leader();
Algorithm pairwise();

}  // namespace umbel::algos::reduce_scatter
