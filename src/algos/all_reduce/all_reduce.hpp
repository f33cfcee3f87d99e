// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// One function per all-reduce algorithm, which catalog.cpp lists.
#pragma once

#include "algos/families.hpp"

namespace umbel::algos::all_reduce {

Algorithm central();
Algorithm ring();
Algorithm recursive_doubling();
Algorithm halving_doubling();
Algorithm double_tree();
Algorithm reduce_broadcast();
Algorithm one_shot();
Algorithm two_shot();
Algorithm hierarchical_ring();
Algorithm hierarchical_tree();
Algorithm hierarchical_hd();
Algorithm hierarchical_leader();

}  // namespace umbel::algos::all_reduce
