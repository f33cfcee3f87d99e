// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/check/campaign.hpp"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

namespace umbel::algos::check {
namespace {

constexpr int kMutantRanks[] = {2, 3, 5, 8};
/// Numbers of ranks of a quick campaign beyond the small ones: around powers of two, odd, and the largest.
constexpr int kSampledRanks[] = {17, 24, 31, 32, 33, 47, 63, 64};

/// What a spec may be: all that the runtime plans with (depth 2, up to as many channels as UMBEL_CHANNELS may say), and
/// other depths. The first two are what runs by default.
constexpr Spec kSpecs[] = {{.direct = false, .channels = 1, .depth = 2},
                           {.direct = true, .channels = 1, .depth = 2},
                           {.direct = false, .channels = 1, .depth = 2, .ordered = true},
                           {.direct = false, .channels = 2, .depth = 2},
                           {.direct = true, .channels = 4, .depth = 2},
                           {.direct = true, .channels = 1, .depth = 2, .ordered = true},
                           {.direct = false, .channels = 3, .depth = 2},
                           {.direct = true, .channels = 3, .depth = 1},
                           {.direct = true, .channels = 2, .depth = 2, .ordered = true},
                           {.direct = false, .channels = 4, .depth = 2},
                           {.direct = true, .channels = 3, .depth = 2},
                           {.direct = false, .channels = 2, .depth = 3}};
/// For each shape of few ranks when not all are wanted: a rotation, so that each algorithm meets every spec.
constexpr std::size_t kQuickSpecs = 3, kUsualSpecs = 4, kSomeSpecs = 3;

class Planner {
 public:
  Planner(std::span<const Algorithm> catalog, const CampaignOptions& options) : catalog_(catalog), options_(options) {}

  std::vector<Task> tasks() {
    for (int ranks = 1; ranks <= options_.max_ranks; ++ranks) {
      if (options_.proofs) proofs(ranks, shapes_of(ranks));
      if (options_.proofs && ranks >= 2 && ranks <= 9) sequences(ranks, shapes_of(ranks));
    }
    if (options_.mutants)
      for (const int ranks : kMutantRanks)
        if (ranks <= options_.max_ranks) mutants(ranks);
    return std::move(tasks_);
  }

 private:
  bool quick() const { return options_.thoroughness == Thoroughness::quick; }
  bool full() const { return options_.thoroughness == Thoroughness::full; }

  void add(const Task& task) {
    if (options_.collective && task.algorithm->collective != *options_.collective) return;
    if (!options_.algorithm.empty() && task.algorithm->name != options_.algorithm) return;
    if (!task.algorithm->refuses(task.shape, task.spec).empty()) return;
    if (task.partner != nullptr && !task.partner->refuses(task.shape, task.partner_spec).empty()) return;
    tasks_.push_back(task);
  }

  void proofs(int ranks, const std::vector<NamedShape>& shapes) {
    constexpr int kFew = 8;
    const int some_ranks = full() || quick() ? 16 : 12;
    if (quick() && ranks > some_ranks && std::ranges::find(kSampledRanks, ranks) == std::end(kSampledRanks)) return;
    const Effort effort = !quick() && ranks <= (full() ? some_ranks : kFew) ? Effort::full : Effort::quick;
    // With few ranks all shapes and specs; then a rotation, so that each algorithm still meets all of them.
    const bool all_shapes = ranks <= (quick() ? kFew : some_ranks);
    const bool all_specs = ranks <= (full() ? some_ranks : kFew);
    const std::size_t some = full() ? 8 : ranks <= some_ranks ? 4 : quick() ? 2 : 1;
    for (std::size_t a = 0; a < catalog_.size(); ++a) {
      const std::vector<const NamedShape*> served = served_by(catalog_[a], shapes);
      const std::size_t turn = a + static_cast<std::size_t>(ranks);
      // With many roots the specs take turns over them.
      const bool many_roots = rooted(catalog_[a].collective) && ranks > kFew;
      const std::size_t specs = !all_specs || many_roots ? full() ? kSomeSpecs : 1
                                : full()                 ? std::size(kSpecs)
                                : quick()                ? kQuickSpecs
                                                         : kUsualSpecs;
      const std::size_t count = all_shapes ? served.size() : std::min(some, served.size());
      for (std::size_t k = 0; k < count; ++k) {
        const Shape& shape = served[(turn * some + k) % served.size()]->shape;
        for (std::size_t s = 0; s < specs; ++s) {
          for (const Rank root : roots(catalog_[a], ranks, turn + k + s)) {
            const std::size_t by_root = many_roots ? static_cast<std::size_t>(root) * specs : 0;
            Spec spec = kSpecs[(turn + k + s + by_root) % std::size(kSpecs)];
            spec.root = root;
            add({.algorithm = &catalog_[a], .shape = shape, .spec = spec, .effort = effort});
          }
        }
      }
    }
  }

