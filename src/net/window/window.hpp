// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace umbel::net {

/// Names a window to other processes. Plain data, to be exchanged over the bootstrap.
struct WindowDescriptor {
  std::uint64_t nonce[2] = {};    ///< random; also stands in the window's first line
  std::uint64_t total_bytes = 0;  ///< of the mapping: header and data
  std::uint64_t header_bytes = 0;
  std::uint64_t start_time = 0;  ///< of the owner, in clock ticks since boot: tells a reused process number
  std::uint64_t pid_ns = 0;      ///< inode of the owner's PID namespace
  std::int32_t pid = 0;
  std::int32_t fd = -1;
};

namespace detail {
class Mapping;  // owner of one mmap; shared by a window and its attachments inside one process
}

/// Another rank's window, mapped here. Movable, not copyable. Stays valid when the owner dies or closes its window.
class PeerWindow {
 public:
  /// The owner's data area: the same bytes that the owner sees at Window::data().
  std::byte* data() const noexcept;
  std::size_t bytes() const noexcept;

  /// Writes `token` into slot `slot` of the owner's probe area, to be checked by the owner with Window::token.
  /// @pre slot < the owner's `probe_slots`.
  void leave_token(std::size_t slot, std::uint64_t token) const noexcept;

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
/// found out while it is made, not by a SIGBUS later.
///
/// Who shares a node, decided by a real read and a real write, all ranks together:
///
///     Window mine = Window::create(bytes, bootstrap.size);
///     auto all = all_gather(bootstrap, mine.descriptor());
///     for (peer …) { auto w = attach(all[peer]); if (w) w->leave_token(my_rank, token(my_rank, peer)); }
///     bootstrap.barrier();
///     mine.close_fd();                    // all who could have attached, have
///     for (peer …) seen[peer] = mine.token(peer) == token(peer, my_rank);   // they really write into my memory
///     // peers share memory when attach succeeded and seen[] holds in both directions: exchange and combine by AND.
///
/// Ranks that are threads of one process get the owner's own mapping: two mappings of one memory would be invisible to
/// ThreadSanitizer.
class Window {
 public:
  /// `bytes` of zeroed data, page aligned, plus a header with `probe_slots` slots.
  /// @throws SystemError with the bytes needed and what to do, when memory or descriptors do not suffice.
  static Window create(std::size_t bytes, std::size_t probe_slots = 1);

  Window(Window&&) noexcept = default;
  Window& operator=(Window&& other) noexcept;
  ~Window();

  std::byte* data() const noexcept;
  std::size_t bytes() const noexcept;
  const WindowDescriptor& descriptor() const noexcept { return descriptor_; }

  /// What a peer left in the slot; 0 when nobody did.
  std::uint64_t token(std::size_t slot) const noexcept;

  /// Closes the descriptor: nobody can attach from now on (other than from this process); mappings stay.
  void close_fd() noexcept;

 private:
  Window(std::shared_ptr<detail::Mapping> mapping, const WindowDescriptor& descriptor);
  std::shared_ptr<detail::Mapping> mapping_;
  WindowDescriptor descriptor_;
};

/// Maps another rank's window, or this process's own again. Empty when it cannot be reached from here: another host,
/// another PID namespace, no permission, closed already, or a different window under that number (the nonce decides).
/// @throws SystemError when it is the right window but cannot be mapped (out of memory or descriptors).
std::optional<PeerWindow> attach(const WindowDescriptor& descriptor);

}  // namespace umbel::net
