// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Recursive doubling.
//
// Idea. In round k each rank exchanges all it has with the rank whose number differs in bit k, and folds; after log₂ p
// rounds everybody has everything. The fewest steps for small messages; every round moves the whole buffer.
// When p is no power of two, p = 2^k + extra, the first 2·extra ranks go in pairs: the odd one hands its data to the
// even one before the rounds and gets the result after them.
//
// Names. See doubling.hpp: `mine` and `theirs` are folded into the slot that the next round shows, the last round's
// into the output. Long messages go piece by piece.
//
// Steps log₂ p for a power of two, else ⌊log₂ p⌋ + 1, or + 2 when more than half of the actives have a partner (then
// two of those are all rounds apart); bytes sent per rank n⌊log₂ p⌋, and n more by the even ones of the pairs. Any p,
// any shape, any size. Determinism: both partners of a round compute the same expression, lower ranks first; for a
// power of two it is the balanced binary tree over the ranks. Source: Thakur, Rabenseifner & Gropp, "Optimization of
// collective communication operations in MPICH", 2005.
#include <algorithm>
#include <bit>
#include <vector>

#include "algos/all_reduce/all_reduce.hpp"
#include "algos/all_reduce/doubling.hpp"
#include "algos/order.hpp"
#include "algos/schedule.hpp"

namespace umbel::algos::all_reduce {
namespace {

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  const int p = shape.ranks();
  if (p == 1) return alone(shape);
  Builder b(rank, shape, {.pieces = true}, 1);
  DoublingSetup setup{.members = ranks_ascending(shape), .here = rank, .depth = spec.depth};
  setup.region = b.region(doubling_slots(p, spec.depth));
  Doubling doubling(b, b.memory_lane(), setup);
  b.each_piece([&](Counter i) {
    const Operand own{rank, b.input({.piece = counted(i)})};
    doubling.exchange(i, {&own, 1});
  });
  return b.finish();
}

Traffic traffic(const Shape& shape, const Spec&) {
  const DoublingTraffic t = doubling_traffic(shape.ranks());
  return {.steps = t.steps, .sent = static_cast<double>(t.sent)};
}

/// For the powers of two, and where the pairs complete them.
bool canonical(const Shape& shape, const Spec&) {
  return doubling_span(spans_of(ranks_ascending(shape))).canonical(shape);
}

/// A piece, inside a node, where ranks in pairs have other things to do than those without.
void write_piece(int p, Schedule& s, std::vector<LaneOf>& lanes, double bytes) {
  const CostTerms& t = s.terms();
  const double look = t.read(bytes) + t.fold(bytes);
  std::vector<Schedule::Task> shown(lanes.size(), Schedule::kNone);
  // Its own operand, or that folded with what rank `seen` shows.
  const auto next = [&](Rank rank, double seconds, Rank seen) {
    const Schedule::Task task = lanes[static_cast<std::size_t>(rank)].next(s, s.work(rank, seconds));
    if (seen >= 0) s.after(task, shown[static_cast<std::size_t>(seen)], t.flight());
    return task;
  };
  const auto partner = [&](const PairedRole& role, int round) {
    return PairedRole::member(role.number ^ (1 << round), p);
  };
  for (Rank rank = 0; rank < p; ++rank)
    if (!PairedRole::of(rank, p).active())
      shown[static_cast<std::size_t>(rank)] = next(rank, t.copy(bytes) + t.raise(), -1);
  for (int round = 0; round <= floor_log2(p); ++round) {
    std::vector<Schedule::Task> now = shown;
    for (Rank rank = 0; rank < p; ++rank) {
      const PairedRole role = PairedRole::of(rank, p);
      if (!role.active()) continue;
      const bool last = round == role.rounds;
      const Rank seen = round == 0 ? role.pair : partner(role, round - 1);
      Schedule::Task task = next(rank, (seen < 0 ? t.copy(bytes) : look) + (last ? 0 : t.raise()), seen);
      if (last && role.pair >= 0) task = next(rank, t.copy(bytes) + t.raise(), -1);
      now[static_cast<std::size_t>(rank)] = task;
    }
    shown = now;
  }
  for (Rank rank = 0; rank < p; ++rank)
    if (const PairedRole role = PairedRole::of(rank, p); !role.active()) next(rank, t.read(bytes), role.pair);
}

double node_cost(const CostQuery& query) {
  CostQuery by_pieces = query;
  by_pieces.cut.chunk_bytes = query.cut.piece_bytes;
  const int p = query.shape.ranks();
  const auto width = static_cast<std::size_t>(p * (floor_log2(p) + 2));
  return pipelined(by_pieces, static_cast<double>(query.bytes), width,
                   [&](Schedule& schedule, const std::vector<double>& pieces) {
                     std::vector<LaneOf> lanes(static_cast<std::size_t>(p));
                     for (const double piece : pieces) write_piece(p, schedule, lanes, piece);
                   });
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  const int p = t.ranks();
  if (p == 1) return t.copy(t.bytes());
  if (t.one_node()) return node_cost(query);
  const double piece = t.bytes() / t.pieces();
  const double local = t.flag() + t.read(piece) + t.fold(piece);
  const int sharers = query.shape.largest_node();  // all of a node's ranks send at the same time
  const double remote = t.message() + sharers * t.post() + t.wire(piece, sharers) + t.fold(piece);
  double rounds = 0;
  for (int bit = 1; 2 * bit <= p; bit <<= 1) rounds += round_leaves_nodes(query.shape, bit) ? remote : local;
  if (std::has_single_bit(static_cast<unsigned>(p))) return t.copy(t.bytes()) + t.pieces() * rounds;
  // Into the pair and out of it, which are behind the others.
  if (sharers > 1)
    return t.copy(t.bytes()) + t.pieces() * (rounds + 2 * (pairs_share_nodes(query.shape) ? local : remote));
  // All pieces go into the pairs at once, on the links of the rounds.
  const int steps = doubling_traffic(p).steps, doublings = floor_log2(p);
  const double messages = std::max(steps * (t.message() + t.post()), 2 * t.message() + (doublings + 2) * t.post());
  return t.pieces() * (messages + (doublings + 2) * t.wire(piece) + (doublings + 1) * t.fold(piece));
}

}  // namespace

Algorithm recursive_doubling() {
  return everywhere({.name = "recursive_doubling",
                     .summary = "exchange everything with partners at doubling distance",
                     .steps = "log₂ p, or ⌊log₂ p⌋ + 1 or 2",
                     .sent = "n log₂ p, or n(⌊log₂ p⌋ + 1)",
                     .source = "Thakur, Rabenseifner & Gropp 2005"},
                    {build, traffic, canonical, cost});
}

}  // namespace umbel::algos::all_reduce
