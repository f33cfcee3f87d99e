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
namespace {

constexpr int kRoundsBeforeSharing = 16;

}  // namespace

void Worker::Impl::connect(Peer& user, std::string_view address) {
  const PeerAddress parts = parse_address(address);
  // If the connection has broken or was cut, that is likely to have arrived: better heard now than after it is shared.
  for (int round = 0; round < kRoundsBeforeSharing && progress() != 0; ++round) {
  }
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

/// Over TCP the peer would not notice: UCX goes on receiving from the socket of a closed connection, and drops what
/// comes.
void Worker::Impl::tell_cut(const Endpoint& endpoint) noexcept {
  ucp_request_param_t params{};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_FLAGS;
  params.flags = UCP_AM_SEND_FLAG_EAGER;
  params.cb.send = [](void* request, ucs_status_t, void*) { ucp_request_free(request); };
  (void)ucp_am_send_nbx(endpoint.handle, kCutAm, nullptr, 0, ucx_address.data(), ucx_address.size(), &params);
}

ucs_status_t Worker::Impl::on_cut(void* arg, const void*, std::size_t, void* data, std::size_t bytes,
                                  const ucp_am_recv_param_t* param) {
  Impl& self = *static_cast<Impl*>(arg);
  if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) return UCS_ERR_REJECTED;
  const std::string_view from(static_cast<const char*>(data), bytes);
  const auto found = std::find_if(self.endpoints.begin(), self.endpoints.end(),
                                  [&](const Endpoint& endpoint) { return endpoint.address == from; });
  if (found != self.endpoints.end()) {
    self.give_up(*found, "it cut the connection: it gave up a message of a failed call that was under way");
  }
  return UCS_OK;
}

void Worker::Impl::cut(Endpoint& endpoint, std::string_view why) noexcept {
  tell_cut(endpoint);
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
