// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/shape.hpp"
#include "net/host.hpp"
#include "net/process.hpp"
#include "net/ucx/transport.hpp"
#include "net/window/window.hpp"
#include "runtime/bell.hpp"
#include "runtime/control.hpp"
#include "runtime/registered.hpp"

namespace umbel::runtime {

/// This rank's hold on the arena of a node-mate (or its own), by a token in it.
class Attachment {
 public:
  /// What a rank tells of its memory. Plain data.
  struct Place {
    net::WindowDescriptor window;
    std::uint64_t offset = 0;
    net::WindowDescriptor bell_window;
    std::uint64_t bell_offset = 0;
  };

  /// Maps it and leaves `token` (not 0) at `me`. Empty when it cannot be reached from here, or is no longer the arena
  /// of the communicator `nonce`. @throws SystemError
  static std::optional<Attachment> make(const Place& place, const ArenaLayout& layout, std::uint64_t nonce, Rank me,
                                        std::uint64_t token);
  Attachment(Attachment&&) noexcept = default;
  Attachment& operator=(Attachment&&) = delete;
  ~Attachment() = default;

  const Arena& arena() const noexcept { return arena_; }
  Bell& bell() const noexcept { return *bell_; }

 private:
  Attachment(net::PeerWindow window, net::PeerWindow bell_window)
      : window_(std::move(window)), bell_window_(std::move(bell_window)) {}

  struct LetGo {
    void operator()(std::atomic<std::uint64_t>* token) const noexcept;
  };

  net::PeerWindow window_;
  net::PeerWindow bell_window_;
  Arena arena_;
  Bell* bell_ = nullptr;
  std::unique_ptr<std::atomic<std::uint64_t>, LetGo> token_;  // goes before the memory that it is in
};

/// What is known of one rank of a communicator.
struct Member {
  net::ProcessId process;
  net::HostHint host;
  bool same_process = false;             ///< ranks as threads
  std::optional<Attachment> attachment;  ///< to ranks of this node, this rank itself included
  Arena arena;                           ///< set for ranks of this node
  Bell* bell = nullptr;                  ///< likewise
  std::string address;                   ///< of its UCX worker; "" when there is one node
  bool connected = false;                ///< this rank has opened an endpoint to it

  void ring_bell() const noexcept { ring(*bell, process); }
  /// Where the caller has made a fence after its signal.
  void ring_bell_fenced() const noexcept {
    if (bell->sleepers.load(std::memory_order_relaxed) != 0) wake(*bell, process);
  }
  /// After a signal by `signaller`: unless the rank sleeps until others have signalled.
  void ring_bell(Rank signaller) const noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    ring_bell_fenced(signaller);
  }
  void ring_bell_fenced(Rank signaller) const noexcept {
    if (bell->sleepers.load(std::memory_order_acquire) == 0) return;
    if ((arena.header().awaited.load(std::memory_order_relaxed) & set_of(signaller)) != 0) wake(*bell, process);
  }
  /// As net::process_state; a thread of this process lives.
  char state() const { return same_process ? 'R' : net::process_state(process); }
};

/// The members of a communicator, as one rank sees them.
struct Members {
  Rank me = 0;
  Shape shape = Shape::one_node(1);
  std::vector<Member> all;                    ///< by rank
  std::unique_ptr<net::Transport> transport;  ///< nullptr when there is one node
  MappedMemory mapped;                        ///< of node-mates in other processes

  Member& at(Rank rank) { return all[static_cast<std::size_t>(rank)]; }
  const Member& at(Rank rank) const { return all[static_cast<std::size_t>(rank)]; }
  const Arena& own() const { return at(me).arena; }
  int size() const { return static_cast<int>(all.size()); }
  bool local(Rank rank) const { return shape.same_node(me, rank); }
  /// "rank 3 (host n1, pid 4711)".
  std::string name(Rank rank) const;
  /// Opens an endpoint unless there is one. @pre the rank is on another node
  void connect(Rank rank);
};

}  // namespace umbel::runtime
