// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/stream.hpp"

#include <utility>

namespace umbel::algos {

Outbox::Outbox(Builder& builder, LaneRef memory, LaneRef net, const StreamPlace& place)
    : builder_(builder),
      memory_(memory),
      net_(net),
      place_(place),
      local_(builder.shape().same_node(builder.rank(), place.peer)) {
  if (local_) {
    free_ = builder_.hear(place_.kind + 1, place_.peer, place_.depth);
    filled_ = builder_.tell(place_.kind, place_.peer);
  }
}

Flag& Outbox::ready() {
  if (!ready_) ready_ = builder_.flag();
  return ready_;
}

Slice Outbox::slot(const Range& range, Wait turn) const {
  return builder_.window(range, builder_.rank(), place_.region,
                         {.base = place_.out_slot, .depth = place_.depth, .sem = turn.sem});
}

void Outbox::push(const Slice& src, const Range& range, Raise released) {
  if (local_) {
    builder_.wait(memory_, free_);
    builder_.copy(memory_, slot(range, free_), src);
    builder_.signal(memory_, filled_);
    if (released) builder_.signal(memory_, released);
  } else {
    builder_.signal(memory_, ready().raise);
    pass(src, range, ready().wait, released);
  }
}

void Outbox::pass(const Slice& src, const Range& range, Wait after, Raise released) {
  if (after) builder_.wait(local_ ? memory_ : net_, after);
  if (local_) {
    push(src, range, released);
  } else {
    builder_.send(net_, src, place_.peer, place_.channel, released);
  }
}

Slice Outbox::claim(const Range& range) {
  if (!free_) {
    const Flag credits = builder_.flag(place_.depth);
    free_ = credits.wait;
    returned_ = credits.raise;
  }
  builder_.wait(memory_, free_);
  return slot(range, free_);
}

void Outbox::publish(const Range& range) {
  if (local_) {
    builder_.signal(memory_, filled_);
    return;
  }
  builder_.signal(memory_, ready().raise);
  pass(slot(range, ready().wait), range, ready().wait, returned_);
}

Fanout::Fanout(Builder& builder, LaneRef memory, LaneRef net, const StreamPlace& place, std::span<const Rank> peers)
    : builder_(builder), memory_(memory), net_(net), place_(place) {
  for (Rank peer : peers) {
    if (builder_.shape().same_node(builder_.rank(), peer)) {
      free_.push_back(builder_.hear(place_.kind + 1, peer, place_.direct ? 0 : place_.depth));
      filled_.push_back(builder_.tell(place_.kind, peer));
    } else {
      remote_.push_back(peer);
    }
  }
}

void Fanout::push(const Slice& src, const Range& range, Wait after) {
  const bool direct = after && !has_local();  // nothing for the memory lane to do
  if (has_remote() && !direct && !ready_) ready_ = builder_.flag();
  if (after && has_local()) builder_.wait(memory_, after);
  if (has_remote() && !direct) builder_.signal(memory_, ready_.raise);
  if (has_local() && !place_.direct) {
    for (Wait free : free_) builder_.wait(memory_, free);
    const SlotRef slot{.base = place_.out_slot, .depth = place_.depth, .sem = free_.front().sem};
    builder_.copy(memory_, builder_.window(range, builder_.rank(), place_.region, slot), src);
  }
  for (Raise filled : filled_) builder_.signal(memory_, filled);
  if (has_remote()) {
    builder_.wait(net_, direct ? after : ready_.wait);
    for (Rank peer : remote_) builder_.send(net_, src, peer, place_.channel);
  }
}

void Fanout::finish() {
  if (!place_.direct) return;
  for (Wait read : free_) builder_.wait(memory_, read);
}

Pool make_pool(Builder& builder, int depth) { return {.credits = builder.flag(depth), .arrived = builder.flag()}; }

Inbox::Inbox(Builder& builder, LaneRef memory, LaneRef net, const StreamPlace& place, Pool pool)
    : builder_(builder),
      memory_(memory),
      net_(net),
      place_(place),
      local_(builder.shape().same_node(builder.rank(), place.peer)),
      pool_(pool) {
  if (local_) {
    filled_ = builder_.hear(place_.kind, place_.peer);
    free_ = builder_.tell(place_.kind + 1, place_.peer);
  } else {
    if (!pool_.credits) pool_ = make_pool(builder_, place_.depth);
    filled_ = pool_.arrived.wait;
    free_ = pool_.credits.raise;
  }
}

Slice Inbox::front(const Range& range) {
  const Rank owner = local_ ? place_.peer : builder_.rank();
  const int base = local_ ? place_.out_slot : place_.in_slot;
  auto slot = [&](Wait turn) {
    return builder_.window(range, owner, place_.region, {.base = base, .depth = place_.depth, .sem = turn.sem});
  };
  if (!local_) {
    builder_.wait(net_, pool_.credits.wait);
    builder_.recv(net_, slot(pool_.credits.wait), place_.peer, place_.channel, pool_.arrived.raise);
  }
  builder_.wait(memory_, filled_);
  return slot(filled_);
}

void Inbox::pop() { builder_.signal(memory_, free_); }

Landing::Landing(Builder& builder, LaneRef memory, LaneRef net, const StreamPlace& place)
    : builder_(builder),
      memory_(memory),
      net_(net),
      place_(place),
      local_(builder.shape().same_node(builder.rank(), place.peer)) {
  if (local_ && !place_.direct) slots_.emplace(builder, memory, net, place);
}

Wait Landing::take(const Range& range, bool heeded, Wait free) {
  const Slice here = builder_.output(range);
  if (slots_) {
    builder_.copy(memory_, here, slots_->front(range));
    slots_->pop();
    return {};
  }
  if (local_) {
    builder_.wait(memory_, builder_.hear(place_.kind, place_.peer));
    builder_.copy(memory_, here, builder_.output(range, place_.peer));
    return {};
  }
  if (heeded && !landed_) landed_ = builder_.flag();
  if (free) builder_.wait(net_, free);
  builder_.recv(net_, here, place_.peer, place_.channel, heeded ? landed_.raise : Raise{});
  return landed_.wait;
}

void Landing::finish() {
  if (local_ && place_.direct) builder_.signal(memory_, builder_.tell(place_.kind + 1, place_.peer));
}

Intake::Intake(Builder& builder, LaneRef memory, LaneRef net, std::vector<StreamPlace> places, Pool pool)
    : builder_(builder), memory_(memory), net_(net), places_(std::move(places)), pool_(pool) {
  for (const StreamPlace& place : places_) {
    if (local(place)) {
      near_.emplace_back(builder, memory, net, place);
    } else {
      last_ = place.peer;
    }
  }
  if (last_ >= 0 && !pool_.credits) pool_ = make_pool(builder, places_.front().depth);
}

std::vector<Slice> Intake::front(const Range& range) {
  auto slot = [&](const StreamPlace& place, Wait turn) {
    return builder_.window(range, builder_.rank(), place.region,
                           {.base = place.in_slot, .depth = place.depth, .sem = turn.sem});
  };
  if (last_ >= 0) builder_.wait(net_, pool_.credits.wait);
  for (const StreamPlace& place : places_)
    if (!local(place))  // they arrive in this order
      builder_.recv(net_, slot(place, pool_.credits.wait), place.peer, place.channel,
                    place.peer == last_ ? pool_.arrived.raise : Raise{});
  if (last_ >= 0) builder_.wait(memory_, pool_.arrived.wait);
  std::vector<Slice> slices;
  auto near = near_.begin();
  for (const StreamPlace& place : places_)
    slices.push_back(local(place) ? (near++)->front(range) : slot(place, pool_.arrived.wait));
  return slices;
}

void Intake::pop() {
  for (Inbox& inbox : near_) inbox.pop();
  if (last_ >= 0) builder_.signal(memory_, pool_.credits.raise);
}

}  // namespace umbel::algos
