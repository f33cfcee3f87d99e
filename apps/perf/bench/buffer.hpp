// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <cstddef>

namespace umbel::bench {

/// Memory for one argument of a call, with canaries right before and right after the bytes in use. Touched when it is
/// made, in huge pages where the system gives them: no page fault falls into a measurement.
class Buffer {
 public:
  /// @param registered  from umbel_mem_alloc  @throws std::system_error, umbel::Error
  explicit Buffer(std::size_t capacity, bool registered = false);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* data() const noexcept;
  /// Puts the canaries around the first `bytes` bytes.
  void guard(std::size_t bytes) noexcept;
  /// Canary bytes that somebody has overwritten since guard().
  std::size_t broken_canaries() const noexcept;

 private:
  std::byte* base_ = nullptr;
  std::size_t mapped_ = 0;
  bool registered_ = false;
  std::size_t guarded_ = 0;
};

}  // namespace umbel::bench
