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
    : options(chosen), worker_(chosen.worker->impl()), peers_(static_cast<std::size_t>(chosen.peers)) {
  for (int number = 0; number < chosen.peers; ++number) {
    Peer& peer = peers_[static_cast<std::size_t>(number)];
    peer.owner = this;
    peer.number = number;
  }
  const auto lock = hold();
  worker_.add(*this);
}

std::unique_lock<Turnstile> Transport::Impl::hold() const {
  return forked() ? std::unique_lock<Turnstile>() : std::unique_lock(worker_.turnstile);
}

namespace {

const TransportOptions& checked(const TransportOptions& options) {
  refuse_if_forked("Transport");
  if (options.worker == nullptr) throw InvalidArgument("transport: no worker");
  if (options.peers < 1 || options.rank < 0 || options.rank >= options.peers) {
    throw InvalidArgument(fmt::format("transport: rank {} of {} peers", options.rank, options.peers));
  }
  require_descriptors(false, options.peers - 1 - static_cast<int>(options.worker->connections()));
  return options;
}

}  // namespace

Transport::Transport(const TransportOptions& options)
    : worker_(options.worker), impl_(std::make_unique<Impl>(checked(options))) {}

Transport::~Transport() {
  // The child of a fork must not touch the parent's connections, not even to close them.
  if (forked()) {
    (void)impl_.release();  // NOLINT(bugprone-unused-return-value)
  } else {
    Impl::close(std::move(impl_));
  }
}

// --- connections ---------------------------------------------------------------------------------------------------

const std::string& Transport::address() const noexcept { return worker_->address(); }

void Transport::connect(int peer, std::string_view address) {
  refuse_if_forked("Transport::connect");
  const auto lock = impl_->hold();
  impl_->connect(peer, address);
}

PeerState Transport::peer_state(int peer) const noexcept {
  const auto lock = impl_->hold();
  const Peer* found = impl_->find_peer(peer);
  return found == nullptr ? PeerState::unknown : found->state;
}

std::string Transport::failure_text(int peer) const {
  const auto lock = impl_->hold();
  const Peer* found = impl_->find_peer(peer);
  return found == nullptr ? std::string() : found->text;
}

std::uint32_t Transport::failures() const noexcept { return impl_->failures.load(std::memory_order_acquire); }

void Transport::mark_failed(int peer, std::string_view why) {
  refuse_if_forked("Transport::mark_failed");
  const auto lock = impl_->hold();
  impl_->mark_failed(impl_->peer(peer), why);
}

Clock::time_point Transport::last_heard(int peer) const noexcept {
  const auto lock = impl_->hold();
  const Peer* found = impl_->find_peer(peer);
  return found == nullptr ? Clock::time_point{} : found->heard;
}

std::uint64_t Transport::last_sequence(int peer) const noexcept {
  const auto lock = impl_->hold();
  const Peer* found = impl_->find_peer(peer);
  return found == nullptr ? 0 : found->sequence;
}

bool Transport::awaits(int peer) const noexcept {
  const auto lock = impl_->hold();
  return impl_->awaits(peer);
}

// --- messages ------------------------------------------------------------------------------------------------------

RequestId Transport::post_send(int peer, MessageKey key, const CallSummary& summary, const void* data,
                               std::size_t bytes) {
  refuse_if_forked("Transport::post_send");
  key.source = impl_->options.rank;
  const auto lock = impl_->hold();
  return impl_->post_send(peer, key, summary, data, bytes);
}

RequestId Transport::post_recv(const MessageKey& key, const CallSummary& summary, void* data, std::size_t bytes) {
  refuse_if_forked("Transport::post_recv");
  const auto lock = impl_->hold();
  return impl_->post_recv(key, summary, data, bytes);
}

RequestState Transport::test(RequestId request) {
  refuse_if_forked("Transport::test");
  const auto lock = impl_->hold();
  return impl_->test(request);
}

void Transport::abandon(RequestId request) noexcept {
  if (forked()) return;
  const auto lock = impl_->hold();
  impl_->abandon(request);
}

void Transport::forget(std::uint64_t sequence) {
  refuse_if_forked("Transport::forget");
  const auto lock = impl_->hold();
  impl_->forget(sequence);
}

const std::optional<Mismatch>& Transport::last_mismatch() const noexcept { return impl_->last_mismatch; }
const std::string& Transport::last_failure() const noexcept { return impl_->last_failure; }

void Transport::set_unexpected_handler(UnexpectedHandler handler) {
  const auto lock = impl_->hold();
  impl_->unexpected_handler = std::move(handler);
  impl_->note_waiting();
}

void Transport::for_each_unexpected(const UnexpectedHandler& visit) const {
  std::vector<Note> notes;
  {
    const auto lock = impl_->hold();
    notes.reserve(impl_->unexpected.size());
    impl_->unexpected.for_each([&](const Unexpected& m) {
      notes.push_back({m.header.key, m.header.summary, m.bytes});
    });
  }
  for (const Note& note : notes) visit(note.key, note.summary, note.bytes);
}

// --- control messages ----------------------------------------------------------------------------------------------

void Transport::set_control_handler(ControlHandler handler) {
  const auto lock = impl_->hold();
  impl_->control_handler = std::move(handler);
  impl_->count_mail();
}

bool Transport::send_control(int peer, std::uint32_t type, std::span<const std::byte> bytes, bool urgent) {
  refuse_if_forked("Transport::send_control");
  if (type >= kGoodbye || bytes.size() > kMaxControlBytes) {
    throw InvalidArgument(fmt::format("control message of type {} with {} bytes", type, bytes.size()));
  }
  const auto lock = impl_->hold();
  return impl_->send_control(impl_->peer(peer), type, bytes, urgent);
}

// --- progress and waiting ------------------------------------------------------------------------------------------

unsigned Transport::progress() {
  refuse_if_forked("Transport::progress");
  if (impl_->dispatching) throw InvalidArgument("Transport::progress called from inside one of its handlers");
  unsigned events = worker_->progress();
  if (impl_->news.load(std::memory_order_relaxed) && impl_->news.exchange(false, std::memory_order_relaxed)) ++events;
  return events + impl_->dispatch();
}

unsigned Transport::dispatch() {
  refuse_if_forked("Transport::dispatch");
  return impl_->dispatch();
}

bool Transport::has_mail() const noexcept { return impl_->mail.load(std::memory_order_acquire) != 0; }

bool Transport::flushed() {
  refuse_if_forked("Transport::flushed");
  const auto lock = impl_->hold();
  return impl_->flushed();
}

bool Transport::has_news() const noexcept { return impl_->news.load(std::memory_order_acquire) || has_mail(); }

// --- facts ---------------------------------------------------------------------------------------------------------

const std::string& Transport::device_text() const noexcept { return worker_->device_text(); }

std::size_t Transport::requests_in_flight() const noexcept {
  const auto lock = impl_->hold();
  return impl_->requests.in_use();
}

std::size_t Transport::unexpected_messages() const noexcept {
  const auto lock = impl_->hold();
  return impl_->unexpected.size();
}

}  // namespace umbel::net
