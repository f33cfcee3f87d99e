// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <memory>

#include "runtime/communicator.hpp"

namespace umbel::runtime {

/// Communicator::split, by collectives of `parent`. @param options  of the parent
std::unique_ptr<Communicator> split_by(Communicator& parent, int color, int key, CommOptions options);

}  // namespace umbel::runtime
