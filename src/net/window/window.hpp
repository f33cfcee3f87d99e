// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "net/process.hpp"

namespace umbel::net {

/// What other processes may do in a window.
enum class Peers : std::int32_t { write, read };

/// Names a window to other processes. Plain data, to be exchanged over the bootstrap.
struct WindowDescriptor {
  std::uint64_t nonce[2] = {};    ///< random; also stands in the window's first line
  std::uint64_t total_bytes = 0;  ///< of the mapping: header and data
  std::uint64_t header_bytes = 0;
  ProcessId owner;
  std::uint64_t pid_ns = 0;  ///< inode of the owner's PID namespace
  std::int32_t fd = -1;
  Peers peers = Peers::write;  ///< how they map it
};

namespace detail {
class Mapping;  // owner of one mmap; shared by a window and its attachments inside one process
}

/// Another rank's window, mapped here. Movable, not copyable. Stays valid when the owner dies or closes its window.
class PeerWindow {
 public:
  /// The owner's data area: the same bytes that the owner sees at Window::data(). Of a window that peers only read, a
  /// write here is a fault.
  std::byte* data() const noexcept;
  std::size_t bytes() const noexcept;

 private:
  friend std::optional<PeerWindow> attach(const WindowDescriptor& descriptor);
  explicit PeerWindow(std::shared_ptr<detail::Mapping> mapping);
  std::shared_ptr<detail::Mapping> mapping_;
};

/// Anonymous memory of this process (a memfd) that other processes of the node can map.
///
/// Nothing of it has a name in the file system and nothing remains after SIGKILL: it is gone when the last process that
/// has mapped it is gone. It does not live in /dev/shm either (a memfd is on the kernel's own tmpfs), so a container's
/// 64 KB /dev/shm is no limit; what can run out is memory (or its control group's limit) and descriptors, and both are
/// found out when it is made or populated, not by a SIGBUS later.
///
/// Whether two processes share a node is what attach() and a real write show, in both directions.
///
/// Ranks that are threads of one process get the owner's own mapping: two mappings of one memory would be invisible to
/// ThreadSanitizer.
class Window {
 public:
  /// `bytes` of data, page aligned, without pages yet: populate() before use.
  /// @throws SystemError with what to do, when descriptors or address space do not suffice.
  static Window create(std::size_t bytes, Peers peers = Peers::write);

  Window(Window&&) noexcept = default;
  Window& operator=(Window&&) noexcept = default;

  std::byte* data() const noexcept;
  std::size_t bytes() const noexcept;
  const WindowDescriptor& descriptor() const noexcept { return descriptor_; }

  /// Gives [offset, offset + bytes) zeroed pages now: later, in the middle of a collective, a missing page would be a
  /// SIGBUS. @pre page aligned. @throws SystemError with the bytes needed and what to do.
  void populate(std::size_t offset, std::size_t bytes);
  /// Gives the memory back; it reads as zeroes when it is populated again. @pre page aligned
  void discard(std::size_t offset, std::size_t bytes) noexcept;

 private:
  Window(std::shared_ptr<detail::Mapping> mapping, const WindowDescriptor& descriptor);
  std::shared_ptr<detail::Mapping> mapping_;
  WindowDescriptor descriptor_;
};

/// Maps another rank's window, or this process's own again. Empty when it cannot be reached from here: another host,
/// another PID namespace, no permission, or a different window under that number (the nonce decides).
/// @throws SystemError when it is the right window but cannot be mapped (out of memory or descriptors).
std::optional<PeerWindow> attach(const WindowDescriptor& descriptor);

}  // namespace umbel::net
