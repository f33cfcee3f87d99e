// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "net/window/window.hpp"

namespace umbel::runtime {

/// Blocks of memory that node-mates can map, cut from a few windows. A window is never unmapped, and each new one is as
/// large as all before it together: however many communicators come and go, a process has few windows, and its
/// node-mates few mappings. Memory stands behind the blocks that are in use, nowhere else.
class SharedMemory {
 public:
  /// @param peers  what node-mates may do in it
  explicit SharedMemory(net::Peers peers = net::Peers::write) : peers_(peers) {}

  struct Block {
    std::size_t window = 0;  ///< which; see descriptor()
    std::size_t offset = 0;  ///< in its data
    std::size_t bytes = 0;
    std::byte* data = nullptr;
  };

  /// Zeroed, whole pages. @throws SystemError with what to do, when there is not enough memory.
  Block allocate(std::size_t bytes);
  void release(const Block& block) noexcept;
  const net::Window& window(const Block& block) const noexcept { return segments_[block.window].window; }
  const net::WindowDescriptor& descriptor(const Block& block) const noexcept { return window(block).descriptor(); }
  std::size_t windows() const noexcept { return segments_.size(); }

 private:
  struct Segment {
    net::Window window;
    std::map<std::size_t, std::size_t> free;  ///< bytes by offset; neighbours are one
  };

  static bool take(Segment& segment, std::size_t bytes, Block& block);
  static void give_back(Segment& segment, std::size_t offset, std::size_t bytes);
  Segment& add_segment(std::size_t bytes);

  net::Peers peers_;
  std::vector<Segment> segments_;
  std::size_t total_ = 0;  ///< bytes of all windows
};

}  // namespace umbel::runtime
