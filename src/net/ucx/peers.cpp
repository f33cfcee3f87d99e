// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Endpoints, failing and leaving peers, control messages.
#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/core.h>

#include "base/error.hpp"
#include "net/ucx/transport_impl.hpp"

namespace umbel::net {

Peer& Transport::Impl::peer(int number) {
  if (number < 0 || number >= options.peers) {
    throw InvalidArgument(fmt::format("transport: no peer {} among {}", number, options.peers));
  }
  return peers_[static_cast<std::size_t>(number)];
}

const Peer* Transport::Impl::find_peer(int number) const noexcept {
  return number < 0 || number >= options.peers ? nullptr : &peers_[static_cast<std::size_t>(number)];
}

void Transport::Impl::connect(int number, std::string_view address) {
  Peer& to = peer(number);
  if (number == options.rank) throw InvalidArgument("transport: a rank does not connect to itself");
  if (to.state != PeerState::unknown) throw InvalidArgument(fmt::format("transport: peer {} connected twice", number));
  to.endpoint = open_endpoint(to, address);
  to.state = PeerState::connected;
  to.heard = Clock::now();
}

ucp_ep_h Transport::Impl::open_endpoint(Peer& to, std::string_view address) {
  const PeerAddress parts = parse_address(address);
  ucp_ep_params_t params{};
  params.field_mask =
      UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t*>(parts.ucx.data());
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler.cb = on_endpoint_error;
  params.err_handler.arg = &to;
  ucp_ep_h endpoint = nullptr;
  const ucs_status_t status = ucp_ep_create(worker_.get(), &params, &endpoint);
  if (status != UCS_OK) {
    throw UcxError(fmt::format("no connection to rank {}: {}; here: {}; there: {}", to.number,
                               ucs_status_string(status), worker_.device_text(), parts.device_text));
  }
  return endpoint;
}

void Transport::Impl::on_endpoint_error(void* arg, ucp_ep_h, ucs_status_t status) {
  Peer& peer = *static_cast<Peer*>(arg);
  Impl& self = *peer.owner;
  peer.broken = true;
  self.end_drain(peer);
  // A peer that has said goodbye closes its side: no failure. While we close, nobody's failure matters any more.
  if (!self.closing_ && peer.state != PeerState::left) self.mark_failed(peer, ucs_status_string(status));
}

void Transport::Impl::mark_failed(Peer& peer, std::string why) {
  if (peer.state == PeerState::failed) return;
  peer.state = PeerState::failed;
  peer.text = std::move(why);
  ++failures;
  end_drain(peer);
}

void Transport::Impl::hear(Peer& peer) {
  peer.heard = Clock::now();
  peer.spoke = true;
}

void Transport::Impl::note_goodbye(Peer& peer) {
  if (peer.state == PeerState::failed) return;
  peer.state = PeerState::left;
  peer.text = "left: it destroyed its communicator";
  peer.left_at = Clock::now();
  end_drain(peer);
}

/// The sender of a message, if it belongs to this job; otherwise it is counted as a stranger.
Peer* Transport::Impl::known_sender(std::uint64_t nonce, std::int32_t source) noexcept {
  if (nonce != options.job_nonce || source < 0 || source >= options.peers || source == options.rank) {
    ++strangers;
    return nullptr;
  }
  return &peers_[static_cast<std::size_t>(source)];
}

void Transport::Impl::used(Peer& peer) {
  if (peer.dirty) return;
  peer.dirty = true;
  dirty_.push_back(&peer);
}

bool Transport::Impl::send_control(Peer& to, std::uint32_t type, std::span<const std::byte> bytes, bool urgent) {
  if (to.state != PeerState::connected) return false;
  if (!urgent && to.controls >= kMaxWaitingControls) return false;
  used(to);
  return post_control(to, type, bytes) != Posted::refused;
}

Transport::Impl::Posted Transport::Impl::post_control(Peer& to, std::uint32_t type, std::span<const std::byte> bytes) {
  ControlSend* send = control_sends_.take();
  send->peer = &to;
  send->header = {options.job_nonce, options.rank, type};
  std::copy(bytes.begin(), bytes.end(), send->bytes.begin());
  ucp_request_param_t params{};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  params.flags = UCP_AM_SEND_FLAG_EAGER;
  params.cb.send = on_control_sent;
  params.user_data = send;
  const ucs_status_ptr_t request = ucp_am_send_nbx(to.endpoint, kControlAm, &send->header, sizeof send->header,
                                                   send->bytes.data(), bytes.size(), &params);
  if (UCS_PTR_IS_PTR(request)) {
    ++to.controls;
    return Posted::waits;
  }
  control_sends_.give_back(send);
  return request == nullptr ? Posted::gone : Posted::refused;
}

void Transport::Impl::on_control_sent(void* request, ucs_status_t, void* user_data) {
  auto* send = static_cast<ControlSend*>(user_data);
  Peer& to = *send->peer;
  --to.controls;
  if (send->header.type == kDrain) to.owner->end_drain(to);
  to.owner->control_sends_.give_back(send);
  ucp_request_free(request);
}

void Transport::Impl::start_drain(Peer& peer) {
  peer.draining = true;
  ++draining_;
  if (post_control(peer, kDrain, {}) != Posted::waits) end_drain(peer);
}

void Transport::Impl::end_drain(Peer& peer) noexcept {
  if (!peer.draining) return;  // given up already, when the peer failed
  peer.draining = false;
  --draining_;
}

ucs_status_t Transport::Impl::on_control(void* arg, const void* header_bytes, std::size_t header_length, void* data,
                                         std::size_t bytes, const ucp_am_recv_param_t* param) {
  Impl& self = *static_cast<Impl*>(arg);
  ControlHeader header;
  if (header_length != sizeof header || (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) {
    ++self.strangers;
    return UCS_OK;
  }
  std::memcpy(&header, header_bytes, sizeof header);
  Peer* from = self.known_sender(header.job_nonce, header.source);
  if (from == nullptr) return UCS_OK;
  self.hear(*from);
  if (header.type == kGoodbye) {
    self.note_goodbye(*from);
  } else if (header.type < kGoodbye && self.control_handler && !self.closing_) {
    self.control_handler(header.source, header.type, {static_cast<const std::byte*>(data), bytes});
  }
  return UCS_OK;
}

}  // namespace umbel::net
