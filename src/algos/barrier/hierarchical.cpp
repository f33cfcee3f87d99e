// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Hierarchical barrier.
//
// Idea. Each node has a leader, its lowest rank, and so has each group of nodes, on any number of levels. Who is led
// tells the leader that it has come; the leaders of the highest groups meet by dissemination; then each leader lets go
// those whom it leads. So few ranks use the network, and the border of a group below the highest is crossed by one
// empty message each way.
//
// Names. See meeting.hpp for tell and hear. `led`: whom a leader leads, nodes before groups; `leader`: its own one, if
// it leads no highest group.
//
// Steps ⌈log₂ M⌉ for M groups of the highest level (racks, or without racks the nodes), 2 in nodes of several ranks,
// and 2 for each level in between with several members; no bytes. Any p on two nodes or more, uneven nodes and racks
// included.
// Determinism: nothing is computed.
// Source: Hensgen, Finkel & Manber 1988; the hierarchy as in Graham et al., "Cheetah: a framework for scalable
// hierarchical collective operations", 2011.
#include <algorithm>
#include <vector>

#include "algos/barrier/barrier.hpp"
#include "algos/barrier/meeting.hpp"
#include "algos/cost.hpp"
#include "algos/order.hpp"

namespace umbel::algos::barrier {
namespace {

/// Whom a rank leads and who leads it, below the highest groups.
struct Standing {
  std::vector<Rank> led;
  Rank leader = -1;
};

void stand(Rank rank, const Group& group, Standing& standing) {
  const auto holds = [&](const Group& child) { return std::ranges::binary_search(child.ranks, rank); };
  const auto own = std::ranges::find_if(group.children, holds);
  if (own != group.children.end()) stand(rank, *own, standing);
  if (standing.leader >= 0) return;
  if (rank != group.ranks.front()) {
    standing.leader = group.ranks.front();
  } else if (group.is_node()) {
    standing.led.assign(group.ranks.begin() + 1, group.ranks.end());
  } else {
    for (std::size_t k = 1; k < group.children.size(); ++k) standing.led.push_back(group.children[k].ranks.front());
  }
}

Program build(Rank rank, const Shape& shape, const Spec&) {
  Builder b(rank, shape, {.collective = Collective::barrier}, Meeting::kKinds);
  std::vector<Rank> tops;
  Standing standing;
  for (const Group& top : shape.root().children) {
    tops.push_back(top.ranks.front());
    if (std::ranges::binary_search(top.ranks, rank)) stand(rank, top, standing);
  }
  Meeting meeting(b);
  for (Rank led : standing.led) meeting.hear(led);
  if (standing.leader >= 0) {
    meeting.tell(standing.leader);
    meeting.hear(standing.leader);
  } else {
    disseminate(meeting, rank, tops);
  }
  for (auto led = standing.led.rbegin(); led != standing.led.rend(); ++led) meeting.tell(*led);
  meeting.write();
  return b.finish();
}

/// Steps between the farthest rank of a group and its leader.
int depth(const Group& group) {
  if (group.is_node()) return group.ranks.size() > 1 ? 1 : 0;
  int deepest = depth(group.children.front());
  for (std::size_t k = 1; k < group.children.size(); ++k) deepest = std::max(deepest, depth(group.children[k]) + 1);
  return deepest;
}

Traffic traffic(const Shape& shape, const Spec&) {
  std::vector<int> depths;
  for (const Group& top : shape.root().children) depths.push_back(depth(top));
  // The longest way so far to the leader of each highest group, round by round.
  std::vector<int> ways = depths;
  const std::size_t count = ways.size();
  for (std::size_t distance = 1; distance < count; distance *= 2) {
    const std::vector<int> before = ways;
    for (std::size_t at = 0; at < count; ++at)
      ways[(at + distance) % count] = std::max(before[(at + distance) % count], before[at] + 1);
  }
  int steps = 0;
  for (std::size_t at = 0; at < count; ++at) steps = std::max(steps, ways[at] + depths[at]);
  return {.steps = steps, .sent = 0};
}

/// Seconds for one way between a group's ranks and its leader.
double way(const CostTerms& t, const Group& group) {
  if (group.is_node()) return t.flags(static_cast<int>(group.ranks.size()) - 1);
  double slowest = 0;
  for (const Group& child : group.children) slowest = std::max(slowest, way(t, child));
  return slowest + t.message() + static_cast<double>(group.children.size() - 1) * t.post();
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  double slowest = 0;
  for (const Group& top : query.shape.root().children) slowest = std::max(slowest, way(t, top));
  const auto tops = static_cast<int>(query.shape.root().children.size());
  return 2 * slowest + ceil_log2(tops) * (t.message() + t.post());
}

}  // namespace

Algorithm hierarchical() {
  return on_several_nodes({.name = "hierarchical",
                           .summary = "nodes and groups by their leaders, which meet by dissemination",
                           .steps = "⌈log₂ M⌉ + 2 + 2L, L levels of racks",
                           .sent = "0",
                           .source = "Hensgen, Finkel & Manber 1988; Graham et al. 2011",
                           .collective = Collective::barrier},
                          {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::barrier
