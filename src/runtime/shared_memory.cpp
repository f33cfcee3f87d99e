// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/shared_memory.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.hpp"

namespace umbel::runtime {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kLeastWindow = std::size_t{64} << 20U;

/// By `ulimit -v`, which node-mates that map the window are likely to have too.
bool address_space_is_limited() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

}  // namespace

SharedMemory::Block SharedMemory::allocate(std::size_t bytes) {
  bytes = (bytes + kPage - 1) / kPage * kPage;
  Block block;
  bool found = false;
  for (std::size_t n = 0; n < segments_.size() && !found; ++n) {
    found = take(segments_[n], bytes, block);
    block.window = n;
  }
  if (!found) {
    take(add_segment(bytes), bytes, block);
    block.window = segments_.size() - 1;
  }
  Segment& segment = segments_[block.window];
  try {
    segment.window.populate(block.offset, bytes);
  } catch (...) {
    release(block);
    throw;
  }
  return block;
}

void SharedMemory::release(const Block& block) noexcept {
  Segment& segment = segments_[block.window];
  segment.window.discard(block.offset, block.bytes);
  give_back(segment, block.offset, block.bytes);
}

bool SharedMemory::take(Segment& segment, std::size_t bytes, Block& block) {
  const auto found = std::ranges::find_if(segment.free, [bytes](const auto& hole) { return hole.second >= bytes; });
  if (found == segment.free.end()) return false;
  const auto [offset, room] = *found;
  segment.free.erase(found);
  if (room > bytes) segment.free.emplace(offset + bytes, room - bytes);
  block = {.window = 0, .offset = offset, .bytes = bytes, .data = segment.window.data() + offset};
  return true;
}

void SharedMemory::give_back(Segment& segment, std::size_t offset, std::size_t bytes) {
  auto after = segment.free.lower_bound(offset);
  if (after != segment.free.end() && after->first == offset + bytes) {
    bytes += after->second;
    after = segment.free.erase(after);
  }
  if (after != segment.free.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == offset) {
      before->second += bytes;
      return;
    }
  }
  segment.free.emplace_hint(after, offset, bytes);
}

SharedMemory::Segment& SharedMemory::add_segment(std::size_t bytes) {
  const auto make = [this](std::size_t size) {
    Segment segment{.window = net::Window::create(size, peers_), .free = {}};
    segment.free.emplace(0, segment.window.bytes());
    return segment;
  };
  const std::size_t generous = address_space_is_limited() ? bytes : std::max({bytes, kLeastWindow, total_});
  try {
    segments_.push_back(make(generous));
  } catch (const SystemError&) {  // a limit on file sizes: what is needed must do
    if (generous == bytes) throw;
    segments_.push_back(make(bytes));
  }
  total_ += segments_.back().window.bytes();
  return segments_.back();
}

}  // namespace umbel::runtime
