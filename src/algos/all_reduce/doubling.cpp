// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/all_reduce/doubling.hpp"

#include <algorithm>

#include "algos/order.hpp"

namespace umbel::algos::all_reduce {
namespace {

// What a member shows lies in its own window, in rows of two slots that alternate from piece to piece: row 0 for the
// operand of a pair's passive member, row 1 for the pair's result, then a row a round. Behind them are the slots for
// what arrives over a net. No credits are needed between node-mates: a partner shows piece i+1 only after it has read
// piece i, so when that is seen, the slot of piece i is free for piece i+2.
constexpr int kRowSlots = 2;
constexpr int kPairRow = 0;
constexpr int kResultRow = 1;
constexpr int kRoundRow = 2;

std::vector<Slice> slices_of(std::span<const Operand> operands) {
  std::vector<Slice> slices;
  for (const Operand& operand : operands) slices.push_back(operand.slice);
  return slices;
}

}  // namespace

PairedRole PairedRole::of(int index, int members) {
  PairedRole role;
  role.rounds = floor_log2(members);
  const int extra = members - (1 << role.rounds);
  if (index < 2 * extra) {
    role.pair = index ^ 1;
    role.number = index % 2 == 0 ? index / 2 : -1;
  } else {
    role.number = index - extra;
  }
  return role;
}

int PairedRole::member(int number, int members) {
  const int extra = members - (1 << floor_log2(members));
  return number < extra ? 2 * number : number + extra;
}

int doubling_slots(int members, int depth) { return kRowSlots * (kRoundRow + floor_log2(members)) + depth; }

int doubling_sent(int index, int members) {
  const PairedRole role = PairedRole::of(index, members);
  return role.active() ? role.rounds + (role.pair >= 0 ? 1 : 0) : 1;
}

DoublingTraffic doubling_traffic(int members) {
  const int rounds = floor_log2(members);
  const int pairs = members - (1 << rounds);
  // From a pair's passive member through all rounds takes rounds + 1. It takes one more to get into another pair, if
  // some two pairs are as far apart as all the rounds: their numbers are below `pairs`, so when that is above half.
  const bool far = 2 * pairs > 1 << rounds;
  return {.steps = rounds + (pairs > 0 ? 1 : 0) + (far ? 1 : 0), .sent = rounds + (pairs > 0 ? 1 : 0)};
}

Span doubling_span(const std::vector<std::vector<Span>>& members) {
  std::vector<Span> active;  // by number
  const auto count = static_cast<int>(members.size());
  for (int number = 0; number < 1 << floor_log2(count); ++number) {
    const int index = PairedRole::member(number, count);
    std::vector<Span> operands = members[static_cast<std::size_t>(index)];
    const int pair = PairedRole::of(index, count).pair;
    if (pair >= 0) operands.push_back(fold(members[static_cast<std::size_t>(pair)]));
    active.push_back(fold(operands));
  }
  for (std::size_t left = active.size() / 2; left > 0; left /= 2)
    for (std::size_t k = 0; k < left; ++k) active[k] = fold({active[2 * k], active[2 * k + 1]});
  return active.front();
}

Span doubling_span(const std::vector<Span>& members) {
  std::vector<std::vector<Span>> lists;
  for (const Span& member : members) lists.push_back({member});
  return doubling_span(lists);
}

bool round_leaves_nodes(const Shape& shape, int bit) {
  const int p = shape.ranks();
  for (int number = 0; number < 1 << floor_log2(p); ++number)
    if ((number & bit) == 0 && !shape.same_node(PairedRole::member(number, p), PairedRole::member(number | bit, p)))
      return true;
  return false;
}

bool pairs_share_nodes(const Shape& shape) {
  for (Rank rank = 0; rank < shape.ranks(); ++rank)
    if (const int pair = PairedRole::of(rank, shape.ranks()).pair; pair >= 0 && !shape.same_node(rank, pair))
      return false;
  return true;
}

Doubling::Doubling(Builder& builder, LaneRef memory, const DoublingSetup& setup)
    : b_(builder),
      setup_(setup),
      role_(PairedRole::of(setup.here, static_cast<int>(setup.members.size()))),
      memory_(memory),
      send_(b_.net_lane()),
      recv_(b_.net_lane()) {
  const bool remote_pair = role_.pair >= 0 && !local(role_.pair);
  if (!role_.active()) {
    if (remote_pair) {
      ready_ = b_.flag();
      sent_ = b_.flag();
      if (setup_.goes_on) landed_ = b_.flag();
    }
    return;
  }
  for (int round = 0; round < role_.rounds; ++round) remote_rounds_ += local(partner(round)) ? 0 : 1;
  if (remote_rounds_ > 0) sent_ = b_.flag(kRowSlots * remote_rounds_);
  if (remote_rounds_ > 0 || remote_pair) {
    ready_ = b_.flag();
    pool_ = make_pool(b_, setup_.depth);
  }
}

int Doubling::partner(int round) const {
  return PairedRole::member(role_.number ^ (1 << round), static_cast<int>(setup_.members.size()));
}

Slice Doubling::slot(int row, Rank of, const Range& piece, Counter i) const {
  return b_.window(piece, of, setup_.region,
                   {.base = setup_.slot + kRowSlots * row, .depth = kRowSlots, .index = counted(i)});
}

void Doubling::show(int index, const Slice& slot) {
  if (local(index)) {
    b_.signal(memory_, b_.tell(setup_.kind, rank_of(index)));
    return;
  }
  b_.signal(memory_, ready_.raise);
  b_.wait(send_, ready_.wait);
  b_.send(send_, slot, rank_of(index), setup_.channel, sent_.raise);
}

Slice Doubling::see(int index, int row, const Range& piece, Counter i) {
  if (local(index)) {
    b_.wait(memory_, b_.hear(setup_.kind, rank_of(index)));
    return slot(row, rank_of(index), piece, i);
  }
  const int base = setup_.slot + doubling_slots(static_cast<int>(setup_.members.size()), 0);
  auto arrival = [&](Wait turn) {
    return b_.window(piece, b_.rank(), setup_.region, {.base = base, .depth = setup_.depth, .sem = turn.sem});
  };
  b_.wait(recv_, pool_.credits.wait);
  b_.recv(recv_, arrival(pool_.credits.wait), rank_of(index), setup_.channel, pool_.arrived.raise);
  b_.wait(memory_, pool_.arrived.wait);
  return arrival(pool_.arrived.wait);
}

void Doubling::seen(int index) {
  if (!local(index)) b_.signal(memory_, pool_.credits.raise);
}

void Doubling::fold(const Slice& dst, std::span<const Slice> operands) {
  if (operands.size() == 1) {
    b_.copy(memory_, dst, operands.front());
  } else {
    b_.reduce(memory_, dst, operands);
  }
}

void Doubling::exchange(Counter i, std::span<const Operand> own) {
  const Range piece{.piece = counted(i)};
  if (role_.active()) {
    exchange_active(i, piece, own);
    return;
  }
  if (local(role_.pair)) {
    const Slice mine = slot(kPairRow, b_.rank(), piece, i);
    fold(mine, slices_of(own));
    show(role_.pair, mine);
    b_.copy(memory_, b_.output(piece), see(role_.pair, kResultRow, piece, i));
  } else {
    exchange_passive(piece, own);
  }
}

/// Over a net the own operand leaves from where it lies, and the result arrives in the output.
void Doubling::exchange_passive(const Range& piece, std::span<const Operand> own) {
  Slice operand = own.front().slice;
  if (own.size() > 1) {
    operand = b_.output(piece);
    fold(operand, slices_of(own));
  }
  show(role_.pair, operand);
  b_.wait(recv_, sent_.wait);
  b_.recv(recv_, b_.output(piece), rank_of(role_.pair), setup_.channel, landed_.raise);
  if (landed_) b_.wait(memory_, landed_.wait);
}

void Doubling::exchange_active(Counter i, const Range& piece, std::span<const Operand> own) {
  std::vector<Slice> operands = slices_of(own);
  if (role_.pair >= 0) {
    // In the order of ranks: a leader's operands are those of several ranks.
    const auto place = std::ranges::find_if(own, [&](const Operand& o) { return o.lowest > rank_of(role_.pair); });
    operands.insert(operands.begin() + (place - own.begin()), see(role_.pair, kPairRow, piece, i));
  }
  for (int round = 0; round < role_.rounds; ++round) {
    const int other = partner(round);
    const Slice mine = slot(kRoundRow + round, b_.rank(), piece, i);
    if (!local(other)) b_.wait(memory_, sent_.wait);
    fold(mine, operands);
    if (round == 0 && role_.pair >= 0) seen(role_.pair);
    if (round > 0) seen(partner(round - 1));
    show(other, mine);
    const Slice theirs = see(other, kRoundRow + round, piece, i);
    const bool lower = (role_.number >> round & 1) == 0;
    operands = lower ? std::vector<Slice>{mine, theirs} : std::vector<Slice>{theirs, mine};
  }
  b_.reduce(memory_, b_.output(piece), operands, true);
  seen(partner(role_.rounds - 1));
  if (role_.pair < 0) return;
  if (local(role_.pair)) {
    const Slice result = slot(kResultRow, b_.rank(), piece, i);
    b_.copy(memory_, result, b_.output(piece));
    show(role_.pair, result);
  } else {
    b_.signal(memory_, ready_.raise);
    b_.wait(send_, ready_.wait);
    b_.send(send_, b_.output(piece), rank_of(role_.pair), setup_.channel);
  }
}

}  // namespace umbel::algos::all_reduce
