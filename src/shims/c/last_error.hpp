// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <string>
#include <utility>

#include "umbel/umbel.h"

namespace umbel::shim {

/// Makes `message` the calling thread's last error; returns `result`. Never throws: without memory the text is cut.
umbel_result_t fail(umbel_result_t result, const std::string& message) noexcept;

/// For catch blocks: the code and message of the exception in flight.
umbel_result_t fail_with_current_exception() noexcept;

const char* last_error() noexcept;

/// Runs `body` and turns exceptions into codes.
template <class Body>
umbel_result_t guarded(Body&& body) noexcept {
  try {
    std::forward<Body>(body)();
    return UMBEL_SUCCESS;
  } catch (...) {
    return fail_with_current_exception();
  }
}

}  // namespace umbel::shim
