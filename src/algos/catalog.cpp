// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include <algorithm>
#include <array>
#include <vector>

#include "algos/algorithm.hpp"
#include "algos/all_gather/all_gather.hpp"
#include "algos/all_reduce/all_reduce.hpp"
#include "algos/all_to_all/all_to_all.hpp"
#include "algos/barrier/barrier.hpp"
#include "algos/broadcast/broadcast.hpp"
#include "algos/gather/gather.hpp"
#include "algos/reduce/reduce.hpp"
#include "algos/reduce_scatter/reduce_scatter.hpp"
#include "algos/scatter/scatter.hpp"

namespace umbel::algos {

namespace {

// Of those whose predicted times are nearly the same the planner takes the first.

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

std::span<const Algorithm> all_gather_catalog() {
  static const auto catalog = std::to_array<Algorithm>({
      all_gather::direct(),
      all_gather::hierarchical_leader(),
      all_gather::hierarchical_ring(),
      all_gather::recursive_doubling(),
      all_gather::bruck(),
      all_gather::pat(),
      all_gather::ring(),
      all_gather::neighbor(),
  });
  return catalog;
}

std::span<const Algorithm> broadcast_catalog() {
  static const auto catalog = std::to_array<Algorithm>({
      broadcast::direct(),
      broadcast::hierarchical_tree(),
      broadcast::hierarchical_rails(),
      broadcast::hierarchical_chain(),
      broadcast::knomial(),
      broadcast::binomial(),
      broadcast::chain(),
      broadcast::double_tree(),
      broadcast::scatter_all_gather(),
  });
  return catalog;
}

std::span<const Algorithm> all_to_all_catalog() {
  static const auto catalog = std::to_array<Algorithm>({
      all_to_all::direct(),
      all_to_all::pairwise(),
      all_to_all::hierarchical_rails(),
      all_to_all::hierarchical(),
      all_to_all::hierarchical_bundles(),
      all_to_all::bruck(),
  });
  return catalog;
}

std::span<const Algorithm> reduce_scatter_catalog() {
  static const auto catalog = std::to_array<Algorithm>({
      reduce_scatter::direct(),
      reduce_scatter::hierarchical_leader(),
      reduce_scatter::hierarchical_ring(),
      reduce_scatter::halving(),
      reduce_scatter::pairwise(),
      reduce_scatter::pat(),
      reduce_scatter::ring(),
  });
  return catalog;
}

std::span<const Algorithm> gather_catalog() {
  static const auto catalog = std::to_array<Algorithm>({
      gather::direct(),
      gather::hierarchical(),
      gather::hierarchical_bundles(),
      gather::linear(),
      gather::binomial(),
  });
  return catalog;
}

std::span<const Algorithm> scatter_catalog() {
  static const auto catalog = std::to_array<Algorithm>({
      scatter::direct(),
      scatter::hierarchical(),
      scatter::hierarchical_bundles(),
      scatter::linear(),
      scatter::binomial(),
  });
  return catalog;
}

std::span<const Algorithm> reduce_catalog() {
  static const auto catalog = std::to_array<Algorithm>({
      reduce::central(),
      reduce::direct(),
      reduce::hierarchical_leader(),
      reduce::hierarchical_tree(),
      reduce::hierarchical_chain(),
      reduce::binomial(),
      reduce::chain(),
      reduce::double_tree(),
      reduce::reduce_scatter_gather(),
  });
  return catalog;
}

std::span<const Algorithm> barrier_catalog() {
  static const auto catalog =
      std::to_array<Algorithm>({barrier::direct(), barrier::hierarchical(), barrier::dissemination()});
  return catalog;
}

}  // namespace

std::span<const Algorithm> catalog(Collective collective) {
  switch (plain(collective)) {
    case Collective::all_reduce:
      return all_reduce_catalog();
    case Collective::all_gather:
      return all_gather_catalog();
    case Collective::reduce_scatter:
      return reduce_scatter_catalog();
    case Collective::all_to_all:
      return all_to_all_catalog();
    case Collective::gather:
      return gather_catalog();
    case Collective::scatter:
      return scatter_catalog();
    case Collective::broadcast:
      return broadcast_catalog();
    case Collective::reduce:
      return reduce_catalog();
    case Collective::barrier:
      return barrier_catalog();
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
