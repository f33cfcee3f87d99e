// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The memory of one collective's calls: filled before a call, checked after it.
#pragma once

#include <cstdint>
#include <string>

#include "buffer.hpp"
#include "collective.hpp"
#include "data.hpp"
#include "traits.hpp"
#include "types.hpp"

namespace umbel::bench {

/// One case of a sweep.
struct Case {
  const TypeInfo& type;
  const OpInfo& op;
  const Pattern& pattern;
  int root = 0;
  std::uint64_t count = 0;
  std::string algorithm;  ///< empty: as the communicator is configured
};

enum class Placement { out_of_place, in_place };

class CallData {
 public:
  /// @param capacity    bytes of the largest call
  /// @param registered  the memory comes from umbel_mem_alloc
  CallData(const Traits& traits, const Capacity& capacity, int rank, int ranks, bool registered = false);

  /// Fresh data: that of `iteration`. The call is good until the next one is prepared.
  Call prepare(const Case& c, Placement placement, std::uint64_t iteration);
  /// After the call: elements of the result that are wrong or of the input that were changed, bytes beside the buffers
  /// that were written.
  std::uint64_t count_wrong(const Case& c, Placement placement, const Call& call, std::uint64_t iteration) const;

 private:
  std::uint64_t wrong_inputs(const Case& c, Placement placement, const Call& call, std::uint64_t iteration) const;

  const Traits& traits_;
  int rank_;
  int ranks_;
  Buffer send_;
  Buffer recv_;
  Shares shares_;  // of the call at hand, where they are uneven
};

}  // namespace umbel::bench
