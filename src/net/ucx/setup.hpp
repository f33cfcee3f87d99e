// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <ucp/api/ucp.h>

#include <memory>
#include <string>
#include <string_view>

#include "net/ucx/devices.hpp"

namespace umbel::net {

/// `what: status text`, as a UcxError, unless `status` is UCS_OK.
void check_ucx(ucs_status_t status, std::string_view what);

/// A UCX context with its one worker, and what can be said about them.
struct UcxObjects {
  struct Cleanup {
    void operator()(ucp_context_h context) const noexcept { ucp_cleanup(context); }
    void operator()(ucp_worker_h worker) const noexcept { ucp_worker_destroy(worker); }
  };

  std::string device_text;  ///< the devices and transports chosen, and why
  std::string address;      ///< the worker's, with the device text behind it, as handed to peers
  std::unique_ptr<ucp_context, Cleanup> context;
  std::unique_ptr<ucp_worker, Cleanup> worker;  // destroyed before its context
  int event_fd = -1;
  int rail = 0;  ///< which of the host's devices it uses, where each process has one of several
};

/// @param net_devices a selection as in devices.hpp. Of several interfaces that it names, or that UCX_NET_DEVICES does,
/// each process of a host has one in turn, if there are as many processes.
/// @throws UcxError, InvalidArgument.
UcxObjects open_ucx(std::string_view net_devices, HostPlace place);

/// The two parts of the address of a peer.
struct PeerAddress {
  std::string ucx;
  std::string device_text;
};

/// @throws InvalidArgument when the bytes are none.
PeerAddress parse_address(std::string_view bytes);

}  // namespace umbel::net
