// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Hierarchical all-reduce through leaders: for small messages on several nodes.
//
// Idea. Each node has a leader, its lowest rank. It folds its node's data, exchanges with the other leaders by
// recursive doubling, and shows the result to its node. One message a node and round is the least latency there is over
// a network.
//
// Names. Per piece: mates copy their input into a window slot, `shown`; the leader folds its own input and all slots in
// one go, straight into the slot that the exchange shows (doubling.hpp); the result lands in its output and is copied
// to a slot, `shown` to the mates, who copy it to their outputs. One slot each will do, without credits: a mate shows
// the next piece only after it has read the result of the last one, which was made after its slot was read. Reading the
// mates' inputs in place (`direct`) would save a copy of a small message and cost a closing flag: not used.
//
// Steps ⌈log₂ N⌉ + 2 for N a power of two (up to 2 more otherwise); bytes that leave the busiest rank, a leader:
// n log₂ N over the network and n(R−1), read by its R−1 mates. Any p on two nodes or more, any shape, any size.
// Determinism: a node folds once in rank order, both partners of a round compute the same expression, lower ranks
// first. Source: Graham et al., "Cheetah: a framework for scalable hierarchical collective operations", 2011.
#include <algorithm>
#include <bit>
#include <vector>

#include "algos/all_reduce/all_reduce.hpp"
#include "algos/all_reduce/doubling.hpp"
#include "algos/all_reduce/hierarchy.hpp"
#include "algos/cost.hpp"
#include "algos/order.hpp"

namespace umbel::algos::all_reduce {
namespace {

constexpr int kShown = 0;
constexpr int kKinds = 1;
constexpr int kMateSlot = 0, kResultSlot = 1, kExchangeSlots = 2;

struct Slots {
  const Builder& b;
  int region;
  Slice at(int slot, Rank of, const Range& range) const { return b.window(range, of, region, {.base = slot}); }
};

void write_leader(Builder& b, const Slots& slots, const DoublingSetup& setup) {
  const auto node = b.shape().peers_of(b.rank());
  const LaneRef lane = b.memory_lane();
  Doubling doubling(b, lane, setup);
  b.each_piece([&](Counter i) {
    const Range piece{.piece = counted(i)};
    std::vector<Slice> operands{b.input(piece)};
    for (Rank mate : node.subspan(1)) {
      b.wait(lane, b.hear(kShown, mate));
      operands.push_back(slots.at(kMateSlot, mate, piece));
    }
    doubling.exchange(i, operands);
    if (node.size() == 1) return;
    b.copy(lane, slots.at(kResultSlot, b.rank(), piece), b.output(piece));
    for (Rank mate : node.subspan(1)) b.signal(lane, b.tell(kShown, mate));
  });
}

void write_mate(Builder& b, const Slots& slots, Rank leader) {
  const LaneRef lane = b.memory_lane();
  b.each_piece([&](Counter i) {
    const Range piece{.piece = counted(i)};
    b.copy(lane, slots.at(kMateSlot, b.rank(), piece), b.input(piece));
    b.signal(lane, b.tell(kShown, leader));
    b.wait(lane, b.hear(kShown, leader));
    b.copy(lane, b.output(piece), slots.at(kResultSlot, leader, piece));
  });
}

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  Builder b(rank, shape, {.pieces = true}, kKinds);
  const int region = b.region(kExchangeSlots + doubling_slots(shape.nodes(), spec.depth));
  const Slots slots{b, region};
  const Rank leader = shape.peers_of(rank).front();
  if (rank != leader) {
    write_mate(b, slots, leader);
    return b.finish();
  }
  DoublingSetup setup{
      .members = {}, .here = shape.node_of(rank), .region = region, .slot = kExchangeSlots, .depth = spec.depth};
  setup.goes_on = shape.peers_of(rank).size() > 1;
  for (int node = 0; node < shape.nodes(); ++node) setup.members.push_back(shape.node_ranks(node).front());
  write_leader(b, slots, setup);
  return b.finish();
}

Traffic traffic(const Shape& shape, const Spec&) {
  const int nodes = shape.nodes();
  auto number = [&](const PairedRole& role) {
    return role.active() ? role.number : PairedRole::of(role.pair, nodes).number;
  };
  auto ends = [&](int node, const PairedRole& role) {  // steps to or from the active leader that stands for the node
    return (role.active() ? 0 : 1) + (shape.node_ranks(node).size() > 1 ? 1 : 0);
  };
  Traffic traffic;
  for (int from = 0; from < nodes; ++from) {
    const PairedRole source = PairedRole::of(from, nodes);
    for (int to = 0; to < nodes; ++to) {
      const PairedRole target = PairedRole::of(to, nodes);
      const int rounds = std::popcount(static_cast<unsigned>(number(source) ^ number(target)));
      traffic.steps = std::max(traffic.steps, ends(from, source) + rounds + ends(to, target));
    }
    const int mates = static_cast<int>(shape.node_ranks(from).size()) - 1;
    traffic.sent = std::max(traffic.sent, static_cast<double>(doubling_sent(from, nodes) + mates));
  }
  return traffic;
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  const double piece = t.bytes() / t.pieces();
  const int ranks = query.shape.largest_node();
  double time = t.copy(piece);
  if (ranks > 1) time += 2 * t.flags(ranks - 1) + 2 * t.copy(piece) + ranks * t.read(piece) + t.fold(piece, ranks);
  time += doubling_traffic(t.nodes()).steps * (t.message() + t.post() + t.wire(piece) + t.fold(piece));
  return t.pieces() * time;
}

}  // namespace

Algorithm hierarchical_leader() {
  return {.name = "hierarchical_leader",
          .summary = "one leader a node folds, exchanges with the others, and hands back",
          .steps = "log₂ N + 2, up to 2 more if N is no power of two",
          .sent = "n(⌊log₂ N⌋ + R − 1), + n if N is no power of two",
          .source = "Graham et al. 2011",
          .refuses = needs_two_nodes,
          .build = build,
          .traffic = traffic,
          .cost = cost};
}

}  // namespace umbel::algos::all_reduce
