// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/members.hpp"

#include <fmt/format.h>

#include "net/fork.hpp"

namespace umbel::runtime {

std::optional<Attachment> Attachment::make(const Place& place, const ArenaLayout& layout, std::uint64_t nonce, Rank me,
                                           std::uint64_t token) {
  std::optional<net::PeerWindow> window = net::attach(place.window);
  if (!window) return std::nullopt;
  std::optional<net::PeerWindow> bell_window = net::attach(place.bell_window);
  if (!bell_window) return std::nullopt;
  Attachment made(std::move(*window), std::move(*bell_window));
  made.arena_ = Arena(made.window_.data() + place.offset, layout);
  if (made.arena_.header().nonce.load(std::memory_order_acquire) != nonce) return std::nullopt;
  made.bell_ = reinterpret_cast<Bell*>(made.bell_window_.data() + place.bell_offset);
  made.token_.reset(&made.arena_.token(me));
  made.token_->store(token, std::memory_order_release);
  return made;
}

void Attachment::LetGo::operator()(std::atomic<std::uint64_t>* token) const noexcept {
  // In the child of a fork nothing is mapped there.
  if (!net::forked()) token->store(0, std::memory_order_release);
}

std::string Members::name(Rank rank) const {
  const Member& member = at(rank);
  return fmt::format("rank {} (host {}, pid {})", rank, member.host.host_name, member.process.pid);
}

void Members::connect(Rank rank) {
  Member& member = at(rank);
  if (member.connected) return;
  // A peer that has already said goodbye or failed is in a state that no connection changes.
  if (transport->peer_state(rank) == net::PeerState::unknown) transport->connect(rank, member.address);
  member.connected = true;
}

}  // namespace umbel::runtime
