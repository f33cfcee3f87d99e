// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/all_reduce/levels.hpp"

#include <algorithm>

#include "algos/cost.hpp"

namespace umbel::algos::all_reduce {

Levels::Levels(Builder& builder, const Spec& spec, const Groups& groups, int unit_blocks, int channel)
    : b_(builder),
      groups_(groups),
      hierarchy_(builder, spec, unit_blocks),
      place_(groups.place_of(builder.rank())),
      depth_(spec.depth),
      channel_(channel) {
  // Slots of each level: for what others give, and for partial results.
  int slots = 0;
  for (int level = 1; level <= groups_.levels(); ++level) {
    const int most = groups_.most_members(level), partials = spec.ordered ? fold_slots(most) : 0;
    const Tier* group = place_.tiers[static_cast<std::size_t>(level)];
    if (group->children.size() > 1)
      floors_.push_back({.level = level,
                         .child = place_.child[static_cast<std::size_t>(level) - 1],
                         .group = group,
                         .slot = slots,
                         .partials = {.region = partials > 0 ? 0 : -1, .first = slots + most * depth_}});
    slots += most * depth_ + partials;
  }
  if (slots > 0) region_ = b_.region(slots, unit_blocks);
  for (Floor& floor : floors_)
    if (floor.partials) floor.partials.region = region_;
  out_order_ = order(false);
  back_order_ = order(true);
  if (!hierarchy_.owns()) return;
  for (int path = 0; path < groups_.paths(); ++path)
    if (foreign(path) == floors_.size()) own_paths_.push_back(path);
  open_floors();
  if (!floors_.empty()) open_back();
}

void Levels::open_floors() {
  for (Floor& floor : floors_) {
    const bool first = &floor == floors_.data();
    floor.give = b_.net_lane();
    floor.take = b_.net_lane();
    floor.fold = b_.memory_lane();
    floor.own = first ? hierarchy_.make_flag() : b_.flag();
    floor.other = first ? hierarchy_.make_flag() : b_.flag();
    floor.given = b_.flag();
    floor.pool = make_pool(b_, depth_);
  }
}

void Levels::open_back() {
  receive_ = b_.net_lane();
  hand_ = b_.net_lane();
  if (floors_.size() > 1) far_ = b_.flag();
  if (hierarchy_.alone()) return;
  finish_ = b_.memory_lane();
  handed_ = b_.flag();
  published_ = b_.flag();
  near_ = b_.flag();
}

/// All paths, by the highest level first, and on each level beginning with the own parts or behind them: the members of
/// a group turn to different ones.
std::vector<int> Levels::order(bool own_first) const {
  std::vector<int> paths{0};
  int stride = 1;
  for (int level = groups_.levels(); level >= 1; --level) {
    const int parts = groups_.parts(level);
    const Tier& group = *place_.tiers[static_cast<std::size_t>(level)];
    const int child = place_.child[static_cast<std::size_t>(level) - 1];
    std::vector<int> own, others;
    for (int part = 0; part < parts; ++part)
      (groups_.owning_child(group, level, part * stride) == child ? own : others).push_back(part);
    const int behind = own.empty() ? child % parts : own.back();
    std::rotate(others.begin(), std::ranges::lower_bound(others, behind), others.end());
    std::vector<int>& all = own_first ? own : others;
    all.insert(all.end(), own_first ? others.begin() : own.begin(), own_first ? others.end() : own.end());
    std::vector<int> longer;
    for (int path : paths)
      for (int part : all) longer.push_back(path + part * stride);
    paths = std::move(longer);
    stride *= parts;
  }
  return paths;
}

std::size_t Levels::foreign(int path) const {
  const auto found = std::ranges::find_if(floors_, [&](const Floor& floor) { return !mine(floor, path); });
  return static_cast<std::size_t>(found - floors_.begin());
}

Rank Levels::member(const Floor& floor, int child, int path) const {
  return groups_.owner(floor.group->children[static_cast<std::size_t>(child)], floor.level - 1, path, shard());
}

std::vector<Rank> Levels::members(int path) const {
  std::vector<Rank> ranks;
  for (const Tier& top : groups_.tops()) ranks.push_back(groups_.owner(top, groups_.levels(), path, shard()));
  return ranks;
}

std::vector<Rank> Levels::lowest() const {
  std::vector<Rank> ranks;
  for (const Tier& top : groups_.tops()) ranks.push_back(top.ranks.front());
  return ranks;
}

/// What is raised when a unit is ready for `floor`, or for the exchange behind the last one.
Raise Levels::next(std::size_t floor, int path, const Raises& partial) const {
  if (floor == floors_.size()) return partial(path);
  return mine(floors_[floor], path) ? floors_[floor].own.raise : floors_[floor].other.raise;
}

void Levels::contribute(const Units& units, const Raises& partial) {
  for (int path : out_order_) {
    const bool owns = hierarchy_.owns();
    hierarchy_.contribute([&](int shard) { return units(shard, path); }, owns ? next(0, path, partial) : Raise{});
    if (!owns) continue;
    const Range range = units(shard(), path);
    const std::size_t last = foreign(path);
    Slice at = hierarchy_.own() == Buffer::input ? b_.input(range) : b_.output(range);
    for (std::size_t f = 0; f < last; ++f) {
      fold(floors_[f], path, range, at, next(f + 1, path, partial));
      at = b_.output(range);
    }
    if (last < floors_.size()) give(floors_[last], path, at);
  }
}

void Levels::give(const Floor& floor, int path, const Slice& src) {
  if (floor.other) b_.wait(floor.give, floor.other.wait);
  const Rank owner = member(floor, groups_.owning_child(*floor.group, floor.level, path), path);
  b_.send(floor.give, src, owner, channel_ + path, floor.given.raise);
}

void Levels::fold(const Floor& floor, int path, const Range& range, const Slice& own, Raise then) {
  if (floor.own) b_.wait(floor.fold, floor.own.wait);
  std::vector<StreamPlace> places;
  for (int child = 0; child < static_cast<int>(floor.group->children.size()); ++child)
    if (child != floor.child)
      places.push_back({.peer = member(floor, child, path),
                        .region = region_,
                        .in_slot = floor.slot + child * depth_,
                        .depth = depth_,
                        .channel = channel_ + path});
  Intake intake(b_, floor.fold, floor.take, std::move(places), floor.pool);
  std::vector<Slice> operands = intake.front(range);
  operands.insert(operands.begin() + floor.child, own);  // children are in the order of their lowest ranks
  b_.fold_as_tree(floor.fold, range, b_.output(range), operands, false, floor.partials);
  intake.pop();
  if (then) b_.signal(floor.fold, then);
}

void Levels::settle() {
  for (std::size_t f = 0; f < floors_.size() && hierarchy_.owns(); ++f) {
    const auto given = std::ranges::count_if(out_order_, [&](int path) { return foreign(path) == f; });
    b_.wait(receive_, floors_[f].given.wait, static_cast<int>(given));
  }
}

void Levels::distribute(const Units& units, const Waits& done) {
  for (int path : back_order_) {
    const Wait finished = hierarchy_.owns() ? bring(path, units(shard(), path), done) : Wait{};
    hierarchy_.distribute([&](int shard) { return units(shard, path); }, finished);
  }
}

/// Gets a finished unit into the output and hands it to other members; returns what the node waits for.
Wait Levels::bring(int path, const Range& range, const Waits& done) {
  const std::size_t from = foreign(path);
  Wait arrived;
  if (from == floors_.size()) {
    arrived = done(path);
  } else {
    const Floor& floor = floors_[from];
    const Rank owner = member(floor, groups_.owning_child(*floor.group, floor.level, path), path);
    const Flag& landed = from > 0 ? far_ : near_;
    b_.recv(receive_, b_.output(range), owner, channel_ + groups_.paths() + path, landed.raise);
    arrived = landed.wait;
  }
  if (from == 0) return arrived;
  if (hierarchy_.alone()) {
    b_.wait(hand_, arrived);
  } else {
    b_.wait(finish_, arrived);
    b_.signal(finish_, handed_.raise);
    b_.signal(finish_, published_.raise);
    b_.wait(hand_, handed_.wait);
  }
  hand_down(from, path, range);
  return published_.wait;
}

void Levels::hand_down(std::size_t floors, int path, const Range& range) {
  for (std::size_t f = floors; f-- > 0;) {
    const auto members = static_cast<int>(floors_[f].group->children.size());
    for (int k = 1; k < members; ++k)
      b_.send(hand_, b_.output(range), member(floors_[f], (floors_[f].child + k) % members, path),
              channel_ + groups_.paths() + path);
  }
}

double levels_cost(const CostQuery& query, const Groups& groups, double bytes, double units) {
  if (groups.levels() == 0) return 0;
  const CostTerms t(query);
  const double moved = bytes / groups.shards() * groups.largest_level_share() / 2;
  const double messages = units * groups.paths();
  return t.net_hop(moved, messages, groups.shards(), t.fold(moved)) + t.net_hop(moved, messages, groups.shards(), 0) +
         2 * (groups.levels() - 1) * (t.message() + t.post());
}

}  // namespace umbel::algos::all_reduce
