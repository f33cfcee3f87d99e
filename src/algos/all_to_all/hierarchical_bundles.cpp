// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Hierarchical all-to-all in bundles: for small and medium shares on several nodes, and for shares of different
// lengths.
//
// Idea. All that goes from one node to another goes as one stream: its ranks write their shares one after another into
// slots of the one that sends it, and the ranks of the other node take theirs from slots of the one that receives it.
// Where shares are small that is one message for each pair of nodes, as in `hierarchical`; however large they are, and
// however they differ, a rank has two slots of a chunk each way, and no message but a pair's last is shorter than that.
//
// Names: lanes/bundles.hpp. A bundle has the shares of the first giver, in the order of the takers, then those of the
// next. Nodes turn to those behind them, the next one first, and a node's ranks take turns in sending and in receiving.
// Inside nodes, and between nodes of one rank, shares go straight (lanes/pairs.hpp).
//
// Shares of different lengths. Of an all_to_allv a rank knows what it gives and takes. All that write, send or read a
// bundle must know the same of their mates: node-mates tell each other before the program starts (Binding::bundles),
// the givers what they give, the takers what they take.
//
// Steps 3 (2 or 1 where nodes have one rank); bytes that leave a rank, of n a share: n for each share of its own,
// n·S·S' for each bundle that it sends to a node of S' ranks, n·S'(S−1) for each that it receives, read by its mates.
// Any p on two nodes or more, uneven nodes and racks included, any sizes. Determinism: data is moved only. Source:
// Träff & Rougier, "MPI collectives and datatypes for hierarchical all-to-all communication", 2014.
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "algos/all_to_all/all_to_all.hpp"
#include "algos/all_to_all/node_pairs.hpp"
#include "algos/cost.hpp"
#include "algos/lanes/bundles.hpp"
#include "algos/lanes/pairs.hpp"
#include "algos/order.hpp"

namespace umbel::algos::all_to_all {
namespace {

constexpr int kGroups = 2;

using Ranks = std::vector<Rank>;

/// Who sends, or receives, the bundle to or from the node `turn` places away.
Rank by_turns(const Ranks& ranks, int turn) { return ranks[static_cast<std::size_t>(turn - 1) % ranks.size()]; }

/// What goes from one node to another, as the one or the other names it.
BundleStream stream_of(const Ranks& from, const Ranks& to, int turn, Buffer side) {
  BundleStream stream{
      .sender = by_turns(from, turn), .receiver = by_turns(to, turn), .owners = side == Buffer::input ? from : to};
  for (Rank giver : from)
    for (Rank taker : to)
      stream.items.push_back(side == Buffer::input ? BundleItem{.owner = giver, .buffer = side, .share = taker}
                                                   : BundleItem{.owner = taker, .buffer = side, .share = giver});
  return stream;
}

/// Shares between two nodes of one rank each need no slots.
bool straight(const Ranks& a, const Ranks& b) { return a.size() == 1 && b.size() == 1; }

/// Shares in the largest bundle: of the two largest nodes.
int largest_bundle(const Shape& shape) {
  std::vector<int> sizes;
  for (int node = 0; node < shape.nodes(); ++node) sizes.push_back(static_cast<int>(shape.node_ranks(node).size()));
  std::ranges::sort(sizes, std::greater());
  const int largest = sizes[0] * sizes[1];
  return largest > 1 ? largest : 0;
}

BundleStreams streams_of(Rank rank, const Shape& shape) {
  const std::vector<Ranks> nodes = nodes_in_order(shape.root());
  const auto count = static_cast<int>(nodes.size());
  const auto at = [&](int n) -> const Ranks& { return nodes[static_cast<std::size_t>(modulo(n, count))]; };
  int here = 0;
  while (!shape.same_node(at(here).front(), rank)) ++here;
  BundleStreams streams{.most = largest_bundle(shape)};
  for (int turn = 1; turn < count; ++turn) {
    if (!straight(at(here), at(here + turn)))
      streams.sent.push_back(stream_of(at(here), at(here + turn), turn, Buffer::input));
    if (!straight(at(here - turn), at(here)))
      streams.received.push_back(stream_of(at(here - turn), at(here), turn, Buffer::output));
  }
  return streams;
}

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  Builder b(rank, shape, {.collective = Collective::all_to_all, .chunks = true}, kPairKinds + kBundleKinds);
  write_bundles(b, kPairKinds, spec.depth, streams_of(rank, shape));
  PairsSetup rest = pairs_of_all(rank, shape, spec, std::min(kGroups, shape.largest_node() - 1));
  const auto bundled = [&](Rank other) {
    return !shape.same_node(rank, other) && shape.peers_of(rank).size() * shape.peers_of(other).size() > 1;
  };
  std::erase_if(rest.to, bundled);
  std::erase_if(rest.from, bundled);
  write_pairs(b, rest);
  return b.finish();
}

Traffic traffic(const Shape& shape, const Spec&) { return node_pairs_traffic(shape, Messages::one_a_pair); }

double cost(const CostQuery& query) {
  const CostTerms t(query);
  const Shape& shape = query.shape;
  const int ranks = shape.largest_node(), mates = ranks - 1;
  const int remote = t.ranks() - shape.smallest_node();
  if (ranks == 1) return pairs_of_all_cost(query, 0);
  const double n = t.bytes(), bundle = ranks * ranks * n;
  const double chunks = t.chunks(bundle);
  const double given = t.nodes() - 1, sent = std::ceil(given / shape.smallest_node());  // of a rank, and received
  const double inside = mates * (query.spec.direct ? t.read_direct(n) : t.copy(n) + t.read(n));
  const double flags = chunks * (given * t.flag() + 2 * sent * t.flags(mates)) + t.flags(mates);
  const double slots = t.spill(4 * query.spec.depth * bundle / chunks);
  const double local = t.copy(n) + inside + remote * (t.copy(n) + t.read(n)) * slots + flags;
  const double wire = t.wire(n, shares_over_a_link(shape)) + 2 * sent * chunks * t.post();
  // What is given to the first chunk, and taken from the last one, shows.
  return t.message() + std::max(wire, local) + std::min(wire, local) / (chunks * sent);
}

}  // namespace

Algorithm hierarchical_bundles() {
  return on_several_nodes({.name = "hierarchical_bundles",
                           .summary = "all from each node to each other as one stream of chunks",
                           .steps = "3",
                           .sent = "n(p−1), + nS² a bundle sent, + nS(S−1) a bundle received",
                           .source = "Träff & Rougier 2014",
                           .collective = Collective::all_to_all,
                           .unequal = Unequal::staged},
                          {build, traffic, folds_nothing, cost});
}

}  // namespace umbel::algos::all_to_all
