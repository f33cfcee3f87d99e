// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <memory>

#include "runtime/communicator.hpp"

/// What a umbel_comm_t points to.
struct umbel_comm {
  std::unique_ptr<umbel::runtime::Communicator> communicator;
};
