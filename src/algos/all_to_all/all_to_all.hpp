// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// One function per all-to-all algorithm, which catalog.cpp lists.
#pragma once

#include "algos/families.hpp"

namespace umbel::algos::all_to_all {

Algorithm direct();
Algorithm pairwise();
Algorithm bruck();
Algorithm hierarchical();
Algorithm hierarchical_bundles();
Algorithm hierarchical_rails();

}  // namespace umbel::algos::all_to_all
