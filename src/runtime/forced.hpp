// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/collective.hpp"

namespace umbel::runtime {

/// Which algorithm each collective is to use, by what UMBEL_ALGORITHM and umbel_comm_set_algorithm take:
///
///   ""  or  auto                the cost model chooses
///   ring                        for every collective that has an algorithm of this name; the others choose
///   all_reduce:ring,broadcast:chain
///                               for these; the others choose
class ForcedAlgorithms {
 public:
  ForcedAlgorithms() { index_.fill(-1); }
  /// @throws InvalidArgument that lists the names, when there is no such collective or algorithm.
  explicit ForcedAlgorithms(std::string_view text);

  /// Its place in the collective's catalog; −1: chosen per call.
  std::int32_t of(Collective collective) const { return index_[static_cast<std::size_t>(plain(collective))]; }

 private:
  void take(std::string_view choice);

  std::array<std::int32_t, kCollectiveCount> index_{};
};

/// The same for one collective: a bare name must be one of its own. −1 for "" and "auto". @throws InvalidArgument
std::int32_t algorithm_index(Collective collective, std::string_view name);

}  // namespace umbel::runtime
