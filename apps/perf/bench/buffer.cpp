// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "buffer.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include "umbel/umbel.hpp"

namespace umbel::bench {
namespace {

constexpr std::size_t kFront = 4096;  // keeps the data aligned to a page
constexpr std::size_t kCanary = 256;
constexpr std::byte kMark{0xC5};

std::size_t broken(const std::byte* canary) {
  return static_cast<std::size_t>(std::count_if(canary, canary + kCanary, [](std::byte b) { return b != kMark; }));
}

}  // namespace

Buffer::Buffer(std::size_t capacity, bool registered) : mapped_(kFront + capacity + kCanary), registered_(registered) {
  void* memory = nullptr;
  if (registered) {
    check(umbel_mem_alloc(&memory, mapped_));
  } else {
    memory = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      throw std::system_error(errno, std::generic_category(),
                              "cannot allocate " + std::to_string(mapped_) + " bytes for a buffer");
    }
    ::madvise(memory, mapped_, MADV_HUGEPAGE);  // a wish
  }
  base_ = static_cast<std::byte*>(memory);
  std::memset(base_, 0, mapped_);
  guard(0);
}

Buffer::~Buffer() {
  if (registered_) {
    umbel_mem_free(base_);
  } else {
    ::munmap(base_, mapped_);
  }
}

void* Buffer::data() const noexcept { return base_ + kFront; }

void Buffer::guard(std::size_t bytes) noexcept {
  guarded_ = bytes;
  std::memset(base_ + kFront - kCanary, static_cast<int>(kMark), kCanary);
  std::memset(base_ + kFront + bytes, static_cast<int>(kMark), kCanary);
}

std::size_t Buffer::broken_canaries() const noexcept {
  return broken(base_ + kFront - kCanary) + broken(base_ + kFront + guarded_);
}

}  // namespace umbel::bench
