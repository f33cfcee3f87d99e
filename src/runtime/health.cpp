// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/health.hpp"

#include <algorithm>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "base/error.hpp"
#include "runtime/agreement.hpp"

namespace umbel::runtime {
namespace {

using namespace std::chrono_literals;

constexpr auto kProcessLook = 100ms;
constexpr auto kStallLook = 200ms;
constexpr auto kHeartbeat = 1s;
constexpr auto kDiagnosis = 300ms;  ///< how long answers are waited for once a mismatch is certain
constexpr auto kDying = 1s;         ///< from the end of a process's memory to its own; longer the more there was
constexpr auto kRarestQuestion = 2s;

ErrorClass class_of(FailureKind kind) {
  switch (kind) {
    case FailureKind::mismatch:
      return ErrorClass::mismatch;
    case FailureKind::timeout:
      return ErrorClass::timeout;
    case FailureKind::peer:
      return ErrorClass::peer_failure;
    case FailureKind::system:
      return ErrorClass::system;
    case FailureKind::none:
      break;
  }
  return ErrorClass::other;
}

/// The first one's text stays.
void write_once(FailureCell& cell, const Failure& failure) {
  std::uint32_t none = 0;
  if (!cell.state.compare_exchange_strong(none, 1, std::memory_order_relaxed)) return;
  cell.failure = failure;
  cell.state.store(2, std::memory_order_release);
}

}  // namespace

Health::Health(Members& members, std::chrono::nanoseconds timeout)
    : members_(members),
      own_cell_(&members.own().header().failure),
      timeout_(timeout),
      states_(static_cast<std::size_t>(members.size())),
      silences_(static_cast<std::size_t>(members.size())),
      ended_looks_(static_cast<std::size_t>(members.size())) {}

void Health::listen() {
  if (!members_.transport) return;
  members_.transport->set_control_handler(
      [this](int peer, std::uint32_t type, std::span<const std::byte> bytes) { on_control(peer, type, bytes); });
  members_.transport->set_unexpected_handler(
      [this](const net::MessageKey& key, const net::CallSummary& found, std::uint64_t) { on_unexpected(key, found); });
}

void Health::enter(std::uint64_t seq, const net::CallSummary& summary) {
  seq_ = seq;
  summary_ = summary;
  mismatch_seen_ = false;
  pair_trouble_.clear();
  last_waited_ = 0ns;
  restart_looks();
  if (any_state_) forget_states();  // what was said of the last operation must not be compared with this one
  if (failed()) throw_failure();
  review_unexpected();
}

void Health::review_unexpected() {
  if (!members_.transport || members_.transport->unexpected_messages() == 0) return;
  members_.transport->for_each_unexpected(
      [this](const net::MessageKey& key, const net::CallSummary& found, std::uint64_t) { on_unexpected(key, found); });
  if (!pair_trouble_.empty()) mismatch();
}

void Health::restart_looks() {
  next_process_look_ = kProcessLook;
  next_stall_look_ = next_question_ = kStallLook;
  next_heartbeat_ = kHeartbeat;
  asked_ = 0;
}

void RankState::learn(const RankState& said) {
  if (!said.known) return;
  const bool keep = entered && !said.entered;
  const RankState kept = *this;
  *this = said;
  if (keep) {
    entered = true;
    summary = kept.summary;
    previous = kept.previous;
    tells_previous = kept.tells_previous;
    pair = kept.pair;
  }
}

void Health::look(std::chrono::nanoseconds waited) {
  if (own_cell_->state.load(std::memory_order_relaxed) != 0) throw_failure();
  if (mismatch_seen_) mismatch();
  if (waited < last_waited_) {  // another wait
    restart_looks();
    forget_states();
  }
  last_waited_ = waited;
  if (waited >= next_process_look_) {
    next_process_look_ = waited + kProcessLook;
    if (const std::optional<std::string> lost = loss()) fail(FailureKind::peer, *lost);
  }
  if (waited >= next_stall_look_) {
    next_stall_look_ = waited + kStallLook;
    look_at_stall();
  }
  if (waited >= next_heartbeat_) {
    next_heartbeat_ = waited + kHeartbeat;
    heartbeat();
    judge_silence();
  }
  if (waited >= timeout_) {
    refresh_local_states();
    fail(FailureKind::timeout, timeout_text());
  }
}

void Health::check(std::uint64_t seq) {
  if (own_cell_->state.load(std::memory_order_relaxed) != 0) throw_failure();
  for (Rank rank : members_.shape.peers_of(members_.me)) {
    const Member& member = members_.at(rank);
    if (rank == members_.me || !net::has_ended(member.state())) continue;
    if (member.arena.header().closed.load(std::memory_order_acquire) == 0)  // not before: it closes, then ends
      fail(FailureKind::peer, fmt::format("{} died: its process ended after operation {}", members_.name(rank), seq));
  }
  if (!members_.transport) return;
  members_.transport->progress();
  serve();
  if (own_cell_->state.load(std::memory_order_relaxed) != 0) throw_failure();
  if (members_.transport->failures() == 0) return;
  for (Rank rank = 0; rank < members_.size(); ++rank)
    if (members_.transport->peer_state(rank) == net::PeerState::failed)
      fail(FailureKind::peer, fmt::format("{} is lost to {}: {}", members_.name(rank), members_.name(members_.me),
                                          members_.transport->failure_text(rank)));
}

RankState Health::state_of_local(Rank rank, std::uint64_t seq, Rank asker) const {
  const Header& header = members_.at(rank).arena.header();
  RankState state;
  state.rank = rank;
  state.known = true;
  // In this order: see loss().
  state.process = members_.at(rank).state();
  state.closed = header.closed.load(std::memory_order_acquire) != 0;
  state.done = header.done.load(std::memory_order_acquire);
  // Another rank's line keeps still only while this rank has not finished the operation itself.
  const bool readable = rank == members_.me || members_.own().header().done.load(std::memory_order_relaxed) < seq;
  const ControlLine& line = members_.at(rank).arena.line(seq);
  if (readable && seq != 0 && line.seq.load(std::memory_order_acquire) == seq) {
    state.entered = true;
    state.summary = line.summary;
    state.previous = line.previous;
    state.tells_previous = true;
    if (counted_by_pairs(line.summary.collective)) state.pair = members_.at(rank).arena.pairs(seq)[asker];
  }
  return state;
}

std::optional<std::string> Health::loss() const {
  for (Rank rank : members_.shape.peers_of(members_.me)) {
    const Member& member = members_.at(rank);
    if (rank == members_.me) continue;
    const Header& header = member.arena.header();
    if (header.done.load(std::memory_order_acquire) >= seq_) continue;
    // A rank finishes the call, closes, ends: looked at in the reverse order, so that none of it slips in between.
    const bool ended = net::has_ended(member.state());
    const bool closed = header.closed.load(std::memory_order_acquire) != 0;
    const std::uint64_t done = header.done.load(std::memory_order_acquire);
    if (done >= seq_) continue;
    if (closed)
      return fmt::format("{} destroyed the communicator; this call of {} is number {}, its last was {}",
                         members_.name(rank), call_text(summary_), seq_, done);
    if (ended)
      return fmt::format("{} died: its process ended before operation {} was finished", members_.name(rank), seq_);
  }
  return std::nullopt;
}

void Health::forget_states() {
  for (RankState& state : states_) state.known = state.entered = false;
  for (Silence& silence : silences_) silence = {};
  std::ranges::fill(ended_looks_, 0);
  any_state_ = false;
}

void Health::refresh_local_states() {
  any_state_ = true;
  for (Rank rank : members_.shape.peers_of(members_.me))
    states_[static_cast<std::size_t>(rank)].learn(state_of_local(rank, seq_, members_.me));
}

void Health::look_at_stall() {
  refresh_local_states();
  if (last_waited_ >= next_question_) {
    next_question_ =
        last_waited_ + std::min<std::chrono::nanoseconds>(kStallLook * (2LL << std::min(asked_, 4)), kRarestQuestion);
    ask_other_nodes();
  }
  if (states_disagree()) mismatch();
  if (pairs_published()) look_at_pairs();
}

void Health::on_unexpected(const net::MessageKey& key, const net::CallSummary& found) {
  if (counted_by_pairs(found.collective) &&
      key.sequence <= members_.own().header().done.load(std::memory_order_relaxed))
    pair_trouble_ = found.counts != 0 ? bundle_text(key.sequence, found, key.source, {.gives = found.count})
                                      : pair_text(key.sequence, found, key.source, members_.me, {.gives = found.count});
  else if (key.sequence == seq_ && !net::same_call(found, summary_))
    note_mismatch(key.source, found);
  else if (key.sequence == seq_ && found.counts == 0 && pairs_published() &&
           members_.own().pairs(seq_)[key.source].takes != found.count)
    pair_trouble_ = pair_text(seq_, summary_, key.source, members_.me,
                              {.gives = found.count, .takes = members_.own().pairs(seq_)[key.source].takes});
  mismatch_seen_ |= !pair_trouble_.empty();
}

void Health::note_mismatch(Rank peer, const net::CallSummary& found) {
  if (peer < 0 || peer >= members_.size()) return;
  any_state_ = true;
  RankState& state = states_[static_cast<std::size_t>(peer)];
  state.rank = peer;
  state.known = state.entered = true;
  state.summary = found;
  if (counted_by_pairs(found.collective)) state.summary.count = state.summary.counts = 0;  // of the message alone
  mismatch_seen_ = true;
}

bool Health::states_disagree() const {
  return std::ranges::any_of(states_,
                             [this](const RankState& s) { return s.known && s.entered && s.summary != summary_; });
}

void Health::mismatch() {
  if (!pair_trouble_.empty()) fail(FailureKind::mismatch, pair_trouble_);
  const auto end = Clock::now() + kDiagnosis;
  auto next_question = Clock::now();
  auto complete = [this] {
    return std::ranges::all_of(states_, [](const RankState& s) { return s.known && s.entered; });
  };
  do {
    refresh_local_states();
    if (Clock::now() >= next_question) {
      ask_other_nodes();
      next_question += kDiagnosis / 3;
    }
    if (members_.transport) {
      members_.transport->progress();
      serve();
    }
    if (own_cell_->state.load(std::memory_order_relaxed) != 0) throw_failure();
    std::this_thread::yield();
  } while (!complete() && Clock::now() < end);
  fail(FailureKind::mismatch, mismatch_text());
}

void Health::publish(const Failure& failure) {
  for (Rank rank : members_.shape.peers_of(members_.me)) write_once(members_.at(rank).arena.header().failure, failure);
}

void Health::fail(FailureKind kind, const std::string& text) {
  Failure failure;
  failure.kind = kind;
  failure.reporter = members_.me;
  std::strncpy(failure.text, text.c_str(), kFailureText - 1);
  publish(failure);
  throw_failure();
}

void Health::fail_after(const std::exception& error, const std::function<std::optional<std::string>()>& loss) {
  const bool of_the_system = dynamic_cast<const SystemError*>(&error) != nullptr;
  const auto end = Clock::now() + (of_the_system ? kDying : 0s);
  while (true) {
    if (own_cell_->state.load(std::memory_order_relaxed) != 0) throw_failure();
    if (mismatch_seen_) mismatch();
    if (const std::optional<std::string> lost = loss()) fail(FailureKind::peer, *lost);
    if (Clock::now() >= end) fail(FailureKind::system, fmt::format("{}: {}", members_.name(members_.me), error.what()));
    std::this_thread::sleep_for(1ms);
  }
}

void Health::throw_failure() {
  const auto end = Clock::now() + 100ms;
  while (own_cell_->state.load(std::memory_order_acquire) != 2 && Clock::now() < end) std::this_thread::yield();
  if (own_cell_->state.load(std::memory_order_acquire) != 2)
    throw PeerFailure("the communicator has failed; the rank that reported it died meanwhile");
  const Failure failure = own_cell_->failure;
  tell_other_nodes(failure);
  std::string text = failure.text;
  if (failure.reporter != members_.me) text += fmt::format(" (found by rank {})", failure.reporter);
  throw_as(class_of(failure.kind), text);
}

}  // namespace umbel::runtime
