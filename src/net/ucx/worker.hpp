// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "net/ucx/devices.hpp"

namespace umbel::net {

/// One UCX context with its one worker: what all communicators of a process (or of a rank, where ranks are threads)
/// share. Each has a Transport of its own on it; connections belong to the worker and outlive the transports, so that
/// making and destroying communicators reconnects nothing.
///
/// Meant to live to the end of the process. The destructor closes nothing: UCX before 1.14 aborts the process when a
/// worker is destroyed while the answer to a peer's request for a connection is under way (openucx/ucx#8175), and of
/// such requests nobody outside UCX knows. Its objects stay as they are, reachable, and are never progressed again.
///
/// Threads: every member may be called by any thread at any time. Nothing here calls a handler of a transport.
class Worker {
 public:
  /// @param net_devices a selection as in devices.hpp: exact names or `^names`; empty leaves it to UCX.
  /// Where several are named and as many processes are on the host, this one has that of its `place`.
  /// @throws UcxError, InvalidArgument (devices), SystemError (too few descriptors).
  explicit Worker(std::string_view net_devices, HostPlace place = {});
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  /// @pre no transport of this worker is left.
  ~Worker();

  /// What peers need to connect; opaque bytes to be exchanged.
  const std::string& address() const noexcept;
  /// The devices and transports chosen, and why: one line for people.
  const std::string& device_text() const noexcept;
  /// Which of several devices that are shared out it has; 0 where they are not.
  int rail() const noexcept;
  /// Readable when there may be something to progress, once arm() has returned true. −1 is never returned.
  int event_fd() const noexcept;
  /// Before sleeping on event_fd(): false means that there is work, or that another thread is at it.
  bool arm();
  /// Moves everything forward for all transports, never waits. What arrives waits in its transport. Returns how many
  /// events UCX handled; 0 as well while another thread does this.
  unsigned progress();
  /// Messages refused because no transport here has their nonce, or because they were nonsense.
  std::uint64_t strangers() const noexcept;
  /// Open connections, for tests and reports.
  std::size_t connections() const noexcept;

  class Impl;  // in worker_impl.hpp
  Impl& impl() const noexcept { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

/// Version of the UCX library in use, "1.13.1".
std::string ucx_version();

}  // namespace umbel::net
