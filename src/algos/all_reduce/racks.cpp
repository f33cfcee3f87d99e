// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/all_reduce/racks.hpp"

#include <algorithm>

#include "algos/order.hpp"

namespace umbel::algos::all_reduce {
namespace {

// The exchange between racks has channel 0, and other peers.
constexpr int kGiveChannel = 1;
constexpr int kHandChannel = 2;

}  // namespace

Racks::Racks(const Shape& shape) {
  for (const Group& group : shape.root().children) nodes.push_back(nodes_in_order(group));
  const bool even = std::ranges::all_of(nodes, [&](const auto& rack) { return rack.size() == nodes.front().size(); });
  if (even && !nodes.empty()) return;
  nodes.clear();
  for (const auto& node : nodes_in_order(shape.root())) nodes.push_back({node});
}

RackLevel::RackLevel(Builder& builder, const Spec& spec, const Racks& racks, Hierarchy& hierarchy)
    : b_(builder), hierarchy_(hierarchy), racks_(racks), depth_(spec.depth), parts_(racks.nodes_each()) {
  for (int rack = 0; rack < racks_.count(); ++rack)
    for (int part = 0; part < parts_; ++part)
      if (std::ranges::count(racks_.nodes[static_cast<std::size_t>(rack)][static_cast<std::size_t>(part)], b_.rank()) >
          0) {
        rack_ = rack;
        part_ = part;
      }
  if (parts_ == 1) return;
  region_ = b_.region(parts_ * depth_);
  if (hierarchy_.owns()) open();
}

void RackLevel::open() {
  give_ = b_.net_lane();
  take_ = b_.net_lane();
  fold_ = b_.memory_lane();
  hand_ = b_.net_lane();
  receive_ = b_.net_lane();
  own_partial_ = hierarchy_.make_flag();
  other_partial_ = hierarchy_.make_flag();
  given_ = b_.flag();
  if (!hierarchy_.alone()) {
    finish_ = b_.memory_lane();
    handed_ = b_.flag();
    published_ = b_.flag();
    landed_ = b_.flag();
  }
  for (int part = 0; part < parts_; ++part)
    if (part != part_)
      takes_.emplace_back(b_, fold_, take_,
                          StreamPlace{.peer = owner(part),
                                      .region = region_,
                                      .in_slot = part * depth_,
                                      .depth = depth_,
                                      .channel = kGiveChannel});
}

Rank RackLevel::owner(int part) const {
  const auto& rack = racks_.nodes[static_cast<std::size_t>(rack_)];
  return rack[static_cast<std::size_t>(part)][static_cast<std::size_t>(hierarchy_.shard())];
}

std::vector<Rank> RackLevel::members() const {
  std::vector<Rank> ranks;
  for (const auto& rack : racks_.nodes)
    ranks.push_back(rack[static_cast<std::size_t>(part_)][static_cast<std::size_t>(hierarchy_.shard())]);
  return ranks;
}

std::vector<Rank> RackLevel::lowest() const {
  std::vector<Rank> ranks;
  for (const auto& rack : racks_.nodes) ranks.push_back(rack.front().front());
  return ranks;
}

void RackLevel::contribute(const Units& units, Raise partial) {
  if (parts_ == 1) {
    hierarchy_.contribute(units(0), partial);
    return;
  }
  // The others' parts first, beginning after the own: a rack's nodes turn to different owners.
  for (int k = 1; k <= parts_; ++k) {
    const int part = (part_ + k) % parts_;
    const Hierarchy::Unit unit = units(part);
    hierarchy_.contribute(unit, part == part_ ? own_partial_.raise : other_partial_.raise);
    if (!hierarchy_.owns()) continue;
    if (part == part_) {
      fold(unit(hierarchy_.shard()), partial);
    } else {
      give(part, unit(hierarchy_.shard()));
    }
  }
}

void RackLevel::give(int part, const Range& range) {
  if (other_partial_) b_.wait(give_, other_partial_.wait);
  const Slice src = hierarchy_.own() == Buffer::input ? b_.input(range) : b_.output(range);
  b_.send(give_, src, owner(part), kGiveChannel, given_.raise);
}

void RackLevel::fold(const Range& range, Raise partial) {
  if (own_partial_) b_.wait(fold_, own_partial_.wait);
  std::vector<Slice> operands;
  for (Inbox& take : takes_) operands.push_back(take.front(range));
  const Slice own = hierarchy_.own() == Buffer::input ? b_.input(range) : b_.output(range);
  operands.insert(operands.begin() + part_, own);  // nodes are in the order of their lowest ranks
  b_.reduce(fold_, b_.output(range), operands);
  for (Inbox& take : takes_) take.pop();
  b_.signal(fold_, partial);
}

void RackLevel::settle() {
  if (parts_ > 1 && hierarchy_.owns()) b_.wait(receive_, given_.wait, parts_ - 1);
}

void RackLevel::distribute(const Units& units, Wait done) {
  if (parts_ == 1) {
    hierarchy_.distribute(units(0), done);
    return;
  }
  for (int k = 0; k < parts_; ++k) {
    const int part = (part_ + k) % parts_;
    const Hierarchy::Unit unit = units(part);
    if (hierarchy_.owns()) {
      const Range range = unit(hierarchy_.shard());
      if (part == part_) {
        hand_out(range, done);
      } else {
        b_.recv(receive_, b_.output(range), owner(part), kHandChannel, landed_.raise);
      }
    }
    hierarchy_.distribute(unit, part == part_ ? published_.wait : landed_.wait);
  }
}

void RackLevel::hand_out(const Range& range, Wait done) {
  if (hierarchy_.alone()) {
    b_.wait(hand_, done);
  } else {
    b_.wait(finish_, done);
    b_.signal(finish_, handed_.raise);
    b_.signal(finish_, published_.raise);
    b_.wait(hand_, handed_.wait);
  }
  for (int k = 1; k < parts_; ++k) b_.send(hand_, b_.output(range), owner((part_ + k) % parts_), kHandChannel);
}

}  // namespace umbel::algos::all_reduce
