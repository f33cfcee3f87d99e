// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <ucp/api/ucp.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

namespace umbel::net {

/// `what: status text`, as a UcxError, unless `status` is UCS_OK.
void check_ucx(ucs_status_t status, std::string_view what);

/// Owner of a UCX context and its one worker, and of what can be said about them.
class Worker {
 public:
  /// @param net_devices a selection as in devices.hpp.
  /// @throws UcxError, InvalidArgument.
  explicit Worker(std::string_view net_devices);

  ucp_worker_h get() const noexcept { return worker_.get(); }
  int event_fd() const noexcept { return event_fd_; }
  /// The worker's address with the device text behind it, as handed to peers.
  const std::string& address() const noexcept { return address_; }
  const std::string& device_text() const noexcept { return device_text_; }
  /// The worker's owner has closed its endpoints and goes. The worker is destroyed later, by the retirement of another
  /// one: UCX before 1.14 aborts the process when a worker is destroyed while an answer to a peer's request for a
  /// connection is on its way out, and of such requests the owner knows nothing. Until then it is progressed now and
  /// then. Messages that still arrive are dropped.
  void retire(std::initializer_list<unsigned> message_ids) noexcept;
  /// Keeps UCX's objects to the end of the process, never progressed again, instead of destroying them.
  void leave_behind() noexcept;

 private:
  struct Cleanup {
    void operator()(ucp_context_h context) const noexcept { ucp_cleanup(context); }
    void operator()(ucp_worker_h worker) const noexcept { ucp_worker_destroy(worker); }
  };

  std::string device_text_;
  std::string address_;
  std::unique_ptr<ucp_context, Cleanup> context_;
  std::unique_ptr<ucp_worker, Cleanup> worker_;  // destroyed before its context
  int event_fd_ = -1;
};

/// The two parts of Worker::address() of a peer.
struct PeerAddress {
  std::string ucx;
  std::string device_text;
};

/// @throws InvalidArgument when the bytes are none.
PeerAddress parse_address(std::string_view bytes);

}  // namespace umbel::net
