// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/simulate/cluster.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace umbel::algos::simulate {

Cluster from_model(const Model& model, const Shape& shape) {
  // Of a latency, what the threads spend: the rest passes by itself. Shares as seen on hosts with a core a rank.
  constexpr double kSignalling = 0.2;
  Cluster cluster;
  cluster.flag_s = model.local_alpha;
  cluster.signal_s = kSignalling * model.local_alpha;
  cluster.read_beta = model.local_beta;
  cluster.direct_beta = model.direct_beta;
  cluster.copy_beta = model.copy_beta;
  cluster.gamma = model.gamma;
  cluster.cache_bytes = model.cache_bytes;
  cluster.message_s = model.net_alpha;
  cluster.message_cpu_s = std::min(model.net_post, model.net_alpha) / 2;
  cluster.wire_beta = model.net_beta;
  cluster.rails = static_cast<int>(model.rails);
  if (model.ranks_per_core > 1) cluster.cores_per_node = shape.largest_node() / model.ranks_per_core;
  return cluster;
}

std::string complaint(const Cluster& c) {
  using Named = std::pair<std::string_view, double>;
  for (const auto& [name, value] :
       {Named{"flag_s", c.flag_s}, Named{"signal_s", c.signal_s}, Named{"read_beta", c.read_beta},
        Named{"direct_beta", c.direct_beta}, Named{"copy_beta", c.copy_beta}, Named{"gamma", c.gamma},
        Named{"cache_bytes", c.cache_bytes}, Named{"spill_per_doubling", c.spill_per_doubling},
        Named{"cores_per_node", c.cores_per_node}, Named{"memory_beta", c.memory_beta}, Named{"message_s", c.message_s},
        Named{"message_cpu_s", c.message_cpu_s}, Named{"wire_beta", c.wire_beta}, Named{"eager_bytes", c.eager_bytes}})
    if (!std::isfinite(value) || value < 0)
      return fmt::format("{} is {}: must be a number that is not negative", name, value);
  if (c.wire_beta == 0 || c.cache_bytes == 0) return "wire_beta and cache_bytes must be more than 0";
  if (c.spill_worst < 1) return fmt::format("spill_worst is {}: must be at least 1", c.spill_worst);
  if (c.signal_s > c.flag_s) return "signal_s is more than flag_s, of which it is a part";
  if (2 * c.message_cpu_s > c.message_s)
    return "message_cpu_s, at two ends, is more than message_s, of which it is a part";
  if (c.rails < 1) return fmt::format("rails is {}: must be at least 1", c.rails);
  for (const Cluster::Uplink& link : c.uplinks)
    if (!(link.alpha >= 0) || !(link.beta >= 0)) return "an uplink's alpha and beta must not be negative";
  return {};
}

}  // namespace umbel::algos::simulate
