// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/planner.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/log.hpp"
#include "kernels/validate.hpp"

namespace umbel::runtime {
namespace {

constexpr std::size_t kPlansKept = 512;
constexpr std::uint64_t kSmallestChunk = 4096;
constexpr std::uint64_t kSmallestPiece = 4096;

std::vector<std::uint64_t> candidates(std::uint64_t wanted, std::initializer_list<std::uint64_t> choices) {
  return wanted != 0 ? std::vector<std::uint64_t>{wanted} : std::vector<std::uint64_t>(choices);
}

}  // namespace

const Plan& Planner::plan(const PlanKey& key) {
  const auto found = plans_.find(key);
  if (found != plans_.end()) return found->second;
  if (plans_.size() >= kPlansKept) plans_.clear();
  return plans_.emplace(key, make(key)).first->second;
}

std::string Planner::refuses_mode(const algos::Algorithm& algorithm) const {
  // With one or two ranks every algorithm computes the one expression that there is.
  if (in_.reproducible && in_.shape.ranks() > 2)
    return fmt::format("{} does not fold in the canonical order of reproducible mode for {} ranks", algorithm.name,
                       in_.shape.ranks());
  return "";
}

double Planner::cost_of(const Choice& choice, std::uint64_t bytes) const {
  return choice.algorithm->cost(
      {.shape = in_.shape, .spec = choice.spec, .model = in_.model, .bytes = bytes, .cut = choice.cut});
}

std::optional<Planner::Choice> Planner::best_of(const algos::Algorithm& algorithm, std::uint64_t bytes) const {
  std::optional<Choice> best;
  constexpr std::uint64_t kK = 1024;
  const auto chunks = candidates(in_.chunk_bytes, {32 * kK, 64 * kK, 128 * kK, 256 * kK, 512 * kK});
  const auto pieces = candidates(in_.piece_bytes, {128 * kK, 256 * kK, 512 * kK, 1024 * kK, 4096 * kK});
  const auto channels = candidates(static_cast<std::uint64_t>(in_.channels), {1});
  for (int direct = 0; direct <= (in_.direct ? 1 : 0); ++direct) {
    for (std::uint64_t channel_count : channels) {
      const algos::Spec spec{.direct = direct != 0, .channels = static_cast<int>(channel_count), .depth = 2};
      if (!algorithm.refuses(in_.shape, spec).empty()) continue;
      // One number after the other: an algorithm is cut by the one or by the other, seldom by both.
      Choice choice{.algorithm = &algorithm,
                    .spec = spec,
                    .cut = {.piece_bytes = pieces.front(), .chunk_bytes = chunks.front()},
                    .cost = 0};
      choice.cost = cost_of(choice, bytes);
      auto try_cut = [&](Cut cut) {
        Choice other = choice;
        other.cut = cut;
        other.cost = cost_of(other, bytes);
        if (other.cost < choice.cost) choice = other;
      };
      for (std::uint64_t chunk : chunks) try_cut({.piece_bytes = choice.cut.piece_bytes, .chunk_bytes = chunk});
      for (std::uint64_t piece : pieces) try_cut({.piece_bytes = piece, .chunk_bytes = choice.cut.chunk_bytes});
      if (!best || choice.cost < best->cost) best = choice;
    }
  }
  return best;
}

Built& Planner::build(const algos::Algorithm& algorithm, const algos::Spec& spec) {
  const std::string key = fmt::format("{} {} {} {}", algorithm.name, spec.direct, spec.channels, spec.depth);
  std::unique_ptr<Built>& slot = built_[key];
  if (!slot) {
    auto fresh = std::make_unique<Built>(Built{&algorithm, spec, algorithm.build(in_.rank, in_.shape, spec)});
    kernels::validate(fresh->program);
    slot = std::move(fresh);
  }
  return *slot;
}

std::optional<Plan> Planner::realize(Choice choice, const PlanKey& key, std::string* reason) {
  Built& built = build(*choice.algorithm, choice.spec);
  if (built.program.semaphores.size() > in_.layout.semaphores) {
    *reason = fmt::format("{} needs {} semaphores, there are {}", choice.algorithm->name,
                          built.program.semaphores.size(), in_.layout.semaphores);
    return std::nullopt;
  }
  Plan plan{.built = &built, .cut = choice.cut, .binding = {}, .predicted_s = 0};
  while (true) {
    plan.binding = bind(built.program, key.count, key.elem_bytes, plan.cut);
    if (plan.binding.window_bytes <= in_.layout.slot_bytes) break;
    const bool smaller_chunk = built.program.uses_chunks && plan.cut.chunk_bytes > kSmallestChunk;
    const bool smaller_piece = built.program.uses_pieces && plan.cut.piece_bytes > kSmallestPiece;
    if (!smaller_chunk && !smaller_piece) {
      *reason =
          fmt::format("{} needs {} bytes of window for {} bytes on {} ranks, there are {}; raise UMBEL_WINDOW_BYTES",
                      choice.algorithm->name, plan.binding.window_bytes, key.count * key.elem_bytes, in_.shape.ranks(),
                      in_.layout.slot_bytes);
      return std::nullopt;
    }
    if (smaller_chunk) plan.cut.chunk_bytes /= 2;
    if (smaller_piece) plan.cut.piece_bytes /= 2;
  }
  choice.cut = plan.cut;
  plan.predicted_s = cost_of(choice, key.count * key.elem_bytes);
  return plan;
}

Plan Planner::make(const PlanKey& key) {
  const auto catalog = algos::all_reduce_catalog();
  const std::uint64_t bytes = key.count * key.elem_bytes;
  std::string reason = "no algorithm serves this shape";
  std::vector<Choice> choices;
  for (const algos::Algorithm& algorithm : catalog) {
    const bool forced = key.algorithm >= 0;
    if (forced && &algorithm != &catalog[static_cast<std::size_t>(key.algorithm)]) continue;
    std::string refusal = refuses_mode(algorithm);
    if (refusal.empty()) {
      const std::optional<Choice> choice = best_of(algorithm, bytes);
      if (choice)
        choices.push_back(*choice);
      else
        refusal = algorithm.refuses(in_.shape, {.direct = in_.direct, .channels = std::max(1, in_.channels)});
    }
    if (!refusal.empty()) reason = refusal;
  }
  std::ranges::stable_sort(choices, {}, &Choice::cost);
  for (const Choice& choice : choices) {
    std::optional<Plan> plan = realize(choice, key, &reason);
    if (!plan) continue;
    log_debug(Subsystem::plan, "{} bytes: {}, {}, chunk {}, piece {}, predicted {:.1f} us", bytes,
              choice.algorithm->name, choice.spec.direct ? "direct" : "staged", plan->cut.chunk_bytes,
              plan->cut.piece_bytes, plan->predicted_s * 1e6);
    return *plan;
  }
  throw Unsupported(reason);
}

std::string Planner::refuses(const PlanKey& key) {
  try {
    plan(key);
    return "";
  } catch (const Unsupported& error) {
    return error.what();
  }
}

}  // namespace umbel::runtime
