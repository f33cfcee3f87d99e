// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/all_reduce/hierarchy.hpp"

#include <algorithm>

#include "algos/cost.hpp"

namespace umbel::algos::all_reduce {
namespace {

enum Kind { kShown = 0, kPublished = 2, kEntered = 4, kLeft = 5 };
static_assert(kLeft + 1 == Hierarchy::kKinds);

}  // namespace

Hierarchy::Hierarchy(Builder& builder, const Spec& spec, int unit_blocks)
    : b_(builder),
      direct_(spec.direct),
      depth_(spec.depth),
      shards_(shards(b_.shape())),
      shard_(b_.shape().local_index(b_.rank()) < shards_ ? b_.shape().local_index(b_.rank()) : -1) {
  for (Rank mate : b_.shape().peers_of(b_.rank())) {
    if (mate == b_.rank()) continue;
    mates_.push_back(mate);
    if (b_.shape().local_index(mate) < shards_) other_owners_.push_back(mate);
  }
  if (!direct_ && b_.shape().largest_node() > 1) region_ = b_.region((shards_ + 1) * depth_, unit_blocks);
  if (alone()) return;
  show_ = b_.memory_lane();
  fold_ = b_.memory_lane();
  publish_ = b_.memory_lane();
  gather_ = b_.memory_lane();
  if (!direct_) {
    open_streams();
    return;
  }
  for (Rank owner : other_owners_) b_.signal(fold_, b_.tell(kEntered, owner));
  if (!owns()) return;
  for (Rank mate : mates_) b_.wait(fold_, b_.hear(kEntered, mate));
}

void Hierarchy::open_streams() {
  // Slots: `depth` for each shard that is shown, then for what is published.
  auto shown = [&](Rank peer, int shard) {
    return StreamPlace{.peer = peer, .kind = kShown, .region = region_, .out_slot = shard * depth_, .depth = depth_};
  };
  auto published = [&](Rank peer) {
    return StreamPlace{
        .peer = peer, .kind = kPublished, .region = region_, .out_slot = shards_ * depth_, .depth = depth_};
  };
  for (Rank owner : other_owners_) {
    shown_.emplace_back(b_, show_, LaneRef{}, shown(owner, b_.shape().local_index(owner)));
    results_.emplace_back(b_, gather_, LaneRef{}, published(owner));
  }
  if (!owns()) return;
  for (Rank mate : mates_) contributions_.emplace_back(b_, fold_, LaneRef{}, shown(mate, shard_));
  published_.emplace(b_, publish_, LaneRef{}, published(b_.rank()), mates_);
}

void Hierarchy::contribute(const Unit& unit, Raise partial) {
  if (alone()) return;
  for (std::size_t k = 0; k < shown_.size(); ++k) {
    const Range range = unit(b_.shape().local_index(other_owners_[k]));
    shown_[k].push(b_.input(range), range);
  }
  if (!owns()) return;
  const Range range = unit(shard_);
  std::vector<Slice> operands;
  std::size_t next = 0;
  for (Rank rank : b_.shape().peers_of(b_.rank())) {
    if (rank == b_.rank())
      operands.push_back(b_.input(range));
    else if (direct_)
      operands.push_back(b_.input(range, rank));
    else
      operands.push_back(contributions_[next++].front(range));
  }
  b_.reduce(fold_, b_.output(range), operands);
  for (Inbox& inbox : contributions_) inbox.pop();
  b_.signal(fold_, partial);
}

void Hierarchy::distribute(const Unit& unit, Wait done) {
  if (alone()) return;
  if (owns()) {
    const Range range = unit(shard_);
    if (direct_) {
      b_.wait(publish_, done);
      for (Rank mate : mates_) b_.signal(publish_, b_.tell(kPublished, mate));
    } else {
      published_->push(b_.output(range), range, done);
    }
  }
  for (std::size_t k = 0; k < other_owners_.size(); ++k) {
    const Rank owner = other_owners_[k];
    const Range range = unit(b_.shape().local_index(owner));
    if (direct_) {
      b_.wait(gather_, b_.hear(kPublished, owner));
      b_.copy(gather_, b_.output(range), b_.output(range, owner));
    } else {
      b_.copy(gather_, b_.output(range), results_[k].front(range));
      results_[k].pop();
    }
  }
}

void Hierarchy::finish() {
  if (alone() || !direct_) return;
  for (Rank owner : other_owners_) b_.signal(gather_, b_.tell(kLeft, owner));
  if (!owns()) return;
  for (Rank mate : mates_) b_.wait(publish_, b_.hear(kLeft, mate));
}

double inner_cost(const CostQuery& query, double bytes, double units) {
  const CostTerms t(query);
  const int ranks = query.shape.largest_node();
  if (ranks == 1) return 0;
  const int shards = Hierarchy::shards(query.shape);
  const double shard = bytes / shards;
  const double flags = 2 * units * t.flags(ranks - 1);
  const double fold = t.fold(shard, ranks);
  if (query.spec.direct) return flags + fold + t.read_direct((ranks - 1) * shard + bytes - shard);
  return flags + fold + t.copy(bytes) + t.read((ranks - 1) * shard + bytes - shard);
}

}  // namespace umbel::algos::all_reduce
