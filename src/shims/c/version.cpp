// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The only file that sees the generated revision: a new commit recompiles this and nothing else.
#include "revision.hpp"
#include "umbel/umbel.h"

#define UMBEL_TEXT_OF(x) #x
#define UMBEL_TEXT(x) UMBEL_TEXT_OF(x)

extern "C" const char* umbel_version(void) {
  return UMBEL_TEXT(UMBEL_VERSION_MAJOR) "." UMBEL_TEXT(UMBEL_VERSION_MINOR) "." UMBEL_TEXT(UMBEL_VERSION_PATCH);
}

extern "C" const char* umbel_revision(void) { return UMBEL_REVISION; }
