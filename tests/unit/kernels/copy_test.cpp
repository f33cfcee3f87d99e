// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "kernels/host/copy.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace umbel::kernels {
namespace {

/// Of all sizes and alignments the same bytes as std::copy, and nothing beside them.
void expect_copies(void (*copies)(void*, const void*, std::size_t)) {
  constexpr std::size_t kRoom = 6000, kGuard = 64;
  std::vector<unsigned char> from(kRoom);
  std::iota(from.begin(), from.end(), static_cast<unsigned char>(1));
  for (const std::size_t bytes :
       {0, 1, 15, 16, 31, 32, 63, 64, 65, 127, 128, 129, 255, 256, 300, 1000, 2047, 2048, 2049, 5003}) {
    for (std::size_t to_at = kGuard; to_at < kGuard + 65; ++to_at) {
      for (const std::size_t from_at : {0, 1, 16, 33}) {
        std::vector<unsigned char> to(kRoom, 0xee), expected = to;
        std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(from_at), bytes,
                    expected.begin() + static_cast<std::ptrdiff_t>(to_at));
        copies(to.data() + to_at, from.data() + from_at, bytes);
        ASSERT_EQ(to, expected) << bytes << " bytes from " << from_at << " to " << to_at;
      }
    }
  }
  copies(from.data(), from.data(), from.size());  // onto itself: nothing
  EXPECT_EQ(from[1], 2);
}

TEST(Copy, CopiesWhatStdCopyCopies) { expect_copies(copy); }
TEST(CopyPastCache, CopiesWhatStdCopyCopies) { expect_copies(copy_past_cache); }

}  // namespace
}  // namespace umbel::kernels
