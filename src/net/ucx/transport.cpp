// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "net/ucx/transport.hpp"

#include <utility>

#include <fmt/core.h>

#include "base/error.hpp"
#include "net/fork.hpp"
#include "net/ucx/descriptors.hpp"
#include "net/ucx/transport_impl.hpp"

namespace umbel::net {

Transport::Impl::Impl(const TransportOptions& chosen)
    : options(chosen), peers_(static_cast<std::size_t>(chosen.peers)), worker_(chosen.net_devices) {
  for (int number = 0; number < chosen.peers; ++number) {
    Peer& peer = peers_[static_cast<std::size_t>(number)];
    peer.owner = this;
    peer.number = number;
  }
  register_handler(kMessageAm, on_message);
  register_handler(kControlAm, on_control);
}

void Transport::Impl::register_handler(unsigned id, ucp_am_recv_callback_t handler) {
  ucp_am_handler_param_t params{};
  params.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  params.id = id;
  params.cb = handler;
  params.arg = this;
  check_ucx(ucp_worker_set_am_recv_handler(worker_.get(), &params), "ucp_worker_set_am_recv_handler");
}

// What "flushed" must mean here: no byte is left in this process, so that nobody depends on our calling progress()
// again. It must not mean that the peer has taken note: a peer that has all it needs may be busy outside the library.
//
// An endpoint flush of UCX means the latter over TCP (it waits for an answer that only the peer's progress sends). A
// worker flush looks at the interfaces first and returns at once when nothing is outstanding there, which is the usual
// case and costs 0.04 µs. Otherwise a tiny message is sent to each peer in question: UCX takes it up only when what was
// sent before has gone to the kernel. (On InfiniBand a posted message needs no further help from this process.)
bool Transport::Impl::flushed() {
  if (draining_ != 0) return false;
  if (dirty_.empty()) return true;
  const bool idle = nothing_outstanding();
  for (Peer* peer : dirty_) {
    peer->dirty = false;
    if (!idle && peer->state == PeerState::connected) start_drain(*peer);
  }
  dirty_.clear();
  return draining_ == 0;
}

bool Transport::Impl::nothing_outstanding() {
  if (worker_flushing_) return false;  // the last one still waits for some peer
  ucp_request_param_t params{};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  params.cb.send = [](void* request, ucs_status_t, void* self) {
    static_cast<Impl*>(self)->worker_flushing_ = false;
    ucp_request_free(request);
  };
  params.user_data = this;
  const ucs_status_ptr_t request = ucp_worker_flush_nbx(worker_.get(), &params);
  worker_flushing_ = UCS_PTR_IS_PTR(request);
  return request == nullptr;
}

namespace {

const TransportOptions& checked(const TransportOptions& options) {
  refuse_if_forked("Transport");
  if (options.peers < 1 || options.rank < 0 || options.rank >= options.peers) {
    throw InvalidArgument(fmt::format("transport: rank {} of {} peers", options.rank, options.peers));
  }
  require_descriptors(options.peers);
  watch_for_fork();
  return options;
}

}  // namespace

Transport::Transport(const TransportOptions& options) : impl_(std::make_unique<Impl>(checked(options))) {}

Transport::~Transport() {
  // The child of a fork must not touch the parent's connections, not even to close them.
  if (forked()) (void)impl_.release();  // NOLINT(bugprone-unused-return-value)
}

const std::string& Transport::address() const noexcept { return impl_->worker().address(); }

void Transport::connect(int peer, std::string_view address) {
  refuse_if_forked("Transport::connect");
  impl_->connect(peer, address);
}

PeerState Transport::peer_state(int peer) const noexcept {
  const Peer* found = impl_->find_peer(peer);
  return found == nullptr ? PeerState::unknown : found->state;
}

const std::string& Transport::failure_text(int peer) const noexcept {
  static const std::string none;
  const Peer* found = impl_->find_peer(peer);
  return found == nullptr ? none : found->text;
}

std::uint32_t Transport::failures() const noexcept { return impl_->failures; }
void Transport::leave_behind() noexcept { impl_->left_behind = true; }

void Transport::mark_failed(int peer, std::string_view why) {
  refuse_if_forked("Transport::mark_failed");
  impl_->mark_failed(impl_->peer(peer), std::string(why));
}

Clock::time_point Transport::last_heard(int peer) const noexcept {
  const Peer* found = impl_->find_peer(peer);
  return found == nullptr ? Clock::time_point{} : found->heard;
}

std::uint64_t Transport::last_sequence(int peer) const noexcept {
  const Peer* found = impl_->find_peer(peer);
  return found == nullptr ? 0 : found->sequence;
}

bool Transport::awaits(int peer) const noexcept { return impl_->awaits(peer); }

RequestId Transport::post_send(int peer, MessageKey key, const CallSummary& summary, const void* data,
                               std::size_t bytes) {
  refuse_if_forked("Transport::post_send");
  key.source = impl_->options.rank;
  return impl_->post_send(peer, key, summary, data, bytes);
}

RequestId Transport::post_recv(const MessageKey& key, const CallSummary& summary, void* data, std::size_t bytes) {
  refuse_if_forked("Transport::post_recv");
  return impl_->post_recv(key, summary, data, bytes);
}

RequestState Transport::test(RequestId request) {
  refuse_if_forked("Transport::test");
  return impl_->test(request);
}

void Transport::abandon(RequestId request) noexcept {
  if (!forked()) impl_->abandon(request);
}

void Transport::forget_communicator(std::uint32_t communicator) {
  refuse_if_forked("Transport::forget_communicator");
  impl_->forget_communicator(communicator);
}

const std::optional<Mismatch>& Transport::last_mismatch() const noexcept { return impl_->last_mismatch; }
const std::string& Transport::last_failure() const noexcept { return impl_->last_failure; }

void Transport::set_unexpected_handler(UnexpectedHandler handler) { impl_->unexpected_handler = std::move(handler); }

void Transport::for_each_unexpected(const UnexpectedHandler& visit) const {
  impl_->unexpected.for_each([&](const Unexpected& m) { visit(m.header.key, m.header.summary, m.bytes); });
}

void Transport::set_control_handler(ControlHandler handler) { impl_->control_handler = std::move(handler); }

bool Transport::send_control(int peer, std::uint32_t type, std::span<const std::byte> bytes, bool urgent) {
  refuse_if_forked("Transport::send_control");
  if (type >= kGoodbye || bytes.size() > kMaxControlBytes) {
    throw InvalidArgument(fmt::format("control message of type {} with {} bytes", type, bytes.size()));
  }
  return impl_->send_control(impl_->peer(peer), type, bytes, urgent);
}

unsigned Transport::progress() {
  refuse_if_forked("Transport::progress");
  if (impl_->progressing) throw InvalidArgument("Transport::progress called from inside one of its handlers");
  impl_->progressing = true;
  const unsigned events = ucp_worker_progress(impl_->worker().get());
  impl_->progressing = false;
  return events;
}

bool Transport::flushed() {
  refuse_if_forked("Transport::flushed");
  return impl_->flushed();
}

int Transport::event_fd() const noexcept { return impl_->worker().event_fd(); }

bool Transport::arm() {
  refuse_if_forked("Transport::arm");
  const ucs_status_t status = ucp_worker_arm(impl_->worker().get());
  if (status == UCS_ERR_BUSY) return false;
  check_ucx(status, "ucp_worker_arm");
  return true;
}

const std::string& Transport::device_text() const noexcept { return impl_->worker().device_text(); }
std::uint64_t Transport::strangers() const noexcept { return impl_->strangers; }
std::size_t Transport::requests_in_flight() const noexcept { return impl_->requests.in_use(); }
std::size_t Transport::unexpected_messages() const noexcept { return impl_->unexpected.size(); }

}  // namespace umbel::net
