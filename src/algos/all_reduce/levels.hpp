// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The levels between the ranks and the exchange of the highest groups (groups.hpp): below them the ranks of a node in
// shared memory (hierarchy.hpp), then, level by level, groups of groups over the network.
//
// On each level the owners of a shard in a group's members `give` the others' parts to their owners, who `fold` them;
// what a rank folded goes on to the next level, and at last to the exchange. Finished units come back the same way:
// their owners `hand` them to all members of their groups, one level after the other. On the way out a unit is sent
// from the output, where its partial result lies, on the way back it is received straight into it, once it has left. In
// a group of one member a level vanishes.
//
// Each level has lanes of its own on the way out, so that a level waits only for those below it. On the way back one
// lane receives and one hands on, in the order: what this rank itself finished in the exchange, then what comes from
// owners one level down, and so on; so a unit waits only for units nearer to their owners.
#pragma once

#include <functional>
#include <vector>

#include "algos/all_reduce/groups.hpp"
#include "algos/all_reduce/hierarchy.hpp"
#include "algos/builder.hpp"
#include "algos/stream.hpp"

namespace umbel::algos::all_reduce {

class Levels {
 public:
  /// The elements of the current unit of a shard and path.
  using Units = std::function<Range(int shard, int path)>;
  /// What to raise, or to wait for, for a path that this rank owns.
  using Raises = std::function<Raise(int path)>;
  using Waits = std::function<Wait(int path)>;

  /// @param unit_blocks  blocks that a unit spans
  /// @param channel      the first of two channels per path; the exchange has the ones before
  Levels(Builder& builder, const Spec& spec, const Groups& groups, int unit_blocks, int channel);

  /// The own group among the exchange's members.
  int top() const { return place_.top(); }
  /// The shard and the paths that this rank owns in its group; no paths when it owns nothing.
  int shard() const { return hierarchy_.shard(); }
  const std::vector<int>& own_paths() const { return own_paths_; }
  /// The exchange's members for the own shard and a path, by group, and the lowest rank that each stands for.
  std::vector<Rank> members(int path) const;
  std::vector<Rank> lowest() const;
  /// Where the exchange finds its operands.
  Buffer own() const { return floors_.empty() ? hierarchy_.own() : Buffer::output; }
  /// A flag for partial or finished units of an own path; none where they are not signalled.
  Flag make_flag() { return floors_.empty() ? hierarchy_.make_flag() : b_.flag(); }

  /// The next unit of every shard and path; `partial` is raised for those this rank owns.
  void contribute(const Units& units, const Raises& partial);
  /// Once after each contribute() and before the distribute() that writes the same elements.
  void settle();
  /// The next finished unit of every shard and path; those this rank owns when `done`.
  void distribute(const Units& units, const Waits& done);
  /// To be called last.
  void finish() { hierarchy_.finish(); }

 private:
  /// A level on which the own group has several members.
  struct Floor {
    int level = 0;
    int child = 0;  // the own one
    const Tier* group = nullptr;
    LaneRef give{}, take{}, fold{};
    Flag own{}, other{};  // a unit is ready to be folded, or to be given
    Flag given{};         // a given unit has left the output
    int slot = 0;
    Pool pool{};  // of what others give
  };

  void open_floors();
  void open_back();
  std::vector<int> order(bool own_first) const;
  bool mine(const Floor& floor, int path) const {
    return groups_.owning_child(*floor.group, floor.level, path) == floor.child;
  }
  /// The first floor on which another rank owns the path.
  std::size_t foreign(int path) const;
  Rank member(const Floor& floor, int child, int path) const;
  Raise next(std::size_t floor, int path, const Raises& partial) const;
  void give(const Floor& floor, int path, const Slice& src);
  void fold(const Floor& floor, int path, const Range& range, const Slice& own, Raise then);
  Wait bring(int path, const Range& range, const Waits& done);
  void hand_down(std::size_t floors, int path, const Range& range);

  Builder& b_;
  const Groups& groups_;
  Hierarchy hierarchy_;
  Groups::Place place_;
  int depth_;
  int channel_;
  int region_ = -1;
  std::vector<Floor> floors_;
  std::vector<int> own_paths_;
  std::vector<int> out_order_, back_order_;
  LaneRef finish_, hand_, receive_;  // memory, net, net
  Flag handed_{}, published_{};      // a finished unit may be handed on, or shown to the node
  Flag near_{}, far_{};              // a unit has arrived that goes to the node only, or that is handed on first
};

/// Seconds that the levels between the nodes and the exchange take for `bytes` of the whole buffer, in `units` units.
double levels_cost(const CostQuery& query, const Groups& groups, double bytes, double units);

}  // namespace umbel::algos::all_reduce
