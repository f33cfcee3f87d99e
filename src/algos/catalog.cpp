// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include <algorithm>
#include <array>

#include "algos/algorithm.hpp"
#include "algos/all_reduce/all_reduce.hpp"

namespace umbel::algos {

std::span<const Algorithm> all_reduce_catalog() {
  // Of two with the same predicted time the planner takes the first.
  static const auto catalog = std::to_array<Algorithm>({
      all_reduce::one_shot(),
      all_reduce::two_shot(),
      all_reduce::hierarchical_leader(),
      all_reduce::hierarchical_ring(),
      all_reduce::hierarchical_tree(),
      all_reduce::hierarchical_hd(),
      all_reduce::ring(),
      all_reduce::recursive_doubling(),
      all_reduce::halving_doubling(),
      all_reduce::double_tree(),
      all_reduce::reduce_broadcast(),
      all_reduce::central(),
  });
  return catalog;
}

const Algorithm* find_all_reduce(std::string_view name) {
  const auto catalog = all_reduce_catalog();
  const auto found = std::ranges::find(catalog, name, &Algorithm::name);
  return found == catalog.end() ? nullptr : &*found;
}

}  // namespace umbel::algos
