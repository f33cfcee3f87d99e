// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The end of a transport: nothing here may throw, hang, or rely on a peer that is still there. The connections stay
// with the worker, unless a message that UCX still works on can be stopped in no other way.
#include <algorithm>
#include <thread>
#include <utility>

#include "net/ucx/transport_impl.hpp"

namespace umbel::net {
namespace {

/// How long UCX may take to give back the requests of connections that were cut.
constexpr std::chrono::milliseconds kCutTime{500};

}  // namespace

template <class Done>
void Transport::Impl::progress_until(Done done, Clock::time_point deadline) {
  while (true) {
    unsigned events = 0;
    {
      const auto lock = hold();
      if (done()) return;
      events = worker_.progress();
    }
    if (Clock::now() >= deadline) return;
    if (events == 0) std::this_thread::yield();
  }
}

bool Transport::Impl::controls_out() const noexcept {
  return std::none_of(peers_.begin(), peers_.end(),
                      [](const Peer& peer) { return peer.state == PeerState::connected && peer.controls != 0; });
}

/// Tells every connected peer that we leave, and lets that and everything else that is under way end.
void Transport::Impl::say_goodbye() noexcept {
  try {
    {
      const auto lock = hold();
      closing_ = true;
      unexpected.remove_if([](const Unexpected&) { return true; }, [this](Unexpected* message) { drop(message); });
      for (Peer& peer : peers_) (void)send_control(peer, kGoodbye, {}, true);
    }
    progress_until([this] { return flushed() && controls_out() && active_ == 0; },
                   Clock::now() + options.close_timeout);
  } catch (...) {  // out of memory: then without a farewell
  }
}

/// The buffers of requests that UCX still works on are about to be freed: nothing but the end of their connections
/// stops it, or the peer, from using them.
void Transport::Impl::cut_the_rest() noexcept {
  const auto lock = hold();
  for (std::uint64_t index = 0; const Request* request = requests.at(index); ++index) {
    if (request->stage != Stage::active) continue;
    Endpoint* const endpoint = peers_[static_cast<std::size_t>(request->peer)].endpoint;
    if (endpoint == nullptr) continue;  // cut already
    worker_.cut(*endpoint,
                "this process cut the connection: a communicator was destroyed while a message of a failed "
                "call was still under way to or from that rank");
  }
}

void Transport::Impl::close(std::unique_ptr<Impl> transport) noexcept {
  Impl& self = *transport;
  self.say_goodbye();
  self.cut_the_rest();
  try {
    self.progress_until([&] { return self.active_ == 0; }, Clock::now() + kCutTime);
  } catch (...) {
  }
  const auto lock = self.hold();
  self.worker_.remove(self);
  for (Peer& peer : self.peers_) self.worker_.disconnect(peer);
  if (!self.idle()) self.worker_.keep(std::move(transport));
}

}  // namespace umbel::net
