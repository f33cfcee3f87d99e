// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <cstddef>

#include "runtime/communicator.hpp"

namespace umbel::shim {

/// The arrays of a v-form as the caller gives them, by rank: those that its collective has on this rank.
struct GivenShares {
  const std::size_t* send_counts = nullptr;
  const std::size_t* send_displs = nullptr;  ///< nullptr: packed
  const std::size_t* recv_counts = nullptr;  ///< also of a reduce_scatterv
  const std::size_t* recv_displs = nullptr;
};

/// Copies what of them is significant into the call; does nothing for what is no v-form. @throws InvalidArgument
void take_shares(runtime::CallArgs& args, const GivenShares& given, const runtime::Communicator& communicator);

}  // namespace umbel::shim
