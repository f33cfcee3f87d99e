// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

namespace umbel::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  ///< about ten times as slow: a sample of what is done many times over
#else
constexpr bool kSanitized = false;
#endif

}  // namespace umbel::test
