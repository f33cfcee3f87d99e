// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// What Health asks and tells the other nodes.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/log.hpp"
#include "runtime/health.hpp"

namespace umbel::runtime {
namespace {

using namespace std::chrono_literals;

constexpr int kSilence = 10;              ///< heartbeats without anything from the peer, then it is lost
constexpr std::size_t kAskedPerNode = 4;  ///< connected ranks of a node that are asked at a time

enum ControlType : std::uint32_t { abort_message = 1, query_message = 2, answer_message = 3, heartbeat_message = 4 };

static_assert(std::is_trivially_copyable_v<RankState> && std::is_trivially_copyable_v<Failure>);
constexpr std::size_t kAnswerStates = (net::Transport::kMaxControlBytes - sizeof(std::uint64_t)) / sizeof(RankState);

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

}  // namespace

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
        const RankState state = state_of_local(ranks[k], seq, peer);
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
      if (state.rank >= 0 && state.rank < members_.size()) states_[static_cast<std::size_t>(state.rank)].learn(state);
    }
    if (states_disagree()) mismatch_seen_ = true;
  }
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

}  // namespace umbel::runtime
