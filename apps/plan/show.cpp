// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "algos/algorithm.hpp"
#include "base/error.hpp"
#include "plan.hpp"
#include "runtime/placement.hpp"

namespace umbel::plan {

const algos::Algorithm& algorithm_named(std::string_view name) {
  if (const algos::Algorithm* found = algos::find_all_reduce(name)) return *found;
  std::vector<std::string_view> names;
  for (const algos::Algorithm& known : algos::all_reduce_catalog()) names.push_back(known.name);
  throw InvalidArgument(fmt::format("there is no algorithm '{}'; there are {}", name, fmt::join(names, ", ")));
}

int show(const ShowOptions& options) {
  const algos::Algorithm& algorithm = algorithm_named(options.algorithm);
  if (options.rank < -1 || options.rank >= options.ranks)
    throw InvalidArgument(fmt::format("rank {} is not one of {} ranks", options.rank, options.ranks));
  const Shape shape = options.nodes.empty() ? Shape::one_node(options.ranks)
                                            : Shape::from_paths(runtime::parse_placement(options.nodes, options.ranks));
  const algos::Spec spec{.direct = options.direct, .channels = options.channels, .depth = options.depth};
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
