// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/check/prove.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "algos/check/sizes.hpp"

namespace umbel::algos::check {
namespace {

/// Which ranks call in-place, by turns: none, all, every other one, and two mixtures.
constexpr std::uint64_t kMasks[] = {0, ~std::uint64_t{0}, 0x5555555555555555ULL, 0xB2D1C3A5E6964B8FULL,
                                    0xAAAAAAAAAAAAAAAAULL};

Operation operation(std::span<const Program> programs, const Size& size, std::uint64_t in_place) {
  return {.programs = programs,
          .count = size.count,
          .piece = size.piece,
          .chunk = size.chunk,
          .granule = size.granule,
          .in_place = in_place};
}

void account(Proof& proof, const Report& report, std::string_view what) {
  ++proof.runs;
  proof.instructions += report.instructions;
  proof.elements += report.elements;
  proof.canonical = proof.canonical && report.canonical;
  if (report.finding && !proof.finding) {
    proof.finding = report.finding;
    if (!report.finding->text.empty())
      proof.finding->text = fmt::format("{}: {}\n  in {}", name_of(report.finding->fault), report.finding->text, what);
  }
}

/// Three operations of the same programs, each with its own size and in-place ranks.
void prove_three(Proof& proof, const Setting& setting, std::span<const Program> programs, std::span<const Size> sizes,
                 std::size_t turn) {
  std::vector<Operation> sequence;
  std::string what;
  for (std::size_t n = 0; n < sizes.size(); ++n) {
    const std::uint64_t mask = kMasks[(turn + n) % std::size(kMasks)];
    sequence.push_back(operation(programs, sizes[n], mask));
    if (setting.explain)
      what += fmt::format("{}operation {}: {}, in-place ranks {:#x}", n == 0 ? "" : "; ", n, text_of(sizes[n]), mask);
  }
  account(proof, run(setting, sequence), what);
}

/// Lengths of the shares of a v-form, up to `longest`, many of them 0: an arbitrary but fixed choice.
std::vector<std::uint64_t> unequal_shares(const Program& program, std::uint64_t longest, std::uint64_t seed) {
  const auto ranks = static_cast<std::size_t>(program.ranks);
  std::vector<std::uint64_t> shares(program.collective == Collective::all_to_all ? ranks * ranks : ranks);
  for (std::uint64_t& share : shares) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    const std::uint64_t bits = seed >> 33U;
    share = bits % 3 == 0 ? 0 : bits / 3 % (longest + 1);
  }
  shares[static_cast<std::size_t>(seed >> 40U) % shares.size()] = longest;
  return shares;
}

/// Three operations of a v-form in a row, with shares of other lengths each time: several chunks, one, and hardly any.
void prove_unequal(Proof& proof, const Setting& setting, std::span<const Program> programs, int depth,
                   std::uint64_t seed) {
  const Program& program = programs.front();
  const Size sizes[] = {size_of(program, 1, static_cast<unsigned>(depth) + 2, 1),
                        size_of(program, 1, 1, 0),
                        {.count = 1, .piece = 0, .chunk = size_of(program, 1, 1, 0).chunk}};
  std::vector<std::vector<std::uint64_t>> shares;
  std::vector<Operation> sequence;
  std::string what = "shares of different lengths";
  for (std::size_t n = 0; n < std::size(sizes); ++n) {
    shares.push_back(unequal_shares(program, sizes[n].count, seed + n));
    sequence.push_back(operation(programs, sizes[n], kMasks[(seed + n) % std::size(kMasks)]));
    // Where only pairs agree on a length, slots have room for one chunk of any.
    if (program.collective != Collective::all_gather && program.collective != Collective::reduce_scatter)
      sequence.back().count = std::max(sizes[n].chunk, std::uint64_t{1});
    if (setting.explain) what += fmt::format("; operation {}: {}", n, fmt::join(shares.back(), ", "));
  }
  for (std::size_t n = 0; n < sequence.size(); ++n) sequence[n].shares = shares[n];
  account(proof, run(setting, sequence), what);
}

void prove_formula(Proof& proof, const Setting& setting, std::span<const Program> programs, const Traffic& traffic) {
  const Size size = formula_size(programs.front());
  const Operation once = operation(programs, size, 0);
  const Report report = run(setting, std::span(&once, 1));
  account(proof, report, "the run that counts steps and bytes");
  if (proof.finding) return;
  const double sent = size.count == 0 ? 0 : static_cast<double>(report.sent) / static_cast<double>(size.count);
  if (report.steps == traffic.steps && std::abs(sent - traffic.sent) < 1e-9) return;
  proof.finding =
      Finding{Fault::formula, fmt::format("formula: {} steps and {} n sent by the busiest rank are documented, "
                                          "{} steps and {} n are counted",
                                          traffic.steps, traffic.sent, report.steps, sent)};
}

std::string spec_text(const Spec& spec) {
  return fmt::format("{}, {} channel{}, depth {}{}{}", spec.direct ? "direct" : "staged", spec.channels,
                     spec.channels == 1 ? "" : "s", spec.depth, spec.ordered ? ", ordered" : "",
                     spec.root != 0 ? fmt::format(", root {}", spec.root) : "");
}

std::string title(const Algorithm& algorithm, const Shape& shape, const Spec& spec) {
  return fmt::format("{} {} on {} ranks ({}), {}", name_of(algorithm.collective), algorithm.name, shape.ranks(),
                     text_of(shape), spec_text(spec));
}

}  // namespace