  /// Shapes that the algorithm serves, whatever the spec.
  static std::vector<const NamedShape*> served_by(const Algorithm& algorithm, const std::vector<NamedShape>& shapes) {
    std::vector<const NamedShape*> served;
    for (const NamedShape& named : shapes) {
      const auto serves = [&](const Spec& spec) { return algorithm.refuses(named.shape, spec).empty(); };
      if (std::ranges::all_of(kSpecs, serves)) served.push_back(&named);
    }
    return served;
  }

  /// Every root of few ranks; else the first, the last and one by turns.
  std::vector<Rank> roots(const Algorithm& algorithm, int ranks, std::size_t turn) const {
    if (!rooted(algorithm.collective)) return {0};
    const int all = full() ? 16 : quick() ? 3 : 4;
    if (ranks <= all) return ranks_below(ranks);
    const auto some = static_cast<Rank>((turn * 7 + 1) % static_cast<std::size_t>(ranks));
    if (!full()) return {some};
    return some == 0 || some == ranks - 1 ? std::vector<Rank>{0, ranks - 1} : std::vector<Rank>{0, some, ranks - 1};
  }

  static std::vector<Rank> ranks_below(int ranks) {
    std::vector<Rank> out;
    for (Rank rank = 0; rank < ranks; ++rank) out.push_back(rank);
    return out;
  }

  /// What of a spec may differ between two calls of a run: by turns nothing, `direct`, `ordered`, and both.
  static Spec alternated(Spec spec, std::size_t turn) {
    spec.direct = spec.direct != (turn % 2 == 1);
    spec.ordered = spec.ordered != (turn / 2 % 2 == 1);
    return spec;
  }

  /// Each algorithm with itself and its neighbour in the catalog, or with itself and all others.
  void sequences(int ranks, const std::vector<NamedShape>& shapes) {
    const std::size_t partners = quick() ? 1 : catalog_.size() - 1;
    for (std::size_t a = 0; a < catalog_.size(); ++a) {
      for (std::size_t d = 0; d <= partners && d < catalog_.size(); ++d) {
        const auto p = static_cast<std::size_t>(ranks);
        const std::size_t turn = a * 5 + d * 3 + p;
        Spec spec = kSpecs[turn % std::size(kSpecs)];
        const Algorithm& partner = catalog_[(a + d) % catalog_.size()];
        Spec partner_spec = alternated(spec, d == 0 ? 1 + p % 3 : d + p);
        spec.root = roots(catalog_[a], ranks, turn).back();
        partner_spec.root = roots(partner, ranks, turn + 1).front();
        // Turns so that each kind of difference meets each spec. One program after itself is what all other proofs
        // show.
        add({.algorithm = &catalog_[a],
             .partner = &partner,
             .shape = shapes[turn % shapes.size()].shape,
             .spec = spec,
             .partner_spec = partner_spec});
      }
    }
  }

  /// Whether there are more instructions than for folds from left to right.
  static bool order_shows(const Algorithm& algorithm, const Shape& shape, const Spec& spec) {
    if (!algorithm.refuses(shape, spec).empty()) return false;
    Spec plain = spec;
    plain.ordered = false;
    return algorithm.build(0, shape, spec).instrs.size() != algorithm.build(0, shape, plain).instrs.size();
  }

