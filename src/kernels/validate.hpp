// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include "base/program.hpp"

namespace umbel::kernels {

/// Checks what the interpreter relies on: instruction kinds fit their lanes, loops nest and match, indices are in
/// range. Says nothing about what the program computes. To be called once per built program.
/// @throws InvalidArgument naming the instruction.
void validate(const Program& program);

}  // namespace umbel::kernels
