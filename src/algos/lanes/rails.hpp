// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// A ring of nodes that all ranks drive: how the shares of a ranked collective go around it.
//
// There are as many rails as the smallest node has ranks. In every node a rail has an owner, and the owners of a rail
// exchange around the ring. What goes from node to node on a rail is a bundle: of each node the share of the rail's
// owner, and on larger nodes those of the ranks that are left over, dealt out to the rails in turn. Nodes stand in the
// order of the tree of groups, so the ring crosses the border of every group, on any level, once in and once out.
#pragma once

#include <vector>

#include "base/shape.hpp"

namespace umbel::algos {

class Rails {
 public:
  explicit Rails(const Shape& shape);

  int count() const { return count_; }
  int nodes() const { return static_cast<int>(nodes_.size()); }
  /// Around the ring; `node` is any integer.
  const std::vector<Rank>& node(int node) const;
  /// The node's place in the ring.
  int place_of(Rank rank) const;

  Rank owner(int node, int rail) const { return this->node(node)[static_cast<std::size_t>(rail)]; }
  /// Ranks whose shares go together: the owner, then those left over.
  std::vector<Rank> bundle(int node, int rail) const;
  int largest_bundle() const { return largest_bundle_; }

  /// Steps from a rank of any node to one of any other, when shares of ranks left over must get to an owner first
  /// (`at_start`) or from one at the end, and those of owners to node-mates at the other end.
  int farthest(bool at_start) const;

 private:
  std::vector<std::vector<Rank>> nodes_;
  int count_;
  int largest_bundle_;
};

/// A rank's place among the rails.
struct RailPlace {
  int node = 0;               ///< place in the ring
  int index = 0;              ///< in its node
  int rail = 0;               ///< which carries its share
  bool owns = false;          ///< it is the rail's owner
  std::vector<Rank> mates{};  ///< of its node, without itself, beginning after it

  RailPlace(const Rails& rails, const Shape& shape, Rank rank);
};

}  // namespace umbel::algos
