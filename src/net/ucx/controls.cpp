// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Control messages, flush, and what handlers are told.
#include <algorithm>
#include <utility>

#include "net/ucx/transport_impl.hpp"

namespace umbel::net {

// --- sending -------------------------------------------------------------------------------------------------------

void Transport::Impl::used(Peer& peer) {
  if (peer.dirty) return;
  peer.dirty = true;
  dirty_.push_back(&peer);
}

bool Transport::Impl::send_control(Peer& to, std::uint32_t type, std::span<const std::byte> bytes, bool urgent) {
  if (to.state != PeerState::connected) return false;
  if (!urgent && to.controls >= kMaxWaitingControls) return false;
  if (urgent) used(to);
  return post_control(to, type, bytes) != Posted::refused;
}

Transport::Impl::Posted Transport::Impl::post_control(Peer& to, std::uint32_t type, std::span<const std::byte> bytes) {
  ControlSend* send = control_sends_.take();
  send->peer = &to;
  send->header = {options.nonce, options.rank, type};
  std::copy(bytes.begin(), bytes.end(), send->bytes.begin());
  ucp_request_param_t params{};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  params.flags = UCP_AM_SEND_FLAG_EAGER;
  params.cb.send = on_control_sent;
  params.user_data = send;
  const ucs_status_ptr_t request = ucp_am_send_nbx(to.endpoint->handle, kControlAm, &send->header, sizeof send->header,
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
  Impl& self = *to.owner;
  --to.controls;
  if (send->header.type == kDrain) self.end_drain(to);
  self.control_sends_.give_back(send);
  self.news.store(true, std::memory_order_relaxed);
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
  const bool idle = worker_.nothing_outstanding();
  for (Peer* peer : dirty_) {
    peer->dirty = false;
    if (!idle && peer->state == PeerState::connected) start_drain(*peer);
  }
  dirty_.clear();
  return draining_ == 0;
}

// --- receiving -----------------------------------------------------------------------------------------------------

void Transport::Impl::take_in_control(Peer& from, std::uint32_t type, std::span<const std::byte> bytes) {
  from.heard = Clock::now();
  news.store(true, std::memory_order_relaxed);
  if (type == kGoodbye) note_goodbye(from);
  if (type >= kGoodbye || closing_) return;
  // The owner has not looked for long: what is new is worth more than what is old.
  if (mails_.size() >= kMaxMail) mails_.pop_front();
  mails_.push_back({from.number, type, {bytes.begin(), bytes.end()}});
  count_mail();
}

void Transport::Impl::note(const MessageHeader& header, std::size_t bytes) {
  if (!unexpected_handler || notes_.size() >= kMaxMail)
    return;  // more are not worth it: for_each_unexpected() shows all
  notes_.push_back({header.key, header.summary, bytes});
  count_mail();
}

/// For a new handler.
void Transport::Impl::note_waiting() {
  notes_.clear();
  unexpected.for_each([this](const Unexpected& message) { note(message.header, message.bytes); });
  count_mail();
}

/// Control messages wait for a handler to be set; notes are made for a handler only.
void Transport::Impl::count_mail() noexcept {
  mail.store((control_handler ? mails_.size() : 0) + notes_.size(), std::memory_order_release);
}

unsigned Transport::Impl::dispatch() {
  const std::size_t due = mail.load(std::memory_order_acquire);
  if (due == 0 || dispatching) return 0;
  struct Inside {
    explicit Inside(bool& flag) : flag_(flag) { flag_ = true; }
    ~Inside() { flag_ = false; }
    bool& flag_;
  } const inside(dispatching);
  std::vector<Mail> letters;
  {
    const auto lock = hold();
    if (control_handler) {
      std::move(mails_.begin(), mails_.end(), std::back_inserter(letters));
      mails_.clear();
    }
    telling_.clear();
    telling_.swap(notes_);
    count_mail();
  }
  for (const Mail& letter : letters) control_handler(letter.peer, letter.type, letter.bytes);
  for (const Note& note : telling_) {
    if (unexpected_handler) unexpected_handler(note.key, note.summary, note.bytes);
  }
  return static_cast<unsigned>(letters.size() + telling_.size());
}

}  // namespace umbel::net
