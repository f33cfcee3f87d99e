// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// One function per barrier algorithm, which catalog.cpp lists.
#pragma once

#include "algos/families.hpp"

namespace umbel::algos::barrier {

Algorithm direct();
Algorithm dissemination();
Algorithm hierarchical();

}  // namespace umbel::algos::barrier
