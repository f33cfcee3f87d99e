// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Connections. They are opened when the first transport asks for them and stay when the last one that used them goes;
// only one that breaks is closed, after UCX's callback has told all its users.
#include <algorithm>
#include <iterator>

#include <fmt/core.h>

#include "base/error.hpp"
#include "net/ucx/transport_impl.hpp"

namespace umbel::net {

void Worker::Impl::connect(Peer& user, std::string_view address) {
  const PeerAddress parts = parse_address(address);
  auto found = std::find_if(endpoints.begin(), endpoints.end(),
                            [&](const Endpoint& endpoint) { return endpoint.address == parts.ucx; });
  if (found == endpoints.end()) {
    std::list<Endpoint> fresh(1);  // added when it is open
    fresh.front().owner = this;
    fresh.front().address = parts.ucx;
    fresh.front().users.reserve(1);
    fresh.front().handle = open(fresh.front(), parts, user.number);
    found = fresh.begin();
    endpoints.splice(endpoints.end(), fresh);
  }
  found->users.push_back(&user);
  user.endpoint = &*found;
}

ucp_ep_h Worker::Impl::open(Endpoint& endpoint, const PeerAddress& address, int rank) {
  ucp_ep_params_t params{};
  params.field_mask =
      UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t*>(address.ucx.data());
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler.cb = on_endpoint_error;
  params.err_handler.arg = &endpoint;
  ucp_ep_h handle = nullptr;
  const ucs_status_t status = ucp_ep_create(ucx(), &params, &handle);
  if (status != UCS_OK) {
    throw UcxError(fmt::format("no connection to rank {}: {}; here: {}; there: {}", rank, ucs_status_string(status),
                               objects.device_text, address.device_text));
  }
  return handle;
}

void Worker::Impl::disconnect(Peer& user) noexcept {
  if (user.endpoint == nullptr) return;
  std::erase(user.endpoint->users, &user);
  user.endpoint = nullptr;
}

void Worker::Impl::on_endpoint_error(void* arg, ucp_ep_h, ucs_status_t status) {
  auto& endpoint = *static_cast<Endpoint*>(arg);
  endpoint.owner->give_up(endpoint, ucs_status_string(status));
}

/// The connection is of no use any more: its users are told, and close_broken() will close it.
void Worker::Impl::give_up(Endpoint& endpoint, std::string_view why) noexcept {
  const auto place = std::find_if(endpoints.begin(), endpoints.end(),
                                  [&](const Endpoint& candidate) { return &candidate == &endpoint; });
  if (place == endpoints.end()) return;  // given up before
  broken_.splice(broken_.end(), endpoints, place);
  for (Peer* user : endpoint.users) user->owner->lose(*user, why);
  endpoint.users.clear();
}

void Worker::Impl::cut(Endpoint& endpoint, std::string_view why) noexcept {
  give_up(endpoint, why);
  close_broken();
}

/// Not done in UCX's callback: a connection must not be closed there.
void Worker::Impl::close_broken() noexcept {
  if (broken_.empty()) return;
  ucp_request_param_t params{};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  params.flags = UCP_EP_CLOSE_FLAG_FORCE;  // a polite close would wait for the peer
  params.cb.send = [](void* request, ucs_status_t, void* endpoint) {
    static_cast<Endpoint*>(endpoint)->closed = true;
    ucp_request_free(request);
  };
  for (Endpoint& endpoint : broken_) {
    if (endpoint.closing) continue;
    endpoint.closing = true;
    params.user_data = &endpoint;
    const ucs_status_ptr_t request = ucp_ep_close_nbx(endpoint.handle, &params);
    if (!UCS_PTR_IS_PTR(request)) endpoint.closed = true;
  }
  broken_.remove_if([](const Endpoint& endpoint) { return endpoint.closed; });
}

}  // namespace umbel::net
