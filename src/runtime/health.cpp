// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/health.hpp"

#include <algorithm>
#include <cstring>
#include <thread>
#include <type_traits>

#include <fmt/format.h>

#include "algos/algorithm.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "runtime/agreement.hpp"

namespace umbel::runtime {
namespace {

using namespace std::chrono_literals;

constexpr auto kProcessLook = 100ms;
constexpr auto kStallLook = 200ms;
constexpr auto kHeartbeat = 1s;
constexpr int kSilence = 10;        ///< heartbeats without anything from the peer, then it is lost
constexpr auto kDiagnosis = 300ms;  ///< how long answers are waited for once a mismatch is certain
constexpr auto kRarestQuestion = 2s;
constexpr std::size_t kAskedPerNode = 4;  ///< connected ranks of a node that are asked at a time

enum ControlType : std::uint32_t { abort_message = 1, query_message = 2, answer_message = 3, heartbeat_message = 4 };

static_assert(std::is_trivially_copyable_v<RankState> && std::is_trivially_copyable_v<Failure>);
constexpr std::size_t kAnswerStates = (net::Transport::kMaxControlBytes - sizeof(std::uint64_t)) / sizeof(RankState);

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

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

bool gone(char process) { return process == 'Z' || process == 'X'; }

/// The first one's text stays.
void write_once(FailureCell& cell, const Failure& failure) {
  std::uint32_t none = 0;
  if (!cell.state.compare_exchange_strong(none, 1, std::memory_order_relaxed)) return;
  cell.failure = failure;
  cell.state.store(2, std::memory_order_release);
}

/// Two states of one rank: what is known best.
void merge(RankState& into, const RankState& from) {
  if (!from.known) return;
  const bool keep = into.entered && !from.entered;
  const net::CallSummary summary = into.summary;
  into = from;
  if (keep) {
    into.entered = true;
    into.summary = summary;
  }
}

}  // namespace

std::string call_text(const net::CallSummary& summary) {
  const auto catalog = algos::all_reduce_catalog();
  const std::size_t forced = summary.extra;
  return net::to_text(summary) + ", algorithm " +
         (forced == 0 || forced > catalog.size() ? std::string("auto") : std::string(catalog[forced - 1].name));
}

Health::Health(Members& members, std::chrono::nanoseconds timeout)
    : members_(members),
      own_cell_(&members.own().header().failure),
      timeout_(timeout),
      states_(static_cast<std::size_t>(members.size())),
      silences_(static_cast<std::size_t>(members.size())) {}

void Health::enter(std::uint64_t seq, const net::CallSummary& summary) {
  seq_ = seq;
  summary_ = summary;
  mismatch_seen_ = false;
  last_waited_ = 0ns;
  restart_looks();
  if (any_state_) forget_states();  // what was said of the last operation must not be compared with this one
  if (failed()) throw_failure();
  if (members_.transport && members_.transport->unexpected_messages() != 0)
    members_.transport->for_each_unexpected([this](const net::MessageKey& key, const net::CallSummary& found,
                                                   std::uint64_t) { on_unexpected(key, found); });
}

void Health::restart_looks() {
  next_process_look_ = kProcessLook;
  next_stall_look_ = next_question_ = kStallLook;
  next_heartbeat_ = kHeartbeat;
  asked_ = 0;
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
    look_at_processes();
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
    if (rank == members_.me || !gone(process_state(member))) continue;
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

RankState Health::state_of_local(Rank rank, std::uint64_t seq) const {
  const Header& header = members_.at(rank).arena.header();
  RankState state;
  state.rank = rank;
  state.known = true;
  // In this order: see look_at_processes.
  state.process = process_state(members_.at(rank));
  state.closed = header.closed.load(std::memory_order_acquire) != 0;
  state.done = header.done.load(std::memory_order_acquire);
  // Another rank's line keeps still only while this rank has not finished the operation itself.
  const bool readable = rank == members_.me || members_.own().header().done.load(std::memory_order_relaxed) < seq;
  const ControlLine& line = members_.at(rank).arena.line(seq);
  if (readable && line.seq.load(std::memory_order_acquire) == seq) {
    state.entered = true;
    state.summary = line.summary;
  }
  return state;
}

void Health::look_at_processes() {
  for (Rank rank : members_.shape.peers_of(members_.me)) {
    const Member& member = members_.at(rank);
    if (rank == members_.me) continue;
    const Header& header = member.arena.header();
    if (header.done.load(std::memory_order_acquire) >= seq_) continue;
    // A rank finishes the call, closes, ends: looked at in the reverse order, so that none of it slips in between.
    const bool ended = gone(process_state(member));
    const bool closed = header.closed.load(std::memory_order_acquire) != 0;
    const std::uint64_t done = header.done.load(std::memory_order_acquire);
    if (done >= seq_) continue;
    if (closed)
      fail(FailureKind::peer,
           fmt::format("{} destroyed the communicator; this call of {} is number {}, its last was {}",
                       members_.name(rank), call_text(summary_), seq_, done));
    if (ended)
      fail(FailureKind::peer,
           fmt::format("{} died: its process ended before operation {} was finished", members_.name(rank), seq_));
  }
}

void Health::forget_states() {
  for (RankState& state : states_) state.known = state.entered = false;
  for (Silence& silence : silences_) silence = {};
  any_state_ = false;
}

void Health::refresh_local_states() {
  any_state_ = true;
  for (Rank rank : members_.shape.peers_of(members_.me))
    merge(states_[static_cast<std::size_t>(rank)], state_of_local(rank, seq_));
}

void Health::look_at_stall() {
  refresh_local_states();
  if (last_waited_ >= next_question_) {
    next_question_ =
        last_waited_ + std::min<std::chrono::nanoseconds>(kStallLook * (2LL << std::min(asked_, 4)), kRarestQuestion);
    ask_other_nodes();
  }
  if (states_disagree()) mismatch();
}

void Health::ask_other_nodes() {
  if (!members_.transport) return;
  for (int node = 0; node < members_.shape.nodes(); ++node) {
    if (node == members_.shape.node_of(members_.me)) continue;
    for (const Rank rank : whom_to_ask(node)) {
      try {
        members_.connect(rank);
        members_.transport->send_control(rank, query_message, bytes_of(seq_));
      } catch (const UcxError& error) {
        log_debug(Subsystem::health, "cannot ask {}: {}", members_.name(rank), error.what());
      }
    }
  }
  ++asked_;
}

/// Connections are dear: a long wait must not open one to everybody. A node of which nobody has answered by the second
/// round may owe that to the one asked, so a second one is.
std::vector<Rank> Health::whom_to_ask(int node) const {
  const auto ranks = members_.shape.node_ranks(node);
  const auto twin = static_cast<std::size_t>(members_.shape.local_index(members_.me));
  std::vector<Rank> asked{ranks[twin % ranks.size()]};
  const bool silent =
      std::ranges::none_of(ranks, [this](Rank r) { return states_[static_cast<std::size_t>(r)].known; });
  if (silent && asked_ > 0 && ranks.size() > 1) asked.push_back(ranks[(twin + 1) % ranks.size()]);
  const std::size_t first = static_cast<std::size_t>(asked_) * kAskedPerNode;
  for (std::size_t k = 0; k < ranks.size() && asked.size() < kAskedPerNode; ++k) {
    const Rank rank = ranks[(first + k) % ranks.size()];
    if (members_.at(rank).connected && std::ranges::find(asked, rank) == asked.end()) asked.push_back(rank);
  }
  return asked;
}

void Health::answer_all() {
  const std::vector<std::pair<Rank, std::uint64_t>> questions = std::move(questions_);
  questions_.clear();
  for (const auto& [peer, seq] : questions) {
    const auto ranks = members_.shape.peers_of(members_.me);
    for (std::size_t first = 0; first < ranks.size(); first += kAnswerStates) {
      std::vector<std::byte> bytes(sizeof(seq));
      std::memcpy(bytes.data(), &seq, sizeof(seq));
      for (std::size_t k = first; k < std::min(ranks.size(), first + kAnswerStates); ++k) {
        const RankState state = state_of_local(ranks[k], seq);
        const auto raw = bytes_of(state);
        bytes.insert(bytes.end(), raw.begin(), raw.end());
      }
      try {
        members_.connect(peer);
        members_.transport->send_control(peer, answer_message, bytes);
      } catch (const UcxError& error) {
        log_debug(Subsystem::health, "cannot answer {}: {}", members_.name(peer), error.what());
      }
    }
  }
}

void Health::heartbeat() {
  if (!members_.transport) return;
  for (Rank rank = 0; rank < members_.size(); ++rank)
    if (members_.at(rank).connected) members_.transport->send_control(rank, heartbeat_message, {});
}

/// A partner that is outside the library is silent too, however long, and that is no failure. One inside the call is
/// not: it answers questions. That it is inside is known from its node-mates, or from a message of this call; that it
/// has not left again meanwhile, from a transfer between us that is not through.
void Health::judge_silence() {
  if (!members_.transport) return;
  for (Rank rank = 0; rank < members_.size(); ++rank) {
    if (!members_.at(rank).connected) continue;
    Silence& silence = silences_[static_cast<std::size_t>(rank)];
    const Clock::time_point heard = members_.transport->last_heard(rank);
    if (silence.since != heard) silence = {heard, 0};
    ++silence.heartbeats;
    if (silence.heartbeats > kSilence / 2) members_.transport->send_control(rank, query_message, bytes_of(seq_));
    if (silence.heartbeats <= kSilence) continue;
    const RankState& state = states_[static_cast<std::size_t>(rank)];
    const bool inside =
        (state.known && state.entered && state.done < seq_) || members_.transport->last_sequence(rank) == seq_;
    if (!inside || !members_.transport->awaits(rank)) continue;
    const double seconds = std::chrono::duration<double>(Clock::now() - heard).count();
    fail(FailureKind::peer,
         fmt::format("nothing heard from {} for {:.0f} s, while {} waits for it in operation {}: its "
                     "node or link is down, or the process is stopped",
                     members_.name(rank), seconds, members_.name(members_.me), seq_));
  }
}

void Health::on_control(Rank peer, std::uint32_t type, std::span<const std::byte> bytes) {
  if (type == abort_message && bytes.size() == sizeof(Failure)) {
    Failure failure;
    std::memcpy(&failure, bytes.data(), sizeof(failure));
    failure.text[kFailureText - 1] = '\0';
    publish(failure);
  } else if (type == query_message && bytes.size() == sizeof(std::uint64_t)) {
    std::uint64_t seq = 0;
    std::memcpy(&seq, bytes.data(), sizeof(seq));
    questions_.emplace_back(peer, seq);
  } else if (type == answer_message && bytes.size() >= sizeof(std::uint64_t)) {
    std::uint64_t seq = 0;
    std::memcpy(&seq, bytes.data(), sizeof(seq));
    if (seq != seq_) return;
    any_state_ = true;
    for (std::size_t at = sizeof(seq); at + sizeof(RankState) <= bytes.size(); at += sizeof(RankState)) {
      RankState state;
      std::memcpy(&state, bytes.data() + at, sizeof(state));
      if (state.rank >= 0 && state.rank < members_.size()) merge(states_[static_cast<std::size_t>(state.rank)], state);
    }
    if (states_disagree()) mismatch_seen_ = true;
  }
}

void Health::on_unexpected(const net::MessageKey& key, const net::CallSummary& found) {
  if (key.sequence == seq_ && found != summary_) note_mismatch(key.source, found);
}

void Health::note_mismatch(Rank peer, const net::CallSummary& found) {
  if (peer < 0 || peer >= members_.size()) return;
  any_state_ = true;
  RankState& state = states_[static_cast<std::size_t>(peer)];
  state.rank = peer;
  state.known = state.entered = true;
  state.summary = found;
  mismatch_seen_ = true;
}

bool Health::states_disagree() const {
  return std::ranges::any_of(states_,
                             [this](const RankState& s) { return s.known && s.entered && s.summary != summary_; });
}

void Health::mismatch() {
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

std::string Health::mismatch_text() const {
  // The value that most ranks have is taken for the right one; among equals, the one of the lowest rank.
  std::size_t best = 0;
  const RankState* reference = nullptr;
  for (const RankState& state : states_) {
    if (!state.known || !state.entered) continue;
    const auto same = static_cast<std::size_t>(std::ranges::count_if(
        states_, [&](const RankState& s) { return s.known && s.entered && s.summary == state.summary; }));
    if (same > best) {
      best = same;
      reference = &state;
    }
  }
  std::string text = fmt::format("the ranks called operation {} with different arguments:", seq_);
  if (reference == nullptr) return text + " (nobody answered)";
  constexpr int kNamed = 4;
  int odd = 0;
  for (const RankState& state : states_) {
    if (!state.known || !state.entered || state.summary == reference->summary) continue;
    if (++odd <= kNamed) text += fmt::format(" {} called {};", members_.name(state.rank), call_text(state.summary));
  }
  if (odd > kNamed) text += fmt::format(" so did {} more;", odd - kNamed);
  return text + fmt::format(" {}{} called {}", members_.name(reference->rank),
                            best > 1 ? fmt::format(" and {} more", best - 1) : std::string(),
                            call_text(reference->summary));
}

std::string Health::describe(const RankState& state) const {
  if (!state.known) return "did not answer";
  std::string text;
  if (state.done >= seq_) {
    text = "has finished it";
  } else if (state.entered) {
    text = "is in it";
  } else {
    text = fmt::format("has not called it (last finished: {})", state.done);
  }
  if (state.closed) text += ", has destroyed the communicator";
  if (state.process == 'T' || state.process == 't') text += ", its process is stopped";
  if (gone(state.process)) text += ", its process has ended";
  return text;
}

std::string Health::timeout_text() const {
  auto suspect = [this](const RankState& s) {
    return !s.known || s.process == 'T' || s.process == 't' || gone(s.process) || (!s.entered && s.done < seq_);
  };
  const double seconds = std::chrono::duration<double>(timeout_).count();
  std::string missing;
  std::string others;
  for (Rank rank = 0; rank < members_.size(); ++rank) {
    const RankState& state = states_[static_cast<std::size_t>(rank)];
    std::string& list = suspect(state) ? missing : others;
    if (list.size() > 300) continue;  // a failure's text is short; the first ones say enough
    list += fmt::format("{}{} {}", list.empty() ? "" : "; ",
                        suspect(state) ? members_.name(rank) : fmt::format("rank {}", rank), describe(state));
  }
  return fmt::format("operation {} ({}) made no progress on rank {} for {:g} s. Missing: {}.{}", seq_,
                     call_text(summary_), members_.me, seconds, missing.empty() ? "nobody that can be told" : missing,
                     others.empty() ? "" : " Others: " + others + ".");
}

void Health::publish(const Failure& failure) {
  for (Rank rank : members_.shape.peers_of(members_.me)) write_once(members_.at(rank).arena.header().failure, failure);
}

void Health::tell_other_nodes(const Failure& failure) {
  if (told_ || !members_.transport) return;
  told_ = true;
  for (int node = 0; node < members_.shape.nodes(); ++node) {
    if (node == members_.shape.node_of(members_.me)) continue;
    const auto ranks = members_.shape.node_ranks(node);
    const Rank twin = ranks[static_cast<std::size_t>(members_.shape.local_index(members_.me)) % ranks.size()];
    for (Rank rank : ranks) {
      try {
        if (rank == twin) members_.connect(rank);
        if (members_.at(rank).connected) members_.transport->send_control(rank, abort_message, bytes_of(failure), true);
      } catch (const UcxError& error) {
        log_debug(Subsystem::health, "cannot tell {}: {}", members_.name(rank), error.what());
      }
    }
  }
  // Let it leave; whoever cannot be reached learns it from its own waits.
  const auto end = Clock::now() + 50ms;
  while (Clock::now() < end && !members_.transport->flushed()) members_.transport->progress();
}

void Health::fail(FailureKind kind, const std::string& text) {
  Failure failure;
  failure.kind = kind;
  failure.reporter = members_.me;
  std::strncpy(failure.text, text.c_str(), kFailureText - 1);
  publish(failure);
  throw_failure();
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
