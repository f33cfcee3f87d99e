// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Hierarchical all-gather through leaders: for small shares on several nodes.
//
// Idea. Each node has a leader, its lowest rank, with an image of the whole result in its window. Its mates write their
// shares there, the leaders complete their images by Bruck's algorithm over the nodes, and everybody copies the image
// to its output. Inside a node that takes two flags, and over the network ⌈log₂ N⌉ messages a node, the fewest there
// are.
//
// Names. Nodes stand in the order of the tree of groups: near ones exchange first. In the round of `distance` a leader
// has the shares of as many nodes from its own on; it gets those that follow from the leader `distance` nodes further
// on, and gives to the one as far before, at the end only what is missing. Shares that lie together in the order of
// ranks are one message: with nodes of consecutive ranks that is one a round, or two where they wrap around.
// An image is written by those who have its parts, each once, and nothing must be given back within a call.
//
// Steps: one from a mate to its leader, the bits set in the number of nodes between two leaders (at most ⌊log₂ N⌋), one
// to a mate; bytes that leave a leader: n for each share that it sends on, and n·p for each of its mates. Any p on two
// nodes or more, uneven nodes and racks included, any size that the window has room for. Determinism: nothing is
// folded. Source: Bruck et al. 1997 for the exchange; Graham et al., "Cheetah: a framework for scalable hierarchical
// collective operations", 2011, for the leaders.
#include <algorithm>
#include <bit>
#include <vector>

#include "algos/all_gather/all_gather.hpp"
#include "algos/builder.hpp"
#include "algos/order.hpp"
#include "algos/schedule.hpp"

namespace umbel::algos::all_gather {
namespace {

constexpr int kShown = 0, kKinds = 1;

/// What leaders send each other.
class Exchange {
 public:
  explicit Exchange(const Shape& shape) : nodes_(nodes_in_order(shape.root())) {}

  struct Round {
    Rank to = 0, from = 0;
    std::vector<Range> out, in;
  };

  int nodes() const { return static_cast<int>(nodes_.size()); }
  const std::vector<Rank>& node(int place) const { return nodes_[static_cast<std::size_t>(modulo(place, nodes()))]; }

  /// The rounds of the leader of the node at `here`.
  std::vector<Round> rounds(int here) const {
    std::vector<Round> rounds;
    for (int distance = 1; distance < nodes(); distance *= 2) {
      const int missing = std::min(distance, nodes() - distance);
      rounds.push_back({.to = node(here - distance).front(),
                        .from = node(here + distance).front(),
                        .out = shares_of(here, missing),
                        .in = shares_of(here + distance, missing)});
    }
    return rounds;
  }

 private:
  /// The shares of `count` nodes, in runs of ranks.
  std::vector<Range> shares_of(int first, int count) const {
    std::vector<Rank> ranks;
    for (int place = first; place < first + count; ++place)
      ranks.insert(ranks.end(), node(place).begin(), node(place).end());
    return runs_of(std::move(ranks));
  }

  std::vector<std::vector<Rank>> nodes_;
};

void write_leader(Builder& b, int region) {
  const Exchange exchange(b.shape());
  const auto mates = b.shape().peers_of(b.rank()).subspan(1);
  const LaneRef memory = b.memory_lane(), send = b.net_lane(), recv = b.net_lane();
  const Flag ready = b.flag(), landed = b.flag();
  auto image = [&](const Range& range) { return b.window(range, b.rank(), region, {}); };
  const Range own{.block = fixed(b.rank())}, all{.blocks = b.shape().ranks()};
  b.copy(memory, image(own), b.input(own));
  for (Rank mate : mates) b.wait(memory, b.hear(kShown, mate));
  int here = 0;
  while (exchange.node(here).front() != b.rank()) ++here;
  for (const Exchange::Round& round : exchange.rounds(here)) {
    b.signal(memory, ready.raise);
    b.wait(send, ready.wait);
    for (const Range& range : round.out) b.send(send, image(range), round.to, 0);
    for (const Range& range : round.in) b.recv(recv, image(range), round.from, 0, landed.raise);
    b.wait(memory, landed.wait, static_cast<int>(round.in.size()));
  }
  for (Rank mate : mates) b.signal(memory, b.tell(kShown, mate));
  b.copy(memory, b.output(all), image(all));
}

void write_mate(Builder& b, int region) {
  const Rank leader = b.shape().peers_of(b.rank()).front();
  const LaneRef lane = b.memory_lane();
  const Range own{.block = fixed(b.rank())}, all{.blocks = b.shape().ranks()};
  b.copy(lane, b.window(own, leader, region, {}), b.input(own));
  b.signal(lane, b.tell(kShown, leader));
  b.wait(lane, b.hear(kShown, leader));
  b.copy(lane, b.output(all), b.window(all, leader, region, {}));
}

Program build(Rank rank, const Shape& shape, const Spec&) {
  Builder b(rank, shape, {.collective = Collective::all_gather}, kKinds);
  const int region = b.region(1, shape.ranks(), true);
  if (rank == shape.peers_of(rank).front()) {
    write_leader(b, region);
  } else {
    write_mate(b, region);
  }
  return b.finish();
}

Traffic traffic(const Shape& shape, const Spec&) {
  const Exchange exchange(shape);
  const int nodes = exchange.nodes();
  auto mates = [&](int place) { return static_cast<int>(exchange.node(place).size()) - 1; };
  Traffic traffic;
  for (int here = 0; here < nodes; ++here) {
    for (int back = 0; back < nodes; ++back)
      traffic.steps = std::max(traffic.steps, (mates(here) > 0 ? 1 : 0) + std::popcount(static_cast<unsigned>(back)) +
                                                  (mates(here - back) > 0 ? 1 : 0));
    double sent = shape.ranks() * mates(here);
    for (const Exchange::Round& round : exchange.rounds(here))
      for (const Range& range : round.out) sent += range.blocks;
    traffic.sent = std::max(traffic.sent, sent);
  }
  return traffic;
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  const double n = t.bytes(), all = n * t.ranks();
  const int mates = query.shape.largest_node() - 1;
  double time = t.copy(n) + (mates > 0 ? 2 * t.flags(mates) + t.read(all) : t.copy(all)) * t.spill(all);
  // The last leader's runs of shares wrap around the last rank, and all wait for it.
  for (const Exchange::Round& round : Exchange(query.shape).rounds(t.nodes() - 1)) {
    Schedule schedule(query);  // what comes in is what goes out
    for (const Range& range : round.out) schedule.send(0, 0, range.blocks * n);
    time += schedule.run();
  }
  return time;
}

}  // namespace

Algorithm hierarchical_leader() {
  return on_several_nodes({.name = "hierarchical_leader",
                           .summary = "mates fill a leader's image, leaders exchange by Bruck's algorithm, all copy it",
                           .steps = "⌊log₂ N⌋ + 2",
                           .sent = "n(p−S) over the network, n·p(S−1) read by node-mates",
                           .source = "Bruck et al. 1997; Graham et al. 2011",
                           .collective = Collective::all_gather},
                          {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::all_gather
