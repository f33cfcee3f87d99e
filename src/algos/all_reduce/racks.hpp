// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// A level between the nodes and the exchange: racks, or whatever the groups of nodes are. What hierarchy.hpp does with
// the ranks of a node in shared memory, this does with a rack's owners of a shard over the network.
//
// A shard is cut in as many parts as a rack has nodes; part q of every shard belongs to the rack's node q. Owners
// `give` the other parts' units to the parts' owners, who `fold` them; the parts' owners exchange between racks; then
// they `hand` the finished units back to the rack. On the way out a unit is sent from the output, where the node's sum
// lies, on the way back it is received straight into it, once all that was given has left. With one node a rack all of
// this vanishes.
#pragma once

#include <functional>
#include <vector>

#include "algos/all_reduce/hierarchy.hpp"
#include "algos/builder.hpp"
#include "algos/stream.hpp"

namespace umbel::algos::all_reduce {

/// The nodes of a shape, by rack. Racks have equal numbers of nodes: where they have not, every node is its own rack.
struct Racks {
  std::vector<std::vector<std::vector<Rank>>> nodes;  ///< [rack][node of the rack][rank of the node]

  explicit Racks(const Shape& shape);
  int count() const { return static_cast<int>(nodes.size()); }
  int nodes_each() const { return static_cast<int>(nodes.front().size()); }
};

class RackLevel {
 public:
  /// The elements of the current unit of a part of every shard.
  using Units = std::function<Hierarchy::Unit(int part)>;

  RackLevel(Builder& builder, const Spec& spec, const Racks& racks, Hierarchy& hierarchy);

  int rack() const { return rack_; }
  /// The part of each shard that this node's owners own.
  int part() const { return part_; }
  /// The exchange's members for this rank's unit, by rack, and the lowest rank that each stands for.
  std::vector<Rank> members() const;
  std::vector<Rank> lowest() const;
  /// Where the exchange finds its operands.
  Buffer own() const { return parts_ > 1 ? Buffer::output : hierarchy_.own(); }
  /// A flag for partial or finished units; none where they are not signalled.
  Flag make_flag() { return parts_ > 1 && hierarchy_.owns() ? b_.flag() : hierarchy_.make_flag(); }

  /// The next unit of every part of every shard; `partial` is raised for the own one.
  void contribute(const Units& units, Raise partial);
  /// Between the last contribute() and the first distribute(), inside a loop over all units.
  void settle();
  /// The next finished unit of every part of every shard; the own one when `done`.
  void distribute(const Units& units, Wait done);

 private:
  void open();
  Rank owner(int part) const;
  void give(int part, const Range& range);
  void fold(const Range& range, Raise partial);
  void hand_out(const Range& range, Wait done);

  Builder& b_;
  Hierarchy& hierarchy_;
  const Racks& racks_;
  int depth_;
  int rack_ = 0, part_ = 0, parts_;
  int region_ = -1;
  LaneRef give_, take_, fold_;            // out: net, net, memory
  LaneRef finish_, hand_, receive_;       // back: memory, net, net
  Flag own_partial_{}, other_partial_{};  // from the node
  Flag given_{};                          // a given unit has left the output
  Flag handed_{}, published_{}, landed_{};
  std::vector<Inbox> takes_;  // by other part
};

}  // namespace umbel::algos::all_reduce
