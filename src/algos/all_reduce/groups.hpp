// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The tree of groups as hierarchical algorithms use it: any number of levels between the nodes and the top, groups of
// any sizes.
//
// Level 0 are the nodes, level l groups of level l − 1. The groups of the highest level, below the root, are the
// members of an exchange; without racks those are the nodes. Data is cut in shards, one for each rank of the smallest
// node. On each level in between a shard is cut in parts, as many as the largest group of that level has members, and a
// table says which member of a group owns a part: in smaller groups a member owns several. A path is one part on each
// level; for each path and shard every group has one owner.
#pragma once

#include <functional>
#include <vector>

#include "algos/canonical.hpp"
#include "base/shape.hpp"

namespace umbel::algos::all_reduce {

/// A group whose members, `children`, are all of the level below. A node has none.
struct Tier {
  std::vector<Rank> ranks;
  std::vector<Tier> children;
};

class Groups {
 public:
  explicit Groups(const Shape& shape);

  int shards() const { return shards_; }
  int levels() const { return static_cast<int>(parts_.size()); }  ///< between the nodes and the exchange
  int count() const { return static_cast<int>(tops_.size()); }
  const std::vector<Tier>& tops() const { return tops_; }
  int parts(int level) const { return parts_[static_cast<std::size_t>(level) - 1]; }
  int paths() const { return paths_; }
  /// Of a group of `level`.
  int most_members(int level) const { return most_members_[static_cast<std::size_t>(level) - 1]; }
  /// The part of `path` on `level`.
  int part(int path, int level) const;
  /// The most paths that one rank owns.
  int most_owned() const { return most_owned_; }

  /// Which child of a group of `level` owns the part that `path` names there.
  int owning_child(const Tier& group, int level, int path) const;
  /// The owner of a path and shard in a group of `level`.
  Rank owner(const Tier& group, int level, int path, int shard) const;

  /// The groups that a rank is in, from its node up, and the number of each in the next one; the last among the tops.
  struct Place {
    std::vector<const Tier*> tiers;
    std::vector<int> child;
    int top() const { return child.back(); }
  };
  Place place_of(Rank rank) const;

  /// Steps between the farthest rank of a group of `level` and the owner of `path`.
  int steps(const Tier& group, int level, int path) const;
  /// Elements that leave the busiest owner ÷ n, when it sends `exchange(top)` of what it owns in the exchange.
  double sent(const std::function<double(int top)>& exchange) const;
  /// What each top's owners bring into the exchange.
  std::vector<Span> spans() const;
  /// Of a shard: the most that a rank owns in the exchange, and that it sends on the levels before and after it.
  double largest_share() const;
  double largest_level_share() const;

 private:
  /// Of a shard: what a node's owner takes into the exchange, and what it sends on the levels in between.
  struct Share {
    double exchanged = 1, sent = 0;
  };
  Share share_of(const Place& place) const;
  void for_each_node(const std::function<void(const Place&)>& use) const;

  int shards_;
  std::vector<Tier> tops_;
  std::vector<int> parts_, most_members_;  // of levels 1 …
  int paths_ = 1;
  int most_owned_ = 1;
};

}  // namespace umbel::algos::all_reduce
