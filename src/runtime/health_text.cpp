// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// What Health says when it fails a communicator.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "algos/algorithm.hpp"
#include "runtime/health.hpp"

namespace umbel::runtime {

std::string call_text(const net::CallSummary& summary) {
  const auto catalog = algos::catalog(summary.collective);
  const std::size_t forced = summary.extra & kAlgorithmVariant;
  return net::to_text(summary) + ((summary.extra & kScaledVariant) != 0 ? ", pre-multiplied" : "") +
         ((summary.extra & kOrderedVariant) != 0 ? ", which does not commute" : "") + ", algorithm " +
         (forced == 0 || forced > catalog.size() ? std::string("auto") : std::string(catalog[forced - 1].name));
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
  if (!state.known) return "did not answer (it is outside the library, stopped, or out of reach)";
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
  if (net::has_ended(state.process)) text += ", its process has ended";
  return text;
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
