// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/lanes/root_bundles.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "algos/cost.hpp"
#include "algos/lanes/bundles.hpp"
#include "algos/lanes/pairs.hpp"
#include "algos/order.hpp"

namespace umbel::algos {
namespace {

/// Whether a rank's share travels with those of its node-mates.
bool bundled(const Shape& shape, Rank root, Rank rank) {
  return !shape.same_node(rank, root) && shape.peers_of(rank).size() > 1;
}

/// The bundle of `node`, as it is named by the ranks of the node, or by the root.
BundleStream stream_of(Collective collective, const std::vector<Rank>& node, Rank root, bool at_root) {
  const bool gathers = collective == Collective::gather;
  const Rank leader = *std::ranges::min_element(node);
  BundleStream stream{.sender = gathers ? leader : root, .receiver = gathers ? root : leader};
  const Buffer buffer = gathers != at_root ? Buffer::input : Buffer::output;
  stream.owners = at_root ? std::vector<Rank>{root} : node;
  for (Rank rank : node) stream.items.push_back({.owner = at_root ? root : rank, .buffer = buffer, .share = rank});
  return stream;
}

BundleStreams streams_of(Collective collective, Rank rank, const Shape& shape, Rank root) {
  BundleStreams streams{.most = largest_bundle(shape, root)};
  const bool gathers = collective == Collective::gather;
  std::vector<BundleStream>& own = gathers != (rank == root) ? streams.sent : streams.received;
  for (const std::vector<Rank>& node : nodes_from(shape.root(), root))
    if (bundled(shape, root, node.front()) && (rank == root || shape.same_node(rank, node.front())))
      own.push_back(stream_of(collective, node, root, rank == root));
  return streams;
}

}  // namespace

int largest_bundle(const Shape& shape, Rank root) {
  std::size_t largest = 0;
  for (int node = 0; node < shape.nodes(); ++node) {
    const std::span<const Rank> ranks = shape.node_ranks(node);
    if (bundled(shape, root, ranks.front())) largest = std::max(largest, ranks.size());
  }
  return static_cast<int>(largest);
}

RootBundles::RootBundles(const CostQuery& query) {
  const CostTerms t(query);
  const Rank root = query.spec.root;
  largest = largest_bundle(query.shape, root);
  mates = static_cast<int>(query.shape.peers_of(root).size()) - 1;
  for (int node = 0; node < query.shape.nodes(); ++node) {
    const std::span<const Rank> ranks = query.shape.node_ranks(node);
    if (query.shape.same_node(ranks.front(), root)) continue;
    const auto shares = static_cast<int>(ranks.size());
    (shares > 1 ? bundled : alone) += shares;
    if (shares > 1) messages += t.chunks(shares * t.bytes());
  }
}

Program build_root_bundles(Collective collective, Rank rank, const Shape& shape, const Spec& spec) {
  Builder b(rank, shape, {.collective = collective, .root = spec.root, .chunks = true}, kPairKinds + kBundleKinds);
  write_bundles(b, kPairKinds, spec.depth, streams_of(collective, rank, shape, spec.root));
  PairsSetup rest = pairs_with_root(collective, rank, shape, spec);
  const auto elsewhere = [&](Rank peer) { return bundled(shape, spec.root, rank == spec.root ? peer : rank); };
  std::erase_if(rest.to, elsewhere);
  std::erase_if(rest.from, elsewhere);
  write_pairs(b, rest);
  return b.finish();
}

}  // namespace umbel::algos
