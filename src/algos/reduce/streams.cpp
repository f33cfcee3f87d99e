// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/reduce/streams.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace umbel::algos::reduce {

Streams::Streams(const Shape& shape, const Spec& spec, const std::vector<Tree>& trees)
    : spec_(spec), edges_(trees.size()) {
  const auto ranks = static_cast<std::size_t>(shape.ranks());
  std::map<std::pair<Rank, Rank>, int> between;  // edges so far, of node-mates
  std::vector<int> out(ranks), in(ranks), folds(ranks);
  for (std::size_t t = 0; t < trees.size(); ++t) {
    const Tree& tree = trees[t];
    for (Rank child = 0; child < shape.ranks(); ++child) {
      const auto c = static_cast<std::size_t>(child);
      Edge& edge = edges_[t].emplace_back();
      const bool leaf = tree.below(child).empty();
      if (!leaf) edge.fold = folds[c]++;
      const Rank parent = child == tree.root ? spec.root : tree.above(child);
      if (child == parent) continue;  // the top and the root
      const bool local = shape.same_node(child, parent);
      edge.in_place = leaf && local && spec.direct;
      if (local) edge.kind = between[{child, parent}]++;
      kinds_ = std::max(kinds_, edge.kind + 1);
      if (!edge.in_place && (local || !leaf)) edge.out = out[c]++;
      if (!local) edge.in = in[static_cast<std::size_t>(parent)]++;
    }
    for (Rank rank = 0; rank < shape.ranks(); ++rank) {
      const auto mates = std::ranges::count_if(tree.below(rank), [&](Rank r) { return shape.same_node(rank, r); });
      operands_ = std::max(operands_, static_cast<int>(mates) + 1);
    }
  }
  out_ = std::ranges::max(out);
  in_ = std::ranges::max(in);
  folds_ = std::ranges::max(folds);
}

StreamPlace Streams::place(std::size_t t, Rank child, Rank peer, int region) const {
  const Edge& edge = at(t, child);
  return {.peer = peer,
          .kind = 2 * edge.kind,
          .region = region,
          .out_slot = edge.out * spec_.depth,
          .in_slot = (out_ + edge.in) * spec_.depth,
          .depth = spec_.depth,
          .channel = static_cast<int>(t)};
}

}  // namespace umbel::algos::reduce
