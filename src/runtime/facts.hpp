// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <vector>

#include "runtime/communicator.hpp"
#include "runtime/founding.hpp"

namespace umbel::runtime {

/// What one rank knows of its communicator, for people.
std::vector<Fact> communicator_facts(const Founded& founded);

}  // namespace umbel::runtime
