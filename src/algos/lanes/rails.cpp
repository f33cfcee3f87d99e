// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/lanes/rails.hpp"

#include <algorithm>

#include "algos/order.hpp"

namespace umbel::algos {

Rails::Rails(const Shape& shape)
    : nodes_(nodes_in_order(shape.root())),
      count_(shape.smallest_node()),
      largest_bundle_((shape.largest_node() + count_ - 1) / count_) {}

const std::vector<Rank>& Rails::node(int node) const { return nodes_[static_cast<std::size_t>(modulo(node, nodes()))]; }

int Rails::place_of(Rank rank) const {
  const auto holds = [rank](const std::vector<Rank>& node) { return std::ranges::binary_search(node, rank); };
  return static_cast<int>(std::ranges::find_if(nodes_, holds) - nodes_.begin());
}

std::vector<Rank> Rails::bundle(int node, int rail) const {
  const std::vector<Rank>& ranks = this->node(node);
  std::vector<Rank> bundle;
  for (auto index = static_cast<std::size_t>(rail); index < ranks.size(); index += static_cast<std::size_t>(count_))
    bundle.push_back(ranks[index]);
  return bundle;
}

int Rails::farthest(bool at_start) const {
  const auto mates = [&](int at) { return node(at).size() > 1 ? 1 : 0; };
  const auto left_over = [&](int at) { return node(at).size() > static_cast<std::size_t>(count_) ? 1 : 0; };
  int most = 0;
  for (int from = 0; from < nodes(); ++from)
    for (int hops = 1; hops < nodes(); ++hops) {
      const int to = from + hops;
      most = std::max(most, hops + (at_start ? left_over(from) + mates(to) : mates(from) + left_over(to)));
    }
  return most;
}

RailPlace::RailPlace(const Rails& rails, const Shape& shape, Rank rank)
    : node(rails.place_of(rank)),
      index(shape.local_index(rank)),
      rail(index % rails.count()),
      owns(index < rails.count()) {
  const std::vector<Rank>& ranks = rails.node(node);
  for (std::size_t k = 1; k < ranks.size(); ++k)
    mates.push_back(ranks[(static_cast<std::size_t>(index) + k) % ranks.size()]);
}

}  // namespace umbel::algos
