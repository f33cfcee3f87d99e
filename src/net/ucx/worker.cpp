// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "net/ucx/worker.hpp"

#include <cstring>
#include <utility>

#include <fmt/core.h>

#include "base/error.hpp"
#include "net/fork.hpp"
#include "net/ucx/descriptors.hpp"
#include "net/ucx/transport_impl.hpp"

namespace umbel::net {

Worker::Impl::Impl(UcxObjects made) : objects(std::move(made)), ucx_address(parse_address(objects.address).ucx) {
  register_handler(kMessageAm, on_message);
  register_handler(kControlAm, on_control);
  register_handler(kCutAm, on_cut);
}

void Worker::Impl::register_handler(unsigned id, ucp_am_recv_callback_t handler) {
  ucp_am_handler_param_t params{};
  params.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  params.id = id;
  params.cb = handler;
  params.arg = this;
  check_ucx(ucp_worker_set_am_recv_handler(ucx(), &params), "ucp_worker_set_am_recv_handler");
}

// --- whom a message is for -----------------------------------------------------------------------------------------

void Worker::Impl::add(Transport::Impl& transport) {
  if (!transports_.try_emplace(transport.options.nonce, &transport).second) {
    throw InvalidArgument(fmt::format("transport: two with nonce {:x} on one worker", transport.options.nonce));
  }
}

void Worker::Impl::remove(const Transport::Impl& transport) noexcept {
  transports_.erase(transport.options.nonce);
  if (latest_ == &transport) latest_ = nullptr;
}

Transport::Impl* Worker::Impl::find(std::uint64_t nonce) noexcept {
  if (latest_ != nullptr && latest_->options.nonce == nonce) return latest_;
  const auto found = transports_.find(nonce);
  if (found == transports_.end()) return nullptr;
  return latest_ = found->second;
}

ucs_status_t Worker::Impl::on_message(void* arg, const void* header_bytes, std::size_t header_length, void* data,
                                      std::size_t bytes, const ucp_am_recv_param_t* param) {
  Impl& self = *static_cast<Impl*>(arg);
  MessageHeader header;
  if (header_length == sizeof header) {
    std::memcpy(&header, header_bytes, sizeof header);
    Transport::Impl* const transport = self.find(header.nonce);
    Peer* const from = transport == nullptr ? nullptr : transport->sender(header.key.source);
    if (from != nullptr) return transport->take_in(*from, header, data, bytes, param);
  }
  self.strangers.fetch_add(1, std::memory_order_relaxed);
  return Transport::Impl::refusal(param);
}

ucs_status_t Worker::Impl::on_control(void* arg, const void* header_bytes, std::size_t header_length, void* data,
                                      std::size_t bytes, const ucp_am_recv_param_t* param) {
  Impl& self = *static_cast<Impl*>(arg);
  ControlHeader header;
  if (header_length == sizeof header && (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0) {
    std::memcpy(&header, header_bytes, sizeof header);
    Transport::Impl* const transport = self.find(header.nonce);
    Peer* const from = transport == nullptr ? nullptr : transport->sender(header.source);
    if (from != nullptr) {
      transport->take_in_control(*from, header.type, {static_cast<const std::byte*>(data), bytes});
      return UCS_OK;
    }
    if (transport == nullptr && header.type >= kGoodbye) return UCS_OK;  // a goodbye to one who has left: no stranger
  }
  self.strangers.fetch_add(1, std::memory_order_relaxed);
  return UCS_OK;
}

// --- progress ------------------------------------------------------------------------------------------------------

unsigned Worker::Impl::progress() {
  const unsigned events = ucp_worker_progress(ucx());
  close_broken();
  if (kept_ != nullptr) free_idle();
  return events;
}

bool Worker::Impl::nothing_outstanding() {
  if (flushing_) return false;  // the last one still waits for some peer
  ucp_request_param_t params{};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  params.cb.send = [](void* request, ucs_status_t, void* self) {
    static_cast<Impl*>(self)->flushing_ = false;
    ucp_request_free(request);
  };
  params.user_data = this;
  const ucs_status_ptr_t request = ucp_worker_flush_nbx(ucx(), &params);
  flushing_ = UCS_PTR_IS_PTR(request);
  return request == nullptr;
}

void Worker::Impl::keep(std::unique_ptr<Transport::Impl> transport) noexcept {
  transport->next_kept = kept_;
  kept_ = transport.release();
}

void Worker::Impl::free_idle() noexcept {
  for (Transport::Impl** link = &kept_; *link != nullptr;) {
    Transport::Impl* const transport = *link;
    if (transport->idle()) {
      *link = transport->next_kept;
      delete transport;
    } else {
      link = &transport->next_kept;
    }
  }
}

// --- the public face -----------------------------------------------------------------------------------------------

namespace {

UcxObjects checked_ucx(std::string_view net_devices, HostPlace place) {
  refuse_if_forked("Worker");
  require_descriptors(true, 1);
  watch_for_fork();
  return open_ucx(net_devices, place);
}

}  // namespace

Worker::Worker(std::string_view net_devices, HostPlace place)
    : impl_(std::make_unique<Impl>(checked_ucx(net_devices, place))) {}

Worker::~Worker() {
  // Reachable, so that leak checkers see that it is on purpose.
  static std::atomic<Impl*> left{nullptr};
  Impl* const impl = impl_.release();
  impl->next_left = left.load();
  while (!left.compare_exchange_weak(impl->next_left, impl)) {
  }
}

const std::string& Worker::address() const noexcept { return impl_->objects.address; }
const std::string& Worker::device_text() const noexcept { return impl_->objects.device_text; }
int Worker::rail() const noexcept { return impl_->objects.rail; }
int Worker::event_fd() const noexcept { return impl_->objects.event_fd; }

bool Worker::arm() {
  refuse_if_forked("Worker::arm");
  const std::unique_lock lock(impl_->turnstile, std::try_to_lock);
  if (!lock) return false;
  const ucs_status_t status = ucp_worker_arm(impl_->ucx());
  if (status == UCS_ERR_BUSY) return false;
  check_ucx(status, "ucp_worker_arm");
  return true;
}

unsigned Worker::progress() {
  refuse_if_forked("Worker::progress");
  const std::unique_lock lock(impl_->turnstile, std::try_to_lock);
  return lock ? impl_->progress() : 0;
}

std::uint64_t Worker::strangers() const noexcept { return impl_->strangers.load(std::memory_order_relaxed); }

std::size_t Worker::connections() const noexcept {
  if (forked()) return 0;
  const std::scoped_lock lock(impl_->turnstile);
  return impl_->endpoints.size();
}

}  // namespace umbel::net
