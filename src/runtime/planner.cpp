// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/planner.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/log.hpp"
#include "kernels/validate.hpp"

namespace umbel::runtime {
namespace {

constexpr std::size_t kPlansKept = 512;
constexpr std::uint64_t kSmallestChunk = 4096;
constexpr std::uint64_t kSmallestPiece = 4096;

/// A predicted time as plans are compared by: whole nanoseconds, as less says nothing. Every rank gets the same: a cost
/// is plain arithmetic in IEEE doubles on agreed figures (algos/cost.hpp), without contraction and without functions
/// whose last bits depend on the processor. Equal ones keep the order of the cuts in best_of.
std::int64_t comparable(double seconds) {
  constexpr double kLongest = 1e9;
  return std::llround(std::clamp(seconds, 0.0, kLongest) * 1e9);
}

/// Algorithms whose times differ by less than one part in so many are alike: the costs are no better than that, and the
/// first in the catalog is taken.
constexpr std::int64_t kAlikeParts = 50;

std::uint16_t hash_of(Collective collective, std::string_view name, const algos::Spec& spec, const Cut& cut) {
  const std::string text = fmt::format("{} {} {} {} {} {} {} {}", umbel::name_of(collective), name, spec.direct,
                                       spec.channels, spec.depth, spec.ordered, cut.piece_bytes, cut.chunk_bytes);
  const std::uint16_t folded = folded16(umbel::hash_of(text));
  return folded != 0 ? folded : std::uint16_t{1};
}

/// @param most  bytes that a cut can be of; all choices beyond come to the same, and only the first of them is tried
std::vector<std::uint64_t> choices_of(std::uint64_t wanted, std::uint64_t most,
                                      std::initializer_list<std::uint64_t> choices) {
  if (wanted != 0) return {wanted};
  std::vector<std::uint64_t> tried;
  for (std::uint64_t choice : choices)
    if (tried.empty() || tried.back() < most) tried.push_back(choice);
  return tried;
}

/// Calls of about the same size are done alike, so that a program whose sizes never repeat does not have every
/// algorithm weighed anew for each. There are eight classes to a doubling. @return the largest count of the class: what
/// fits one chunk or piece there fits one for all of the class
std::uint64_t size_class(std::uint64_t count) {
  constexpr int kBitsKept = 4;
  const int dropped = std::max(0, static_cast<int>(std::bit_width(count)) - kBitsKept);
  return count | ((std::uint64_t{1} << dropped) - 1);
}

}  // namespace

Arithmetic arithmetic_of(DType dtype, RedOp op) {
  if (op == RedOp::user) return Arithmetic::ordered;
  const bool whole = family_of(dtype) == Family::integer || dtype == DType::int32_int32 ||
                     dtype == DType::int64_int32 || dtype == DType::int16_int32;
  if (whole) return Arithmetic::exact;
  const bool rounds = op != RedOp::min && op != RedOp::max;
  return folds_in_fp32(dtype) && rounds ? Arithmetic::widened : Arithmetic::ordered;
}

const Plan& Planner::plan(const PlanKey& key) {
  const auto found = plans_.find(key);
  if (found != plans_.end()) return found->second;
  Plan made = make(key);  // before anything is dropped: it may throw
  if (plans_.size() >= kPlansKept) plans_.clear();
  return plans_.emplace(key, std::move(made)).first->second;
}

/// Why an algorithm's results may differ from one placement of the ranks to another.
std::string Planner::refuses_order(const algos::Algorithm& algorithm, const PlanKey& key) const {
  if (!key.in_order || algorithm.canonical(in_.shape, {.ordered = true, .root = key.root})) return "";
  return fmt::format(
      "{} does not fold in the canonical order, which reproducible mode and operators that do not commute need, for {} "
      "ranks placed like this",
      algorithm.name, in_.shape.ranks());
}

double Planner::cost_of(const Choice& choice, std::uint64_t bytes) const {
  return choice.algorithm->cost(
      {.shape = in_.shape, .spec = choice.spec, .model = in_.model, .bytes = bytes, .cut = choice.cut});
}

std::optional<Planner::Choice> Planner::best_of(const algos::Algorithm& algorithm, const PlanKey& key) const {
  std::optional<Choice> best;
  const std::uint64_t bytes = key.count * key.elem_bytes;
  // The longest run of shares is all of them, or a bundle of those from one node to another.
  const auto ranks = static_cast<std::uint64_t>(in_.shape.ranks()),
             node = static_cast<std::uint64_t>(in_.shape.largest_node());
  const std::uint64_t most = ranked(key.collective) ? bytes * std::max(ranks, node * node) : bytes;
  constexpr std::uint64_t kK = 1024;
  const auto chunks = choices_of(in_.chunk_bytes, most, {32 * kK, 64 * kK, 128 * kK, 256 * kK, 512 * kK});
  const auto pieces = choices_of(in_.piece_bytes, most, {128 * kK, 256 * kK, 512 * kK, 1024 * kK, 4096 * kK});
  const auto channels = choices_of(static_cast<std::uint64_t>(in_.channels), 1, {1});
  for (int direct = 0; direct <= (in_.direct ? 1 : 0); ++direct) {
    for (std::uint64_t channel_count : channels) {
      const algos::Spec spec{.direct = direct != 0,
                             .channels = static_cast<int>(channel_count),
                             .depth = 2,
                             .ordered = key.in_order,
                             .root = key.root};
      if (!algorithm.refuses(in_.shape, spec).empty()) continue;
      if (key.collective != plain(key.collective) && !algorithm.serves_unequal(spec)) continue;
      // One number after the other: an algorithm is cut by the one or by the other, seldom by both.
      Choice choice{.algorithm = &algorithm,
                    .spec = spec,
                    .cut = {.piece_bytes = pieces.front(), .chunk_bytes = chunks.front()},
                    .cost = 0};
      choice.cost = comparable(cost_of(choice, bytes));
      const auto with = [&](std::uint64_t Cut::*part, std::uint64_t size) {
        Choice other = choice;
        other.cut.*part = size;
        other.cost = comparable(cost_of(other, bytes));
        return other;
      };
      const auto try_each = [&](std::uint64_t Cut::*part, const std::vector<std::uint64_t>& sizes) {
        if (sizes.size() == 1) return;
        const Choice last = with(part, sizes.back());
        if (last.cost == choice.cost) return;  // the algorithm is not cut by it
        for (const std::uint64_t size : std::span(sizes).subspan(1)) {
          const Choice other = size == sizes.back() ? last : with(part, size);
          if (other.cost < choice.cost) choice = other;
        }
      };
      try_each(&Cut::chunk_bytes, chunks);
      try_each(&Cut::piece_bytes, pieces);
      if (!best || choice.cost < best->cost) best = choice;
    }
  }
  return best;
}

/// How many a rank has depends on its place: what fits is decided by the rank that has most, the same on all.
std::size_t Planner::most_semaphores(const algos::Algorithm& algorithm, const algos::Spec& spec) const {
  std::size_t most = 0;
  for (Rank rank = 0; rank < in_.shape.ranks(); ++rank)
    most = std::max(most, algorithm.build(rank, in_.shape, spec).semaphores.size());
  return most;
}

Built& Planner::build(const algos::Algorithm& algorithm, const algos::Spec& spec) {
  const std::string key = fmt::format("{} {} {} {} {} {} {}", umbel::name_of(algorithm.collective), algorithm.name,
                                      spec.direct, spec.channels, spec.depth, spec.ordered, spec.root);
  std::unique_ptr<Built>& slot = built_[key];
  if (!slot) {
    auto fresh = std::make_unique<Built>(
        Built{.algorithm = &algorithm, .spec = spec, .program = algorithm.build(in_.rank, in_.shape, spec)});
    kernels::validate(fresh->program);
    for (const BundleItem& item : fresh->program.bundles)
      if (item.owner >= 0 && std::ranges::find(fresh->owners, item.owner) == fresh->owners.end())
        fresh->owners.push_back(item.owner);
    fresh->most_semaphores = most_semaphores(algorithm, spec);
    slot = std::move(fresh);
  }
  return *slot;
}

std::optional<Plan> Planner::realize(Choice choice, const PlanKey& key, std::string* reason) {
  Built& built = build(*choice.algorithm, choice.spec);
  if (built.most_semaphores > in_.layout.semaphores) {
    *reason = fmt::format("{} needs {} semaphores, there are {}", choice.algorithm->name, built.most_semaphores,
                          in_.layout.semaphores);
    return std::nullopt;
  }
  Plan plan{.built = &built, .cut = choice.cut};
  while (true) {
    try {
      // Where the longest share is not known, slots have room for a chunk of any.
      const std::uint64_t longest = counted_by_pairs(key.collective)
                                        ? std::max<std::uint64_t>(1, plan.cut.chunk_bytes / key.elem_bytes)
                                        : key.count;
      plan.binding = bind(built.program, longest, key.elem_bytes, plan.cut);
    } catch (const Unsupported& error) {
      *reason = error.what();
      return std::nullopt;
    }
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
  plan.hash = hash_of(key.collective, choice.algorithm->name, choice.spec, choice.cut);
  plan.predicted_s = cost_of(choice, key.count * key.elem_bytes);
  return plan;
}

const Planner::Considered& Planner::considered(PlanKey key) {
  key.count = size_class(key.count);
  // Node-mates make equally good roots, but for the order of folds.
  if (rooted(key.collective) && !key.in_order) key.root = in_.shape.peers_of(key.root).front();
  const auto found = considered_.find(key);
  if (found != considered_.end()) return found->second;
  if (considered_.size() >= kPlansKept) considered_.clear();
  return considered_.emplace(key, consider(key)).first->second;
}

Planner::Considered Planner::consider(const PlanKey& key) const {
  const auto catalog = algos::catalog(key.collective);
  Considered all;
  for (const algos::Algorithm& algorithm : catalog) {
    const bool forced = key.algorithm >= 0;
    if (forced && &algorithm != &catalog[static_cast<std::size_t>(key.algorithm)]) continue;
    std::string refusal = refuses_order(algorithm, key);
    if (refusal.empty() && key.collective != plain(key.collective) && algorithm.unequal == algos::Unequal::never)
      refusal = fmt::format("{} serves shares of one length only", algorithm.name);
    if (refusal.empty()) {
      const std::optional<Choice> choice = best_of(algorithm, key);
      if (choice)
        all.choices.push_back(*choice);
      else
        refusal = algorithm.refuses(in_.shape,
                                    {.direct = in_.direct, .channels = std::max(1, in_.channels), .root = key.root});
    }
    if (!refusal.empty()) all.refused.emplace_back(&algorithm, std::move(refusal));
  }
  std::ranges::stable_sort(all.choices, {}, &Choice::cost);
  if (all.choices.empty()) return all;
  const auto alike = std::ranges::find_if(all.choices, [&](const Choice& choice) {
    return choice.cost - all.choices.front().cost > all.choices.front().cost / kAlikeParts;
  });
  const auto chosen = std::min_element(all.choices.begin(), alike,
                                       [](const Choice& a, const Choice& b) { return a.algorithm < b.algorithm; });
  std::rotate(all.choices.begin(), chosen, chosen + 1);
  return all;
}

Plan Planner::make(const PlanKey& key) {
  const Considered& all = considered(key);
  std::string reason = all.refused.empty()
                           ? fmt::format("no algorithm of {} serves this shape", umbel::name_of(key.collective))
                           : all.refused.back().second;
  for (Choice choice : all.choices) {
    choice.spec.root = key.root;
    std::optional<Plan> plan = realize(choice, key, &reason);
    if (!plan) continue;
    log_debug(Subsystem::plan, "{} of {} bytes: {}, {}, chunk {}, piece {}, predicted {:.1f} us",
              umbel::name_of(key.collective), key.count * key.elem_bytes, choice.algorithm->name,
              choice.spec.direct ? "direct" : "staged", plan->cut.chunk_bytes, plan->cut.piece_bytes,
              plan->predicted_s * 1e6);
    return *plan;
  }
  throw Unsupported(reason);
}

std::vector<Candidate> Planner::candidates(const PlanKey& key) {
  const Considered& all = considered(key);
  std::vector<Candidate> served, refused;
  for (Choice choice : all.choices) {
    choice.spec.root = key.root;
    Candidate candidate{.algorithm = choice.algorithm, .spec = choice.spec, .cut = choice.cut, .refused = {}};
    const std::optional<Plan> plan = realize(choice, key, &candidate.refused);
    if (plan) {
      candidate.cut = plan->cut;
      candidate.predicted_s = plan->predicted_s;
    }
    (plan ? served : refused).push_back(std::move(candidate));
  }
  for (const auto& [algorithm, reason] : all.refused) refused.push_back({.algorithm = algorithm, .refused = reason});
  served.insert(served.end(), refused.begin(), refused.end());
  return served;
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
