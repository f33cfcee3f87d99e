// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Hashes that ranks compare, FNV-1a: the same on every host, which std::hash does not promise.
#pragma once

#include <cstdint>
#include <string_view>

namespace umbel {

inline constexpr std::uint64_t kHashOfNothing = 0xcbf29ce484222325U;

/// The hash with one more byte, or word. It is another for every other `next`.
constexpr std::uint64_t hashed(std::uint64_t hash, std::uint64_t next) { return (hash ^ next) * 0x100000001b3U; }

constexpr std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = kHashOfNothing;
  for (const char letter : text) hash = hashed(hash, static_cast<unsigned char>(letter));
  return hash;
}

/// A shorter one, for which every bit counts.
constexpr std::uint32_t folded32(std::uint64_t hash) { return static_cast<std::uint32_t>(hash ^ hash >> 32U); }
constexpr std::uint16_t folded16(std::uint64_t hash) {
  const std::uint32_t half = folded32(hash);
  return static_cast<std::uint16_t>(half ^ half >> 16U);
}

}  // namespace umbel
