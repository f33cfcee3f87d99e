// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Callers' memory that node-mates read in place (umbel_mem_alloc), from both ends.
//
// The owner cuts it from a few windows, as arenas are cut, but from windows of its own: node-mates map them for reading
// only. A window is never unmapped, nor used for anything else, so that an address in it is the same memory for ever:
// whoever has mapped the window needs to hear nothing of what is allocated and freed in it, and an address that is
// given out again is read where it is. Which windows there are, an owner says in its arena, when a buffer first lies in
// one.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/types.hpp"
#include "net/window/window.hpp"
#include "runtime/shared_memory.hpp"

namespace umbel::runtime {

/// A window of registered memory. Plain data.
struct RegisteredWindow {
  std::uint64_t begin = 0;  ///< of its data, in the owner's memory
  net::WindowDescriptor window;

  std::uint64_t bytes() const noexcept { return window.total_bytes - window.header_bytes; }
  /// Whether all of these bytes of the owner's memory are in it.
  bool holds(std::uint64_t address, std::uint64_t bytes_there) const noexcept {
    return address >= begin && address - begin < bytes() && bytes_there <= bytes() - (address - begin);
  }
};

/// The windows that an owner has told its node-mates of. Only added to, by the owner.
struct RegisteredWindows {
  static constexpr std::uint32_t kMost = 16;  ///< each is as large as all before it: more than there is memory
  std::atomic<std::uint32_t> count{0};        ///< stored (release) when the window is there
  std::array<RegisteredWindow, kMost> windows;

  /// The window's number, from 1; added where it is new. 0 when there is no room: node-mates will not know.
  std::uint32_t tell(const RegisteredWindow& window) noexcept;
};

/// This process's registered memory. For any threads at the same time.
class RegisteredMemory {
 public:
  /// Lives to the end of the process.
  static RegisteredMemory& of_process();

  RegisteredMemory() = default;
  RegisteredMemory(const RegisteredMemory&) = delete;
  RegisteredMemory& operator=(const RegisteredMemory&) = delete;

  /// Zeroed, whole pages, which lie where the calling thread's do; nullptr for 0 bytes.
  /// @throws SystemError with what to do, when there is not enough memory
  void* allocate(std::size_t bytes);
  /// nullptr is allowed. @throws InvalidArgument when it was not allocated here, or is free already
  void release(void* memory);
  /// The window that all of these bytes are in.
  std::optional<RegisteredWindow> find(const void* address, std::size_t bytes) const;

 private:
  std::mutex memory_mutex_;  ///< held while pages are made, which may take long
  SharedMemory memory_{net::Peers::read};
  mutable std::mutex mutex_;  ///< of the rest; never held for long
  std::map<const void*, SharedMemory::Block> blocks_;
  std::vector<RegisteredWindow> windows_;
};

/// Owner of registered memory.
class RegisteredBlock {
 public:
  RegisteredBlock() = default;
  explicit RegisteredBlock(std::size_t bytes) : memory_(RegisteredMemory::of_process().allocate(bytes)) {}
  void* data() const noexcept { return memory_.get(); }

 private:
  struct Release {
    void operator()(void* memory) const noexcept;
  };
  std::unique_ptr<void, Release> memory_;
};

/// Node-mates' registered memory, as far as it is mapped here: a window is when it is first asked for. The mappings end
/// with this object. Not thread-safe.
class MappedMemory {
 public:
  /// Where an address of `owner` is here. nullptr where its window cannot be mapped: that memory is read as any other.
  /// @param number  of the window in `told`, counted from 1
  std::byte* in_window(Rank owner, const RegisteredWindows& told, std::uint32_t number, std::uint64_t address) {
    if (static_cast<std::size_t>(owner) >= known_.size() || known_[static_cast<std::size_t>(owner)].size() < number)
      map(owner, told, number);
    const Known& known = known_[static_cast<std::size_t>(owner)][number - 1];
    return known.window ? known.window->data() + (address - known.begin) : nullptr;
  }
  /// The same, in whatever window of `told` all of these bytes are; nullptr too when they are in none.
  std::byte* find(Rank owner, const RegisteredWindows& told, std::uint64_t address, std::size_t bytes);

 private:
  struct Known {
    std::uint64_t begin = 0;                     ///< in the owner's memory
    std::optional<net::PeerWindow> window = {};  ///< nothing: it could not be mapped, and is not tried again
  };
  void map(Rank owner, const RegisteredWindows& told, std::uint32_t up_to);

  std::vector<std::vector<Known>> known_;  ///< by rank and number
};

}  // namespace umbel::runtime
