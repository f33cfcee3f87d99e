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

}  // namespace umbel::algos::broadcast