void Proof::add(const Proof& other) {
  if (!finding) finding = other.finding;
  programs += other.programs;
  runs += other.runs;
  instructions += other.instructions;
  elements += other.elements;
  canonical = canonical && other.canonical;
}

std::vector<Program> build_all(const Algorithm& algorithm, const Shape& shape, const Spec& spec) {
  std::vector<Program> programs;
  programs.reserve(static_cast<std::size_t>(shape.ranks()));
  for (Rank rank = 0; rank < shape.ranks(); ++rank) programs.push_back(algorithm.build(rank, shape, spec));
  return programs;
}

Proof prove_programs(const Setting& setting, std::span<const Program> programs, int depth, Effort effort,
                     const Traffic* traffic) {
  Proof proof;
  proof.programs = programs.size();
  proof.finding = inspect(setting, programs);
  if (proof.finding) return proof;
  std::vector<Size> sizes = sizes_of(programs, depth, effort);
  while (sizes.size() % 3 != 0) sizes.push_back(sizes[sizes.size() % 3]);
  for (std::size_t n = 0; n < sizes.size() && !proof.finding; n += 3)
    prove_three(proof, setting, programs, std::span(sizes).subspan(n, 3), n);
  if (effort == Effort::full) {
    // The same size three times, so that each bank is laid out alike, under every mask.
    const Size main[] = {sizes.front(), sizes.front(), sizes.front()};
    for (std::size_t turn = 0; turn < std::size(kMasks) && !proof.finding; ++turn)
      prove_three(proof, setting, programs, main, turn);
  }
  if (traffic != nullptr && !proof.finding) prove_formula(proof, setting, programs, *traffic);
  return proof;
}

Proof prove(const Algorithm& algorithm, const Shape& shape, const Spec& spec, Effort effort) {
  const std::vector<Program> programs = build_all(algorithm, shape, spec);
  const Traffic traffic = algorithm.traffic(shape, spec);
  const Setting setting{.shape = shape, .direct = spec.direct};
  Proof proof = prove_programs(setting, programs, spec.depth, effort, &traffic);
  constexpr int kMostUnequal = 16;  // ranks: an all-to-all's lengths are a table of all pairs
  if (!proof.finding && algorithm.serves_unequal(spec) && shape.ranks() <= kMostUnequal)
    for (const std::uint64_t seed : {1U, 2U, 3U})
      if (!proof.finding) prove_unequal(proof, setting, programs, spec.depth, seed + shape.hash());
  if (!proof.finding && proof.canonical != algorithm.canonical(shape, spec))
    proof.finding =
        Finding{Fault::canonical, fmt::format("canonical: the results {} the canonical tree over the ranks",
                                              proof.canonical ? "are, unsaid," : "are not, but should be,")};
  if (proof.finding) proof.finding->text = title(algorithm, shape, spec) + ":\n  " + proof.finding->text;
  return proof;
}

Proof prove_sequence(const Choice& first, const Choice& second, const Shape& shape) {
  Proof proof;
  const std::vector<Program> p = build_all(first.algorithm, shape, first.spec);
  const std::vector<Program> q = build_all(second.algorithm, shape, second.spec);
  const Size size_p = size_of(p.front(), 2, static_cast<unsigned>(first.spec.depth) + 1, 1);
  const Size size_q = size_of(q.front(), 2, 2, 1);
  const Operation sequence[] = {operation(p, size_p, kMasks[3]), operation(q, size_q, kMasks[2]),
                                operation(p, size_p, kMasks[4]), operation(q, size_q, kMasks[0])};
  proof.programs = p.size() + q.size();
  account(proof, run({.shape = shape, .direct = first.spec.direct || second.spec.direct}, sequence),
          "the sequence P;Q;P;Q");
  proof.canonical = true;  // says nothing about one algorithm
  if (proof.finding)
    proof.finding->text =
        fmt::format("{}, with {}, {}:\n  {}", title(first.algorithm, shape, first.spec),
                    std::string(name_of(second.algorithm.collective)) + " " + std::string(second.algorithm.name),
                    spec_text(second.spec), proof.finding->text);
  return proof;
}

}  // namespace umbel::algos::check