  void mutants(int ranks) {
    if (quick() && ranks > 3) return;
    const auto wanted = [&](const NamedShape& s) {
      return full() || s.name == "one node" || s.name == "two nodes" || s.name == "uneven" || s.name == "three levels";
    };
    for (const NamedShape& named : shapes_of(ranks)) {
      if (!wanted(named)) continue;
      for (const Algorithm& algorithm : catalog_) {
        for (Spec spec : {kSpecs[0], kSpecs[1], kSpecs[2]}) {
          spec.root = roots(algorithm, ranks, static_cast<std::size_t>(ranks)).back();
          if (!spec.ordered || order_shows(algorithm, named.shape, spec))
            add({.algorithm = &algorithm, .shape = named.shape, .spec = spec, .mutant_stride = 1});
        }
      }
    }
  }

  std::span<const Algorithm> catalog_;
  const CampaignOptions& options_;
  std::vector<Task> tasks_;
};

}  // namespace

std::string full_name(const Algorithm& algorithm) {
  return fmt::format("{} {}", umbel::name_of(algorithm.collective), algorithm.name);
}

std::vector<Task> tasks_of(std::span<const Algorithm> catalog, const CampaignOptions& options) {
  return Planner(catalog, options).tasks();
}

Outcome perform(const Task& task) {
  Outcome outcome;
  if (task.mutant_stride > 0)
    outcome.mutants = mutate(*task.algorithm, task.shape, task.spec, task.mutant_stride);
  else if (task.partner != nullptr)
    outcome.proof = prove_sequence({*task.algorithm, task.spec}, {*task.partner, task.partner_spec}, task.shape);
  else
    outcome.proof = prove(*task.algorithm, task.shape, task.spec, task.effort);
  return outcome;
}

void Outcome::add(const Outcome& other) {
  proof.add(other.proof);
  mutants.add(other.mutants);
}

std::uint64_t missed(const MutationTally& tally) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(tally.survivors, [](const Survivor& s) { return s.justification.empty(); }));
}

bool Campaign::passed() const {
  // Nothing is missed; and what is excused as equivalent stays the exception.
  constexpr std::uint64_t kMostEquivalent = 5;  // in 100
  return !all.proof.finding && missed(all.mutants) == 0 &&
         all.mutants.equivalent * 100 <= all.mutants.total * kMostEquivalent;
}

Campaign summarize(std::span<const Task> tasks, std::span<const Outcome> outcomes) {
  Campaign campaign;
  std::unordered_set<std::uint64_t> shapes;
  for (std::size_t n = 0; n < tasks.size(); ++n) {
    const std::string name = full_name(*tasks[n].algorithm);
    campaign.by_algorithm[name].add(outcomes[n]);
    if (tasks[n].mutant_stride == 0) {
      Coverage& covered = campaign.coverage[name];
      covered.ranks.insert(tasks[n].shape.ranks());
      covered.shapes.insert(tasks[n].shape.hash());
      if (rooted(tasks[n].algorithm->collective)) covered.roots.insert(tasks[n].spec.root);
    }
    campaign.all.add(outcomes[n]);
    shapes.insert(tasks[n].shape.hash());
  }
  campaign.shapes = shapes.size();
  return campaign;
}

std::string summary_line(const Campaign& campaign) {
  const Proof& proof = campaign.all.proof;
  const MutationTally& mutants = campaign.all.mutants;
  if (proof.finding) return fmt::format("NOT proved: {}", proof.finding->text);
  return fmt::format(
      "{}: {} algorithm{}, {} programs on {} shapes, {} instructions, {} element results; mutants killed {} of {}{}{}",
      campaign.passed() ? "proved" : "NOT proved", campaign.by_algorithm.size(),
      campaign.by_algorithm.size() == 1 ? "" : "s", proof.programs, campaign.shapes, proof.instructions, proof.elements,
      mutants.killed, mutants.total, mutants.equivalent > 0 ? fmt::format(", {} equivalent", mutants.equivalent) : "",
      missed(mutants) > 0 ? fmt::format(", {} MISSED", missed(mutants)) : "");
}

}  // namespace umbel::algos::check
