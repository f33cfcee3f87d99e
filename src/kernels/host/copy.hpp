// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <cstddef>
#include <cstdint>

namespace umbel::kernels {

/// dst ← src; the two are equal or disjoint.
void copy(void* dst, const void* src, std::size_t bytes);

/// dst ← src, by stores that do not fetch what they overwrite: a third less traffic where `dst` is not in a cache, and
/// slower where it is. Complete before anything that this thread stores afterwards. The two are equal or disjoint.
void copy_past_cache(void* dst, const void* src, std::size_t bytes);

}  // namespace umbel::kernels
