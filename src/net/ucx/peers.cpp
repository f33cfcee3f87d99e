// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Peers that connect, fail and leave.
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

Peer* Transport::Impl::sender(std::int32_t source) noexcept {
  const bool known = source >= 0 && source < options.peers && source != options.rank;
  return known ? &peers_[static_cast<std::size_t>(source)] : nullptr;
}

void Transport::Impl::connect(int number, std::string_view address) {
  Peer& to = peer(number);
  if (number == options.rank) throw InvalidArgument("transport: a rank does not connect to itself");
  if (to.asked_for) throw InvalidArgument(fmt::format("transport: peer {} connected twice", number));
  if (to.state == PeerState::unknown) {
    worker_.connect(to, address);
    // Opening takes in what has arrived: the peer may have said goodbye just now.
    if (to.state == PeerState::unknown) to.state = PeerState::connected;
  }
  to.asked_for = true;
  to.heard = Clock::now();
}

void Transport::Impl::lose(Peer& peer, std::string_view why) noexcept {
  peer.endpoint = nullptr;
  peer.broken = true;
  news.store(true, std::memory_order_relaxed);
  end_drain(peer);
  // A peer that has said goodbye may close its side: no failure.
  if (peer.state != PeerState::left) mark_failed(peer, why);
}

void Transport::Impl::mark_failed(Peer& peer, std::string_view why) {
  if (peer.state == PeerState::failed) return;
  peer.state = PeerState::failed;
  peer.text = why;
  failures.fetch_add(1, std::memory_order_relaxed);
  end_drain(peer);
}

void Transport::Impl::note_goodbye(Peer& peer) noexcept {
  if (peer.state == PeerState::failed) return;
  peer.state = PeerState::left;
  peer.text = "left: it destroyed its communicator";
  peer.left_at = Clock::now();
  end_drain(peer);
}

}  // namespace umbel::net
