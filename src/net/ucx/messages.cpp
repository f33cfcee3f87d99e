// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Sends, receives, and how they meet. A receive waits in `posted_`, a message without a receive in `unexpected`; when
// the two meet, small data is copied out of UCX's buffer and large data is fetched into place (rendezvous).
#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include "base/error.hpp"
#include "net/ucx/transport_impl.hpp"

namespace umbel::net {
namespace {

/// What may be under way to a peer, or wait there for its receives, before it has shown that it takes it.
constexpr std::uint64_t kEagerBudget = std::uint64_t{8} << 20U;
/// A smaller message is not worth a rendezvous.
constexpr std::size_t kLeastRendezvous = 4096;

/// What a left peer sent before its goodbye may arrive behind it, where UCX uses several paths at once.
constexpr std::chrono::milliseconds kLateMessages{500};

void copy_bytes(void* to, const void* from, std::size_t bytes) noexcept {
  if (bytes != 0) std::memcpy(to, from, bytes);
}

}  // namespace

// --- the life of a request -----------------------------------------------------------------------------------------

Request* Transport::Impl::new_request(int peer, const MessageKey& key, const CallSummary& summary) {
  Request* request = requests.take();
  request->owner = this;
  request->header = {options.nonce, key, summary};
  request->sent_before = 0;
  request->peer = peer;
  request->stage = Stage::settled;
  request->state = RequestState::pending;
  request->abandoned = false;
  return request;
}

RequestId Transport::Impl::id_of(const Request& request) const noexcept {
  return static_cast<RequestId>((std::uint64_t{request.generation} << 32U) | (std::uint64_t{request.index} + 1));
}

Request* Transport::Impl::find(RequestId id) noexcept {
  const auto bits = static_cast<std::uint64_t>(id);
  Request* request = requests.at((bits & 0xffffffffU) - 1);
  const bool current = request != nullptr && request->stage != Stage::free && !request->abandoned &&
                       request->generation == static_cast<std::uint32_t>(bits >> 32U);
  return current ? request : nullptr;
}

void Transport::Impl::retire(Request* request) noexcept {
  request->stage = Stage::free;
  ++request->generation;
  requests.give_back(request);
}

/// UCX is through with the request, or has never had it.
void Transport::Impl::settle(Request* request, ucs_status_t status) noexcept {
  if (request->abandoned) {
    retire(request);
    return;
  }
  request->stage = Stage::settled;
  request->status = status;
  request->state = status == UCS_OK ? RequestState::done : RequestState::failed;
}

/// UCX has been given the request; `handle` is what it answered.
void Transport::Impl::started(Request* request, ucs_status_ptr_t handle) noexcept {
  if (UCS_PTR_IS_PTR(handle)) {
    request->stage = Stage::active;
    ++active_;
  } else {
    settle(request, UCS_PTR_STATUS(handle));
  }
}

/// UCX calls back.
void Transport::Impl::ended(Request* request, ucs_status_t status) noexcept {
  --active_;
  settle(request, status);
  news.store(true, std::memory_order_relaxed);
}

/// Pending, and nothing will ever come of it.
bool Transport::Impl::hopeless(const Request& request) const {
  const Peer& peer = peers_[static_cast<std::size_t>(request.peer)];
  switch (peer.state) {
    case PeerState::connected:
      return false;
    case PeerState::unknown:  // a receive may be posted before the endpoint is opened
      return false;
    case PeerState::failed:
      return true;
    case PeerState::left:
      return Clock::now() - peer.left_at > kLateMessages;
  }
  return false;
}

RequestState Transport::Impl::test(RequestId id) {
  Request* request = find(id);
  if (request == nullptr) throw InvalidArgument("transport: test of a request that is not under way");
  if (request->stage == Stage::settled) {
    const RequestState state = request->state;
    if (state == RequestState::failed) tell_failure(*request);
    if (state == RequestState::mismatch) {
      last_mismatch =
          Mismatch{request->key(), request->header.summary, request->found, request->bytes, request->found_bytes};
    }
    retire(request);
    return state;
  }
  if (!hopeless(*request)) return RequestState::pending;
  request->status = UCS_OK;
  tell_failure(*request);
  abandon(id);
  return RequestState::failed;
}

void Transport::Impl::tell_failure(const Request& request) {
  const Peer& peer = peers_[static_cast<std::size_t>(request.peer)];
  const std::string why = peer.text.empty() ? ucs_status_string(request.status) : peer.text;
  last_failure = fmt::format("rank {}: {}", request.peer, why);
}

void Transport::Impl::abandon(RequestId id) noexcept {
  Request* request = find(id);
  if (request == nullptr) return;
  if (request->stage == Stage::active) {
    request->abandoned = true;  // UCX still has it; freed when it calls back, or with the transport
    return;
  }
  if (request->stage == Stage::posted) posted_.remove(request);
  retire(request);
}

void Transport::Impl::forget(std::uint64_t sequence) {
  const auto belongs = [sequence](const auto& node) { return node.key().sequence == sequence; };
  posted_.remove_if(belongs, [this](Request* request) { retire(request); });
  unexpected.remove_if(belongs, [this](Unexpected* message) { drop(message); });
}

bool Transport::Impl::awaits(int number) noexcept {
  for (std::uint64_t index = 0; const Request* request = requests.at(index); ++index) {
    const bool pending = request->stage == Stage::posted || request->stage == Stage::active;
    if (pending && !request->abandoned && request->peer == number) return true;
  }
  return false;
}

// --- sending -------------------------------------------------------------------------------------------------------

/// An eager message goes out whether its receive has been posted or not; a peer that is late, or busy elsewhere, would
/// have to keep them all. A rendezvous ends when the receiver has taken the message, and with it what went before: so
/// one is made of every message that would exceed the budget, and of one message in each half of it.
bool Transport::Impl::by_rendezvous(const Peer& to, std::size_t bytes) const noexcept {
  if (bytes < kLeastRendezvous) return false;
  const std::uint64_t untaken = to.sent - to.taken + bytes;
  return untaken > kEagerBudget || (untaken > kEagerBudget / 2 && !to.asked_taken);
}

RequestId Transport::Impl::post_send(int to, const MessageKey& key, const CallSummary& summary, const void* data,
                                     std::size_t bytes) {
  Peer& target = peer(to);
  Request* request = new_request(to, key, summary);
  request->bytes = bytes;
  if (target.state != PeerState::connected) {
    settle(request, UCS_ERR_NOT_CONNECTED);
    return id_of(*request);
  }
  ucp_request_param_t params{};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  params.cb.send = on_sent;
  params.user_data = request;
  used(target);
  if (by_rendezvous(target, bytes)) {
    params.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    params.flags = UCP_AM_SEND_FLAG_RNDV;
    request->sent_before = target.sent + bytes;
    target.asked_taken = true;
  }
  target.sent += bytes;
  const ucs_status_ptr_t handle = ucp_am_send_nbx(target.endpoint->handle, kMessageAm, &request->header,
                                                  sizeof request->header, data, bytes, &params);
  started(request, handle);
  if (request->stage == Stage::settled) note_taken(*request);
  return id_of(*request);
}

void Transport::Impl::note_taken(const Request& request) noexcept {
  if (request.sent_before == 0) return;
  Peer& to = peers_[static_cast<std::size_t>(request.peer)];
  to.taken = std::max(to.taken, request.sent_before);
  to.asked_taken = false;
}

void Transport::Impl::on_sent(void* handle, ucs_status_t status, void* user_data) {
  auto* request = static_cast<Request*>(user_data);
  request->owner->note_taken(*request);
  request->owner->ended(request, status);
  ucp_request_free(handle);
}

// --- receiving -----------------------------------------------------------------------------------------------------

RequestId Transport::Impl::post_recv(const MessageKey& key, const CallSummary& summary, void* data, std::size_t bytes) {
  (void)peer(key.source);  // throws for a number that is none
  Request* request = new_request(key.source, key, summary);
  request->data = data;
  request->bytes = bytes;
  if (Unexpected* message = unexpected.take(key)) {
    deliver(request, message);
  } else {
    request->stage = Stage::posted;
    posted_.add(request);
  }
  return id_of(*request);
}

/// Are they of the same call and length? If not, the request is settled as a mismatch.
bool Transport::Impl::fits(Request* request, const MessageHeader& header, std::size_t bytes) {
  if (header.summary == request->header.summary && bytes == request->bytes) return true;
  request->stage = Stage::settled;
  request->state = RequestState::mismatch;
  request->found = header.summary;
  request->found_bytes = bytes;
  return false;
}

/// Starts the rendezvous transfer into the request's buffer; `desc` belongs to UCX from here on.
void Transport::Impl::fetch(Request* request, void* desc) {
  ucp_request_param_t params{};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  params.cb.recv_am = on_received;
  params.user_data = request;
  started(request, ucp_am_recv_data_nbx(worker_.ucx(), desc, request->data, request->bytes, &params));
}

void Transport::Impl::on_received(void* handle, ucs_status_t status, std::size_t, void* user_data) {
  auto* request = static_cast<Request*>(user_data);
  request->owner->ended(request, status);
  ucp_request_free(handle);
}

ucs_status_t Transport::Impl::refusal(const ucp_am_recv_param_t* param) noexcept {
  return (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0 ? UCS_ERR_REJECTED : UCS_OK;
}

ucs_status_t Transport::Impl::take_in(Peer& from, const MessageHeader& header, void* data, std::size_t bytes,
                                      const ucp_am_recv_param_t* param) {
  from.heard = Clock::now();
  from.sequence = header.key.sequence;
  news.store(true, std::memory_order_relaxed);
  if (closing_) return refusal(param);
  Request* request = posted_.take(header.key);
  if (request == nullptr) return keep(header, data, bytes, param);
  // The sender of a message that does not fit is let go: it learns of the mismatch from the runtime, not from here.
  if (!fits(request, header, bytes)) return UCS_OK;
  if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) {
    fetch(request, data);
    return UCS_INPROGRESS;
  }
  copy_bytes(request->data, data, bytes);
  settle(request, UCS_OK);
  return UCS_OK;
}

// --- messages before their receives --------------------------------------------------------------------------------

ucs_status_t Transport::Impl::keep(const MessageHeader& header, void* data, std::size_t bytes,
                                   const ucp_am_recv_param_t* param) {
  Unexpected* message = unexpected_pool_.take();
  message->header = header;
  message->bytes = bytes;
  message->rendezvous = (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0;
  message->desc = nullptr;
  const bool can_hold = message->rendezvous || (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_DATA) != 0;
  if (!message->rendezvous && bytes <= Unexpected::kInlineBytes) {
    copy_bytes(message->small.data(), data, bytes);
  } else if (can_hold) {
    message->desc = data;
  } else {
    const auto* first = static_cast<const std::byte*>(data);
    message->large.assign(first, first + bytes);
  }
  const ucs_status_t answer = message->desc == nullptr ? UCS_OK : UCS_INPROGRESS;
  unexpected.add(message);
  note(header, bytes);
  return answer;
}

/// A receive meets a message that waited for it.
void Transport::Impl::deliver(Request* request, Unexpected* message) {
  const bool lost = message->rendezvous && peers_[static_cast<std::size_t>(request->peer)].broken;
  if (!fits(request, message->header, message->bytes)) {
    drop(message);
    return;
  }
  if (lost) {
    settle(request, UCS_ERR_CONNECTION_RESET);
    drop(message);
    return;
  }
  if (message->rendezvous) {
    fetch(request, message->desc);
    unexpected_pool_.give_back(message);
    return;
  }
  const void* data = message->desc;
  if (data == nullptr) data = message->large.empty() ? message->small.data() : message->large.data();
  copy_bytes(request->data, data, message->bytes);
  settle(request, UCS_OK);
  drop(message);
}

void Transport::Impl::drop(Unexpected* message) noexcept {
  // Letting go of a rendezvous sends an answer, over an endpoint that a failed peer no longer has: then UCX keeps the
  // descriptor until the worker is destroyed.
  const bool answerable = !peers_[static_cast<std::size_t>(message->header.key.source)].broken;
  if (message->desc != nullptr && (!message->rendezvous || answerable)) {
    ucp_am_data_release(worker_.ucx(), message->desc);
  }
  message->desc = nullptr;
  message->large.clear();
  unexpected_pool_.give_back(message);
}

}  // namespace umbel::net
