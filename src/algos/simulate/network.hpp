// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Which links a message uses. Private to this folder.
#pragma once

#include <vector>

#include "algos/simulate/cluster.hpp"
#include "algos/simulate/fluid.hpp"

namespace umbel::algos::simulate {

/// A way from one rank to another.
struct Route {
  std::vector<Fluid::Use> links;
  double latency = 0;  ///< beside what the threads spend
};

class Network {
 public:
  Network(const Shape& shape, const Cluster& cluster, Fluid& fluid);

  Route route(Rank from, Rank to) const;
  /// Notes that `bytes` go that way.
  void load(const Route& route, std::uint64_t bytes);
  /// Seconds that the most loaded link needs for what was noted.
  double busiest() const;

 private:
  struct Link {
    int resource = -1;
    double beta = 0;
    double bytes = 0;
  };
  /// A group's links to and from what is outside it.
  struct Border {
    int out = -1, in = -1;  // in links_; −1: no limit
    double latency = 0;
  };
  int add_link(double beta, Fluid& fluid);
  void visit(const Group& group, std::vector<int> above, Fluid& fluid);

  const Shape& shape_;
  const Cluster& cluster_;
  std::vector<Link> links_;
  std::vector<int> link_of_;                // by resource
  std::vector<std::vector<Border>> rails_;  // by node
  std::vector<Border> borders_;             // of groups
  std::vector<std::vector<int>> above_;     // by node: the borders of the groups it is in, innermost first
};

}  // namespace umbel::algos::simulate
