// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/simulate/simulate.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "algos/simulate/machine.hpp"
#include "base/error.hpp"

namespace umbel::algos::simulate {

Outcome run(std::span<const Program> programs, const Binding& binding, const Shape& shape, const Cluster& cluster,
            const Limits& limits) {
  Outcome refused;
  refused.refused = complaint(cluster);
  if (!refused.refused.empty()) return refused;
  try {
    return Machine(programs, binding, shape, cluster, limits).run();
  } catch (Refusal& refusal) {
    refused.refused = std::move(refusal.reason);
    return refused;
  }
}

Outcome run(const Algorithm& algorithm, const Shape& shape, const Spec& spec, std::uint64_t count,
            std::size_t elem_bytes, const Cut& cut, const Cluster& cluster, const Limits& limits) {
  Outcome refused;
  refused.refused = algorithm.refuses(shape, spec);
  if (!refused.refused.empty()) return refused;
  std::vector<Program> programs;
  std::uint64_t instructions = 0;
  for (Rank rank = 0; rank < shape.ranks(); ++rank) {
    programs.push_back(algorithm.build(rank, shape, spec));
    instructions += programs.back().instrs.size();
    if (instructions <= limits.instructions) continue;
    refused.refused = fmt::format("the programs have more than {} instructions", limits.instructions);
    return refused;
  }
  try {
    return run(programs, bind(programs.front(), count, elem_bytes, cut), shape, cluster, limits);
  } catch (const Unsupported& error) {
    refused.refused = error.what();
    return refused;
  }
}

}  // namespace umbel::algos::simulate
