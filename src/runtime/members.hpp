// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/shape.hpp"
#include "net/host.hpp"
#include "net/ucx/transport.hpp"
#include "net/window/window.hpp"
#include "runtime/control.hpp"

namespace umbel::runtime {

/// What is known of one rank of a communicator.
struct Member {
  std::int32_t pid = 0;
  std::uint64_t start_time = 0;  ///< of the process; with `pid` it is unmistakable
  net::HostHint host;
  bool same_process = false;              ///< ranks as threads
  std::optional<net::PeerWindow> window;  ///< of ranks of this node, this rank's own included
  Arena arena;                            ///< set for ranks of this node
  std::string address;                    ///< of its transport; "" when there is one node
  bool connected = false;                 ///< this rank has opened an endpoint to it
};

/// The members of a communicator, as one rank sees them.
struct Members {
  Rank me = 0;
  Shape shape = Shape::one_node(1);
  std::vector<Member> all;                    ///< by rank
  std::unique_ptr<net::Worker> worker;        ///< of the transport
  std::unique_ptr<net::Transport> transport;  ///< nullptr when there is one node

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

/// What the system says of a process: 'R' or 'S' running or waiting, 'T' stopped, 'Z' ended, 'X' gone; '?' unknown.
char process_state(const Member& member);
inline bool has_ended(char process) noexcept { return process == 'Z' || process == 'X'; }

}  // namespace umbel::runtime
