// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/all_reduce/halving.hpp"

#include <algorithm>

#include "algos/order.hpp"

namespace umbel::algos::all_reduce {
namespace {

// Image slots of a rank's own window: what it gives away while halving (a passive member: all it has), what it hands on
// while doubling, and the result for the passive member of its pair. One of each will do, without credits: all partners
// are heard again before a slot is written again, and a partner is heard after it has read.
enum Image { kGiven, kGathered, kResult };
static_assert(kResult + 1 == kHalvingImages);

}  // namespace

int halving_blocks(int members) { return 1 << floor_log2(members); }

int halving_arrival_blocks(int members) {
  const int blocks = halving_blocks(members);
  return blocks == members ? std::max(1, blocks / 2) : blocks;
}

Halving::Halving(Builder& builder, const HalvingSetup& setup)
    : b_(builder),
      setup_(setup),
      role_(PairedRole::of(setup.here, static_cast<int>(setup.members.size()))),
      blocks_(halving_blocks(static_cast<int>(setup.members.size()))),
      memory_(b_.memory_lane()),
      send_(b_.net_lane()),
      recv_(b_.net_lane()) {
  const bool remote_pair = role_.pair >= 0 && !local(role_.pair);
  if (role_.active()) {
    int first = setup_.first_block;
    for (int j = 0; j < role_.rounds; ++j) {
      Round round{.partner = PairedRole::member(role_.number ^ (1 << j), static_cast<int>(setup_.members.size())),
                  .blocks = blocks_ >> (j + 1),
                  .lower = (role_.number >> j & 1) == 0};
      round.keep = round.lower ? first : first + round.blocks;
      round.give = round.lower ? first + round.blocks : first;
      first = round.keep;
      remote_rounds_ += local(round.partner) ? 0 : 1;
      rounds_.push_back(round);
    }
    if (remote_rounds_ > 0 || remote_pair) pool_ = make_pool(b_, setup_.depth);
  }
  if (remote_rounds_ > 0 || remote_pair) ready_ = b_.flag();
  const bool receives_result = remote_rounds_ > 0 || (remote_pair && !role_.active());
  if (receives_result) sent_ = b_.flag();
  if (receives_result && (role_.active() || setup_.done)) landed_ = b_.flag();
}

Range Halving::range(int first, int blocks, Counter i) const {
  return {.block = fixed(first), .blocks = blocks, .piece = counted(i)};
}

void Halving::give(int index, const Slice& src, const Range& range, int slot, Raise sent) {
  if (local(index)) {
    b_.copy(memory_, image(slot, range, b_.rank()), src);
    b_.signal(memory_, b_.tell(setup_.kind, rank_of(index)));
    return;
  }
  b_.signal(memory_, ready_.raise);
  b_.wait(send_, ready_.wait);
  b_.send(send_, src, rank_of(index), setup_.channel, sent);
}

Slice Halving::see(int index, const Range& range, int slot) {
  if (local(index)) {
    b_.wait(memory_, b_.hear(setup_.kind, rank_of(index)));
    return image(slot, range, rank_of(index));
  }
  auto arrival = [&](Wait turn) {
    return b_.window(range, b_.rank(), setup_.arrivals,
                     {.base = setup_.first_arrival, .depth = setup_.depth, .sem = turn.sem});
  };
  b_.wait(recv_, pool_.credits.wait);
  b_.recv(recv_, arrival(pool_.credits.wait), rank_of(index), setup_.channel, pool_.arrived.raise);
  b_.wait(memory_, pool_.arrived.wait);
  return arrival(pool_.arrived.wait);
}

void Halving::seen(int index) {
  if (!local(index)) b_.signal(memory_, pool_.credits.raise);
}

void Halving::exchange(Counter i) {
  if (setup_.partial) b_.wait(memory_, setup_.partial);
  if (!role_.active()) {
    exchange_passive(i);
  } else {
    Buffer own = setup_.own;
    if (role_.pair >= 0) {
      const Slice theirs = see(role_.pair, everything(i), kGiven);
      b_.reduce(memory_, b_.output(everything(i)), {at(own, everything(i)), theirs});
      seen(role_.pair);
      own = Buffer::output;
    }
    reduce_scatter(i, own);
    all_gather(i);
    if (role_.pair >= 0) give(role_.pair, b_.output(everything(i)), everything(i), kResult, {});
  }
  if (setup_.done) b_.signal(memory_, setup_.done);
}

void Halving::exchange_passive(Counter i) {
  const Range all = everything(i);
  give(role_.pair, at(setup_.own, all), all, kGiven, sent_.raise);
  if (local(role_.pair)) {
    b_.copy(memory_, b_.output(all), see(role_.pair, all, kResult));
    return;
  }
  b_.wait(recv_, sent_.wait);
  b_.recv(recv_, b_.output(all), rank_of(role_.pair), setup_.channel, landed_.raise);
  if (landed_) b_.wait(memory_, landed_.wait);
}

void Halving::reduce_scatter(Counter i, Buffer own) {
  for (std::size_t j = 0; j < rounds_.size(); ++j) {
    const Round& round = rounds_[j];
    const Range given = range(round.give, round.blocks, i);
    const Range kept = range(round.keep, round.blocks, i);
    give(round.partner, at(own, given), given, kGiven, sent_.raise);
    const Slice theirs = see(round.partner, kept, kGiven);
    const Slice mine = at(own, kept);
    const Slice operands[2] = {round.lower ? mine : theirs, round.lower ? theirs : mine};
    b_.reduce(memory_, b_.output(kept), operands, j + 1 == rounds_.size());
    seen(round.partner);
    own = Buffer::output;
  }
}

/// The rounds backwards: what was given away comes back finished.
void Halving::all_gather(Counter i) {
  int still_leaving = remote_rounds_;
  int first = rounds_.back().keep, blocks = 1;
  std::vector<Range> unshown{range(first, blocks, i)};  // parts of what is held that are not in the image yet
  for (auto round = rounds_.rbegin(); round != rounds_.rend(); ++round) {
    const Range mine = range(first, blocks, i);
    const Range theirs = range(round->give, round->blocks, i);
    if (local(round->partner)) {
      for (const Range& part : unshown) b_.copy(memory_, image(kGathered, part, b_.rank()), b_.output(part));
      unshown.clear();
      b_.signal(memory_, b_.tell(setup_.kind, rank_of(round->partner)));
      b_.copy(memory_, b_.output(theirs), see(round->partner, theirs, kGathered));
    } else {
      give(round->partner, b_.output(mine), mine, kGathered, {});
      // Straight into the output, once everything given away in this piece has left it.
      b_.wait(recv_, sent_.wait, still_leaving);
      still_leaving = 0;
      const bool last = std::next(round) == rounds_.rend() && !setup_.done && role_.pair < 0;  // nobody uses it here
      b_.recv(recv_, b_.output(theirs), rank_of(round->partner), setup_.channel, last ? Raise{} : landed_.raise);
      if (!last) b_.wait(memory_, landed_.wait);
    }
    unshown.push_back(theirs);
    first = std::min(first, round->give);
    blocks *= 2;
  }
}

}  // namespace umbel::algos::all_reduce
