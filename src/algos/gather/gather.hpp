// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// One function per gather algorithm, which catalog.cpp lists.
#pragma once

#include "algos/families.hpp"

namespace umbel::algos::gather {

Algorithm direct();
Algorithm linear();
Algorithm binomial();
Algorithm hierarchical();
Algorithm hierarchical_bundles();

}  // namespace umbel::algos::gather
