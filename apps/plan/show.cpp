// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "algos/algorithm.hpp"
#include "base/error.hpp"
#include "placed.hpp"
#include "plan.hpp"

namespace umbel::plan {

std::optional<Collective> collective_named(std::string_view name) {
  if (name.empty()) return std::nullopt;
  const std::optional<Collective> found = parse_collective(name);
  if (found) return plain(*found);
  std::vector<std::string_view> names;
  for (const Collective known : all_collectives())
    if (plain(known) == known) names.push_back(name_of(known));
  throw InvalidArgument(fmt::format("there is no collective '{}'; there are {}", name, fmt::join(names, ", ")));
}

std::vector<const algos::Algorithm*> algorithms_named(std::optional<Collective> collective, std::string_view name) {
  std::vector<const algos::Algorithm*> found;
  std::vector<std::string> names;
  for (const algos::Algorithm& known : algos::catalog()) {
    if (collective && known.collective != *collective) continue;
    names.push_back(fmt::format("{} {}", name_of(known.collective), known.name));
    if (known.name == name) found.push_back(&known);
  }
  if (found.empty())
    throw InvalidArgument(fmt::format("there is no algorithm '{}'; there are {}", name, fmt::join(names, ", ")));
  return found;
}

int show(const ShowOptions& options) {
  const algos::Algorithm& algorithm =
      *algorithms_named(collective_named(options.collective), options.algorithm).front();
  if (options.rank < -1 || options.rank >= options.ranks)
    throw InvalidArgument(fmt::format("rank {} is not one of {} ranks", options.rank, options.ranks));
  const Shape shape = shape_of(options.ranks, options.nodes);
  if (options.root < 0 || options.root >= options.ranks)
    throw InvalidArgument(fmt::format("root {} is not one of {} ranks", options.root, options.ranks));
  const algos::Spec spec{.direct = options.direct,
                         .channels = options.channels,
                         .depth = options.depth,
                         .root = rooted(algorithm.collective) ? options.root : 0};
  if (const std::string reason = algorithm.refuses(shape, spec); !reason.empty()) {
    fmt::print("{} does not serve this: {}\n", algorithm.name, reason);
    return kGood;
  }
  fmt::print("{}: {}\nsteps {}, bytes sent by the busiest rank {}\n", algorithm.name, algorithm.summary,
             algorithm.steps, algorithm.sent);
  for (Rank rank = 0; rank < options.ranks; ++rank)
    if (options.rank < 0 || options.rank == rank) fmt::print("{}", to_text(algorithm.build(rank, shape, spec)));
  return kGood;
}

}  // namespace umbel::plan
