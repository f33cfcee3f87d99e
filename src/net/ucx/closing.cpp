// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The end of a transport: nothing here may throw, hang, or rely on a peer that is still there.
#include <algorithm>

#include "net/ucx/transport_impl.hpp"

namespace umbel::net {
namespace {

/// How long endpoints may take to close once all traffic is over or given up.
constexpr std::chrono::milliseconds kCloseTime{500};
/// See all_spoke().
constexpr std::chrono::milliseconds kSettleTime{200};
/// How long the worker must have had nothing to do before it is destroyed.
constexpr std::chrono::milliseconds kQuietTime{10};

}  // namespace

template <class Done>
void Transport::Impl::progress_until(Done done, Clock::time_point deadline) noexcept {
  while (!done() && Clock::now() < deadline) ucp_worker_progress(worker_.get());
}

bool Transport::Impl::controls_out() const noexcept {
  return std::none_of(peers_.begin(), peers_.end(),
                      [](const Peer& peer) { return peer.state == PeerState::connected && peer.controls != 0; });
}

/// UCX before 1.14 aborts the process ("got REP message", openucx/ucx#8175) when a worker is destroyed while its answer
/// to a peer's request for a connection is still on its way out. From a peer that has sent us anything we know that it
/// has had that answer; with the others we wait for their goodbye, and if that does not come, the worker is kept.
bool Transport::Impl::all_spoke() const noexcept {
  return std::all_of(peers_.begin(), peers_.end(),
                     [](const Peer& peer) { return peer.state == PeerState::unknown || peer.spoke; });
}

/// Tells every connected peer that we leave, and lets that and all earlier sends go out.
void Transport::Impl::say_goodbye() noexcept {
  const auto deadline = Clock::now() + options.close_timeout;
  try {
    unexpected.remove_if([](const Unexpected&) { return true; }, [this](Unexpected* message) { drop(message); });
    for (Peer& peer : peers_) (void)send_control(peer, kGoodbye, {}, true);
    bool all_out = false;
    progress_until([&] { return all_out = flushed() && controls_out(); }, deadline);
    // Take in what peers have sent meanwhile (their goodbyes): a connection that is closed with unread data is reset,
    // and takes what we just sent down with it.
    while (all_out && ucp_worker_progress(worker_.get()) != 0 && Clock::now() < deadline) {
    }
    progress_until([&] { return left_behind || failures != 0 || all_spoke(); }, Clock::now() + kSettleTime);
  } catch (...) {  // out of memory: then without a farewell
  }
}

void Transport::Impl::close_endpoints() noexcept {
  ucp_request_param_t params{};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  // By force, for all: what had to leave has left, and a polite close would wait for peers that may be gone.
  params.flags = UCP_EP_CLOSE_FLAG_FORCE;
  params.cb.send = [](void* request, ucs_status_t, void* self) {
    --static_cast<Impl*>(self)->open_endpoints_;
    ucp_request_free(request);
  };
  params.user_data = this;
  for (Peer& peer : peers_) {
    if (peer.endpoint == nullptr) continue;
    if (!peer.spoke && !peer.broken) continue;  // half open: stays with the worker, see all_spoke()
    ++open_endpoints_;
    const ucs_status_ptr_t request = ucp_ep_close_nbx(peer.endpoint, &params);
    if (request == nullptr || UCS_PTR_IS_ERR(request)) --open_endpoints_;
    peer.endpoint = nullptr;
  }
  progress_until([&] { return open_endpoints_ == 0; }, Clock::now() + kCloseTime);
}

/// Takes in what is still on its way: late answers, the ends of connections.
void Transport::Impl::quiet_down() noexcept {
  const auto deadline = Clock::now() + kSettleTime;
  auto last_event = Clock::now();
  while (Clock::now() < deadline && Clock::now() - last_event < kQuietTime) {
    if (ucp_worker_progress(worker_.get()) != 0) last_event = Clock::now();
  }
}

Transport::Impl::~Impl() {
  closing_ = true;
  say_goodbye();
  close_endpoints();
  quiet_down();
  if (left_behind || failures != 0 || !all_spoke()) {
    worker_.leave_behind();
  } else {
    worker_.retire({kMessageAm, kControlAm});
  }
}

}  // namespace umbel::net
