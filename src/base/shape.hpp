// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <span>
#include <vector>

#include "base/types.hpp"

namespace umbel {

/// A group of ranks. A group without children is a node: its ranks share memory. Other groups reach each other over the
/// network. Children are ordered by their lowest rank, ranks ascend.
struct Group {
  std::vector<Rank> ranks;
  std::vector<Group> children;

  bool is_node() const noexcept { return children.empty(); }
};

/// How the ranks of a communicator are placed: a tree of groups whose leaves are nodes. Immutable, equal on all ranks.
class Shape {
 public:
  /// All `ranks` on one node.
  static Shape one_node(int ranks);
  /// One node id per rank; equal ids share a node. Any numbers, in any order.
  static Shape from_nodes(std::span<const int> node_of_rank);
  /// One path per rank, outermost level first, the last entry is the node: {0,1} is node 1 of rack 0.
  /// All paths have the same length ≥ 1. @throws InvalidArgument otherwise.
  static Shape from_paths(std::span<const std::vector<int>> path_of_rank);

  int ranks() const noexcept { return static_cast<int>(node_of_.size()); }
  int nodes() const noexcept { return static_cast<int>(nodes_.size()); }
  /// Levels of groups: 1 when all ranks share one node or nodes are the only level, 2 with racks of nodes, …
  int levels() const noexcept { return levels_; }
  /// Number of the rank's node, 0 … nodes()−1, in the order of the nodes' lowest ranks.
  int node_of(Rank rank) const { return node_of_[static_cast<std::size_t>(rank)]; }
  /// The rank's place in the tree of groups, outermost level first; the last entry is the node. Numbers count up in the
  /// order of first appearance.
  std::span<const int> path_of(Rank rank) const { return paths_[static_cast<std::size_t>(rank)]; }
  /// The ranks of a node, ascending.
  std::span<const Rank> node_ranks(int node) const { return nodes_[static_cast<std::size_t>(node)]; }
  std::span<const Rank> peers_of(Rank rank) const { return node_ranks(node_of(rank)); }
  /// Position of the rank in its node.
  int local_index(Rank rank) const { return local_index_[static_cast<std::size_t>(rank)]; }
  bool same_node(Rank a, Rank b) const { return node_of(a) == node_of(b); }
  int smallest_node() const noexcept;
  int largest_node() const noexcept;
  /// The whole tree. With one node the root is that node.
  const Group& root() const noexcept { return root_; }

  bool operator==(const Shape& other) const noexcept { return paths_ == other.paths_; }
  /// Stable across processes and machines; for caches and files.
  std::uint64_t hash() const noexcept;

 private:
  std::vector<std::vector<int>> paths_;  // normalized: ids count up in order of first appearance
  std::vector<int> node_of_;
  std::vector<int> local_index_;
  std::vector<std::vector<Rank>> nodes_;
  Group root_;
  int levels_ = 1;
};

}  // namespace umbel
