// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "base/error.hpp"

#include <system_error>

namespace umbel {

void throw_system_error(const std::string& what, int error) {
  throw SystemError(what + ": " + std::generic_category().message(error));
}

}  // namespace umbel
