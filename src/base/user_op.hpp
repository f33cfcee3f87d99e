// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <cstddef>

#include "base/types.hpp"

namespace umbel {

/// A reduction that the caller defines: an associative function of whole elements.
struct UserOp {
  /// right_inout[i] = left[i] op right_inout[i] for `count` elements. The operands do not overlap; `left` stays as it
  /// is. Called by the thread that runs the collective, with no lock held; what it throws comes out of the collective.
  void (*fold)(const void* left, void* right_inout, std::size_t count, DType dtype, void* context) = nullptr;
  void* context = nullptr;
  bool commutative = true;
};

}  // namespace umbel
