// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include <algorithm>
#include <array>
#include <vector>

#include "algos/algorithm.hpp"
#include "algos/all_reduce/all_reduce.hpp"
#include "algos/all_to_all/all_to_all.hpp"
#include "algos/gather/gather.hpp"
#include "algos/scatter/scatter.hpp"

namespace umbel::algos {

namespace {

// Of two with the same predicted time the planner takes the first.

std::span<const Algorithm> all_reduce_catalog() {
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

std::span<const Algorithm> all_to_all_catalog() {
  static const auto catalog = std::to_array<Algorithm>({
      all_to_all::direct(),
      all_to_all::pairwise(),
      all_to_all::hierarchical_rails(),
      all_to_all::hierarchical(),
      all_to_all::bruck(),
  });
  return catalog;
}

std::span<const Algorithm> gather_catalog() {
  static const auto catalog = std::to_array<Algorithm>({
      gather::direct(),
      gather::hierarchical(),
      gather::linear(),
      gather::binomial(),
  });
  return catalog;
}

std::span<const Algorithm> scatter_catalog() {
  static const auto catalog = std::to_array<Algorithm>({
      scatter::direct(),
      scatter::hierarchical(),
      scatter::linear(),
      scatter::binomial(),
  });
  return catalog;
}

}  // namespace

std::span<const Algorithm> catalog(Collective collective) {
  switch (plain(collective)) {
    case Collective::all_reduce:
      return all_reduce_catalog();
    case Collective::all_to_all:
      return all_to_all_catalog();
    case Collective::gather:
      return gather_catalog();
    case Collective::scatter:
      return scatter_catalog();
    default:
      return {};
  }
}

std::span<const Algorithm> catalog() {
  static const std::vector<Algorithm> all = [] {
    std::vector<Algorithm> list;
    for (const Collective collective : all_collectives())
      if (plain(collective) == collective)
        for (const Algorithm& algorithm : catalog(collective)) list.push_back(algorithm);
    return list;
  }();
  return all;
}

const Algorithm* find(Collective collective, std::string_view name) {
  const auto all = catalog(collective);
  const auto found = std::ranges::find(all, name, &Algorithm::name);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace umbel::algos
