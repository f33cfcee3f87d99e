// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// One function per all-gather algorithm, which catalog.cpp lists.
#pragma once

#include "algos/families.hpp"

namespace umbel::algos::all_gather {

Algorithm direct();
Algorithm ring();
Algorithm recursive_doubling();
Algorithm bruck();
Algorithm neighbor();
Algorithm pat();
Algorithm hierarchical_ring();
Algorithm hierarchical_leader();

}  // namespace umbel::algos::all_gather
