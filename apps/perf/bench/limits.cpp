// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "limits.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace umbel::bench {
namespace {

/// All-reduce's limit over the speed behind it.
double all_reduce_factor(int ranks, int nodes) {
  const double p = ranks;
  const double n = nodes;
  return nodes > 1 ? n * (p - 1) / ((n - 1) * p) : 2 * (p - 1) / p;
}

}  // namespace

int Speeds::ranks() const { return std::accumulate(node_sizes.begin(), node_sizes.end(), 0); }

Speeds speeds_of(double all_reduce_limit_gbs, std::vector<int> node_sizes) {
  Speeds speeds{.node_sizes = std::move(node_sizes)};
  if (speeds.ranks() > 1) speeds.gbs = all_reduce_limit_gbs / all_reduce_factor(speeds.ranks(), speeds.nodes());
  return speeds;
}

double limit_of_all_reduce(const Speeds& speeds) {
  return speeds.gbs == 0 ? 0 : speeds.gbs * all_reduce_factor(speeds.ranks(), speeds.nodes());
}

double limit_of_all_gather(const Speeds& speeds) {
  return speeds.nodes() > 1 ? limit_of_all_reduce(speeds) : speeds.gbs;
}

double limit_of_broadcast(const Speeds& speeds) {
  if (speeds.gbs == 0 || speeds.nodes() > 1) return speeds.gbs;
  return speeds.gbs * speeds.ranks() / (speeds.ranks() - 1);
}

double limit_of_all_to_all(const Speeds& speeds) {
  if (speeds.gbs == 0 || speeds.nodes() == 1) return speeds.gbs;
  const int p = speeds.ranks();
  double pairs = 0;  // of a rank on the node and one elsewhere
  for (const int m : speeds.node_sizes) pairs = std::max(pairs, static_cast<double>(m) * (p - m));
  return speeds.gbs * (p - 1) / pairs;
}

double limit_of_gather(const Speeds& speeds) {
  if (speeds.gbs == 0) return 0;
  const int p = speeds.ranks();
  if (speeds.nodes() == 1) return speeds.gbs * p;
  // the root may be on the largest node, where the fewest shares come from elsewhere
  return speeds.gbs * (p - 1) / (p - *std::ranges::max_element(speeds.node_sizes));
}

double limit_of_all_to_allv(const Speeds& speeds) { return speeds.nodes() > 1 ? 0 : speeds.gbs; }

double limit_of_sendrecv(const Speeds& speeds) { return speeds.gbs; }

}  // namespace umbel::bench
