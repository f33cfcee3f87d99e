// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/forced.hpp"

#include <string>

#include <fmt/format.h>

#include "algos/algorithm.hpp"
#include "base/error.hpp"

namespace umbel::runtime {
namespace {

bool automatic(std::string_view name) { return name.empty() || name == "auto"; }

std::int32_t place_in(Collective collective, std::string_view name) {
  const auto catalog = algos::catalog(collective);
  for (std::size_t n = 0; n < catalog.size(); ++n)
    if (catalog[n].name == name) return static_cast<std::int32_t>(n);
  return -1;
}

std::string names_of(Collective collective) {
  std::string names = "auto";
  for (const algos::Algorithm& algorithm : algos::catalog(collective)) names += fmt::format(", {}", algorithm.name);
  return names;
}

[[noreturn]] void unknown(std::string_view name, const std::string& known) {
  throw InvalidArgument(fmt::format(
      "there is no algorithm \"{}\" (UMBEL_ALGORITHM, or what the program sets); there are {}", name, known));
}

}  // namespace

ForcedAlgorithms::ForcedAlgorithms(std::string_view text) {
  index_.fill(-1);
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    take(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
  }
}

void ForcedAlgorithms::take(std::string_view choice) {
  const std::size_t colon = choice.find(':');
  if (colon != std::string_view::npos) {
    const std::optional<Collective> collective = parse_collective(choice.substr(0, colon));
    if (!collective) unknown(choice, "those of the form COLLECTIVE:NAME, such as all_reduce:ring");
    index_[static_cast<std::size_t>(plain(*collective))] = algorithm_index(*collective, choice.substr(colon + 1));
    return;
  }
  if (automatic(choice)) return;
  bool found = false;
  std::string known;
  for (const Collective collective : all_collectives()) {
    if (plain(collective) != collective) continue;
    const std::int32_t place = place_in(collective, choice);
    if (place >= 0) index_[static_cast<std::size_t>(collective)] = place;
    found |= place >= 0;
    known += fmt::format("{}for {}: {}", known.empty() ? "" : "; ", name_of(collective), names_of(collective));
  }
  if (!found) unknown(choice, known);
}

std::int32_t algorithm_index(Collective collective, std::string_view name) {
  if (automatic(name)) return -1;
  const std::int32_t place = place_in(collective, name);
  if (place < 0) unknown(name, fmt::format("for {}: {}", name_of(collective), names_of(collective)));
  return place;
}

}  // namespace umbel::runtime
