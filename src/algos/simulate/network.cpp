// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/simulate/network.hpp"

#include <algorithm>

namespace umbel::algos::simulate {
namespace {

/// Levels of groups down to the nodes.
std::size_t height_of(const Group& group) {
  std::size_t height = 0;
  for (const Group& child : group.children) height = std::max(height, height_of(child) + 1);
  return height;
}

}  // namespace

Network::Network(const Shape& shape, const Cluster& cluster, Fluid& fluid) : shape_(shape), cluster_(cluster) {
  const auto nodes = static_cast<std::size_t>(shape.nodes());
  rails_.resize(nodes);
  above_.resize(nodes);
  if (nodes == 1) return;
  for (auto& rails : rails_)
    for (int rail = 0; rail < cluster.rails; ++rail)
      rails.push_back({.out = add_link(cluster.wire_beta, fluid), .in = add_link(cluster.wire_beta, fluid)});
  for (const Group& child : shape.root().children) visit(child, {}, fluid);
}

int Network::add_link(double beta, Fluid& fluid) {
  const int resource = fluid.add_resource(1 / beta);
  link_of_.resize(static_cast<std::size_t>(resource) + 1, -1);
  link_of_.back() = static_cast<int>(links_.size());
  links_.push_back({.resource = resource, .beta = beta});
  return static_cast<int>(links_.size()) - 1;
}

void Network::visit(const Group& group, std::vector<int> above, Fluid& fluid) {
  if (group.is_node()) {
    above_[static_cast<std::size_t>(shape_.node_of(group.ranks.front()))] = std::move(above);
    return;
  }
  const std::size_t level = height_of(group) - 1;
  Border border;
  if (level < cluster_.uplinks.size()) {
    const Cluster::Uplink& uplink = cluster_.uplinks[level];
    border.latency = uplink.alpha;
    if (uplink.beta > 0) {
      border.out = add_link(uplink.beta, fluid);
      border.in = add_link(uplink.beta, fluid);
    }
  }
  above.insert(above.begin(), static_cast<int>(borders_.size()));
  borders_.push_back(border);
  for (const Group& child : group.children) visit(child, above, fluid);
}

Route Network::route(Rank from, Rank to) const {
  const auto source = static_cast<std::size_t>(shape_.node_of(from));
  const auto target = static_cast<std::size_t>(shape_.node_of(to));
  Route route{.links = {}, .latency = cluster_.message_s - 2 * cluster_.message_cpu_s};
  const auto use = [&](int link) {
    if (link >= 0) route.links.push_back({.resource = links_[static_cast<std::size_t>(link)].resource});
  };
  const auto rail = [&](Rank rank) { return static_cast<std::size_t>(shape_.local_index(rank) % cluster_.rails); };
  use(rails_[source][rail(from)].out);
  for (int group : above_[source]) {
    if (std::ranges::count(above_[target], group) != 0) continue;
    const Border& border = borders_[static_cast<std::size_t>(group)];
    use(border.out);
    route.latency += border.latency;
  }
  for (int group : above_[target])
    if (std::ranges::count(above_[source], group) == 0) use(borders_[static_cast<std::size_t>(group)].in);
  use(rails_[target][rail(to)].in);
  return route;
}

void Network::load(const Route& route, std::uint64_t bytes) {
  for (const Fluid::Use& use : route.links)
    links_[static_cast<std::size_t>(link_of_[static_cast<std::size_t>(use.resource)])].bytes +=
        static_cast<double>(bytes);
}

double Network::busiest() const {
  double most = 0;
  for (const Link& link : links_) most = std::max(most, link.bytes * link.beta);
  return most;
}

}  // namespace umbel::algos::simulate
