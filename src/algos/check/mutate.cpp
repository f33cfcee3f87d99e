// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/check/mutate.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "algos/check/mutants.hpp"
#include "algos/check/sizes.hpp"

namespace umbel::algos::check {
namespace {

constexpr int kFewRanks = 8;

/// Tries mutants of one algorithm on one shape.
class Trial {
 public:
  Trial(const Algorithm& algorithm, const Shape& shape, const Spec& spec)
      : name_(fmt::format("{} {}", umbel::name_of(algorithm.collective), algorithm.name)),
        shape_(shape),
        spec_(spec),
        programs_(build_all(algorithm, shape, spec)),
        traffic_(algorithm.traffic(shape, spec)),
        trips_(std::max(2 * static_cast<unsigned>(spec.depth) + 1, most_credits(programs_) + 2)),
        setting_{.shape = shape, .direct = spec.direct, .explain = false} {}

  MutationTally run(unsigned stride) {
    MutationTally tally;
    unsigned turn = 0;
    for (Rank rank = 0; rank < shape_.ranks(); ++rank) {
      // A copy: the mutants of a rank are made from its right program while its place holds a wrong one.
      const Program right = programs_[static_cast<std::size_t>(rank)];
      for_each_mutant(right, shape_, [&](const Mutant& mutant) {
        if (turn++ % stride != 0) return;
        programs_[static_cast<std::size_t>(rank)] = mutant.program;
        judge(right, mutant, tally);
        programs_[static_cast<std::size_t>(rank)] = right;
      });
    }
    return tally;
  }

 private:
  void judge(const Program& right, const Mutant& mutant, MutationTally& tally) {
    ++tally.total;
    if (objects()) {
      ++tally.killed;
      return;
    }
    Survivor survivor{
        .text = fmt::format("{} on {} ranks ({}), {}: rank {}, lane {}, instruction {} \"{}\": {}", name_,
                            shape_.ranks(), text_of(shape_), spec_.direct ? "direct" : "staged", right.rank,
                            mutant.lane, mutant.pc, to_text(right, right.instrs[mutant.pc]), mutant.text),
        .justification = {}};
    if (mutant.timing && right_at_any_pace(right.rank))
      survivor.justification = "not needed: with this rank as far ahead or behind as it can get all values are right";
    if (!mutant.timing && behaves_alike(right))
      survivor.justification = "does exactly what the original does, for every size tried";
    if (!survivor.justification.empty()) ++tally.equivalent;
    tally.survivors.push_back(std::move(survivor));
  }

  /// Whether the checker finds the present programs wrong: by the quick proof, else by every small size.
  bool objects() {
    if (prove_programs(setting_, programs_, spec_.depth, Effort::quick, &traffic_).finding) return true;
    for (const Operation& op : small_operations())
      if (check::run(setting_, std::span(&op, 1)).finding) return true;
    return prove_programs(setting_, programs_, spec_.depth, Effort::full, &traffic_).finding.has_value();
  }

  /// Whether values come out right with the rank, or those it deals with, as early and as late as they can be. No clock
  /// is asked: it is the values that would show a slot overwritten too early.
  bool right_at_any_pace(Rank changed) {
    for (Rank rank = 0; rank < shape_.ranks(); ++rank) {
      for (const bool early : {true, false}) {
        Setting setting = setting_;
        (early ? setting.ahead : setting.behind) = rank;
        if (rank != changed && shape_.ranks() > kFewRanks) continue;
        if (prove_programs(setting, programs_, spec_.depth, Effort::quick, nullptr).finding) return false;
        for (const Operation& op : small_operations())
          if (check::run(setting, std::span(&op, 1)).finding) return false;
      }
    }
    return true;
  }

  /// Whether the mutant accesses, sends, signals and waits as the original does, in every run.
  bool behaves_alike(const Program& right) {
    std::vector<std::uint64_t> wrong_runs, right_runs;
    Program& place = programs_[static_cast<std::size_t>(right.rank)];
    for (const Operation& op : small_operations())
      wrong_runs.push_back(check::run(setting_, std::span(&op, 1)).behaviour);
    const Program wrong = std::exchange(place, right);
    for (const Operation& op : small_operations())
      right_runs.push_back(check::run(setting_, std::span(&op, 1)).behaviour);
    place = wrong;
    return wrong_runs == right_runs;
  }

  /// Single calls of every count up to a few elements a block, with one and with several pieces and chunks.
  std::vector<Operation> small_operations() const {
    std::vector<Operation> out;
    const Program& first = programs_.front();
    const auto blocks = static_cast<std::uint64_t>(first.shares > 0 ? first.shares : first.blocks);
    for (const unsigned k : {1U, trips_}) {
      const Size size = size_of(first, k, k, 0);
      const std::uint64_t from = k == 1 ? 0 : size.count - std::min(size.count, 2 * blocks);
      for (std::uint64_t count = from; count <= size.count; ++count) {
        Operation op{
            .programs = programs_, .count = count, .piece = size.piece, .chunk = size.chunk, .in_place = count};
        out.push_back(op);
        op.in_place = ~count;  // of so few counts some bits never change: each rank in its own place, and apart
        if (k != 1) out.push_back(op);
      }
    }
    return out;
  }

  std::string name_;
  const Shape& shape_;
  Spec spec_;
  std::vector<Program> programs_;
  Traffic traffic_;
  unsigned trips_;  // more than any stream is deep
  Setting setting_;
};

}  // namespace

void MutationTally::add(const MutationTally& other) {
  killed += other.killed;
  equivalent += other.equivalent;
  total += other.total;
  survivors.insert(survivors.end(), other.survivors.begin(), other.survivors.end());
}

MutationTally mutate(const Algorithm& algorithm, const Shape& shape, const Spec& spec, unsigned stride) {
  return Trial(algorithm, shape, spec).run(stride);
}

}  // namespace umbel::algos::check
