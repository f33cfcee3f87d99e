// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// What Health says when it fails a communicator.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "algos/algorithm.hpp"
#include "runtime/health.hpp"

namespace umbel::runtime {
namespace {

constexpr const char* kNoAnswer = "did not answer (it is outside the library, stopped, or out of reach)";

std::string end_text(const RankState& state) {
  std::string text;
  if (state.closed) text += ", has destroyed the communicator";
  if (state.process == 'T' || state.process == 't') text += ", its process is stopped";
  if (net::has_ended(state.process)) text += ", its process has ended";
  return text;
}

}  // namespace

std::string call_text(const net::CallSummary& summary) {
  const auto catalog = algos::catalog(summary.collective);
  const std::size_t forced = summary.extra & kAlgorithmVariant;
  return net::to_text(summary) + ((summary.extra & kScaledVariant) != 0 ? ", pre-multiplied" : "") +
         ((summary.extra & kOrderedVariant) != 0 ? ", which does not commute" : "") + ", algorithm " +
         (forced == 0 || forced > catalog.size() ? std::string("auto") : std::string(catalog[forced - 1].name));
}

std::string Health::mismatch_text() const {
  const CallOf present = [](const RankState& state) {
    net::CallSummary call = state.summary;
    call.earlier = 0;
    return call;
  };
  const CallOf before = [](const RankState& state) {
    net::CallSummary call = state.tells_previous ? state.previous : net::CallSummary{};
    call.earlier = 0;
    return call;
  };
  std::string text = difference_text(seq_, present);
  if (text.empty() && seq_ > 1) text = difference_text(seq_ - 1, before);
  return text.empty() ? fmt::format("the ranks have made different calls before operation {}", seq_) : text;
}

/// "" when the ranks that tell of this call all made the same. The value that most ranks have is taken for the right
/// one; among equals, the one of the lowest rank.
std::string Health::difference_text(std::uint64_t seq, CallOf call) const {
  std::vector<const RankState*> told;
  for (const RankState& state : states_)
    if (state.known && state.entered && (seq == seq_ || state.tells_previous)) told.push_back(&state);
  const RankState* reference = nullptr;
  std::ptrdiff_t best = 0;
  for (const RankState* state : told) {
    const auto same = std::ranges::count_if(told, [&](const RankState* s) { return call(*s) == call(*state); });
    if (same > best) {
      best = same;
      reference = state;
    }
  }
  if (best == static_cast<std::ptrdiff_t>(told.size())) return "";
  std::string text = fmt::format("the ranks called operation {} with different arguments:", seq);
  constexpr int kNamed = 4;
  int odd = 0;
  for (const RankState* state : told) {
    if (call(*state) == call(*reference)) continue;
    if (++odd <= kNamed) text += fmt::format(" {} called {};", members_.name(state->rank), call_text(call(*state)));
  }
  if (odd > kNamed) text += fmt::format(" so did {} more;", odd - kNamed);
  return text + fmt::format(" {}{} called {}", members_.name(reference->rank),
                            best > 1 ? fmt::format(" and {} more", best - 1) : std::string(),
                            call_text(call(*reference)));
}

std::string Health::describe(const RankState& state) const {
  if (!state.known) return kNoAnswer;
  std::string text;
  if (state.done >= seq_) {
    text = "has finished it";
  } else if (state.entered) {
    text = "is in it";
  } else {
    text = fmt::format("has not called it (last finished: {})", state.done);
  }
  return text + end_text(state);
}

std::string Health::known_of(Rank rank) {
  refresh_local_states();
  const RankState& state = states_[static_cast<std::size_t>(rank)];
  if (!state.known) return kNoAnswer;
  return fmt::format("has finished {} collective{}", state.done, state.done == 1 ? "" : "s") + end_text(state);
}

std::string Health::fate_of(Rank rank) const {
  const Member& member = members_.at(rank);
  const bool ended = net::has_ended(member.state());  // first: a rank closes, then ends
  if (member.arena.header().closed.load(std::memory_order_acquire) != 0) return "destroyed the communicator";
  return ended ? "died: its process ended" : "";
}

std::string Health::timeout_text() const {
  auto suspect = [this](const RankState& s) {
    return !s.known || s.process == 'T' || s.process == 't' || net::has_ended(s.process) ||
           (!s.entered && s.done < seq_);
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

}  // namespace umbel::runtime
