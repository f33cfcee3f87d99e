// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Central all-reduce (parameter server).
//
// Idea. Everybody sends to rank 0, which adds up and sends the result to everybody. The simplest scheme, here as the
// yardstick: rank 0 moves 2n(p−1) bytes, n(p−1) in and n(p−1) out, while the others wait.
//
// Names. Per piece. `up`: rank 0 folds the others' pieces one after another, lower ranks first, into its output.
// `down`: it hands the finished piece to all. The two run on lanes of their own, so that the next piece comes up while
// the last one goes down. Over a net, pieces arrive in slots that all senders share, and go straight into the
// receivers' outputs once the receivers' inputs have left (`sent`).
//
// Steps 2; bytes sent by the busiest rank, rank 0, n(p−1). Any p, any shape, any size.
// Determinism: one fold in rank order, rounded after each operand; all ranks get the same bits.
// Source: Li et al., "Scaling distributed machine learning with the parameter server", 2014.
#include <algorithm>
#include <vector>

#include "algos/all_reduce/all_reduce.hpp"
#include "algos/builder.hpp"
#include "algos/cost.hpp"
#include "algos/stream.hpp"

namespace umbel::algos::all_reduce {
namespace {

constexpr Rank kRoot = 0;
enum Kind { kUp = 0, kDown = 2, kKinds = 4 };

/// Slots: `depth` each for a rank's pieces on their way up, for pieces from the net, and for rank 0's results.
StreamPlace place(Kind kind, Rank peer, int region, int depth) {
  return {.peer = peer,
          .kind = kind,
          .region = region,
          .out_slot = kind == kUp ? 0 : 2 * depth,
          .in_slot = depth,
          .depth = depth};
}

void write_root(Builder& b, int region, int depth) {
  const LaneRef up = b.memory_lane(), down = b.memory_lane();
  const LaneRef recv = b.net_lane(), send = b.net_lane();
  const Flag folded = b.flag();
  const Pool pool = b.shape().nodes() > 1 ? make_pool(b, depth) : Pool{};
  std::vector<Rank> others;
  std::vector<Inbox> inboxes;
  for (Rank r = 1; r < b.shape().ranks(); ++r) {
    others.push_back(r);
    inboxes.emplace_back(b, up, recv, place(kUp, r, region, depth), pool);
  }
  Fanout fanout(b, down, send, place(kDown, kRoot, region, depth), others);
  b.each_piece([&](Counter i) {
    const Range piece{.piece = counted(i)};
    for (std::size_t k = 0; k < inboxes.size(); ++k) {
      const Slice slot = inboxes[k].front(piece);
      b.reduce(up, b.output(piece), {k == 0 ? b.input(piece) : b.output(piece), slot}, k + 1 == inboxes.size());
      inboxes[k].pop();
    }
    b.signal(up, folded.raise);
    fanout.push(b.output(piece), piece, folded.wait);
  });
}

void write_other(Builder& b, int region, int depth) {
  const LaneRef up = b.memory_lane(), down = b.memory_lane();
  const LaneRef send = b.net_lane(), recv = b.net_lane();
  if (b.shape().same_node(b.rank(), kRoot)) {
    Outbox outbox(b, up, send, place(kUp, kRoot, region, depth));
    Inbox inbox(b, down, recv, place(kDown, kRoot, region, depth));
    b.each_piece([&](Counter i) {
      const Range piece{.piece = counted(i)};
      outbox.push(b.input(piece), piece);
      b.copy(down, b.output(piece), inbox.front(piece));
      inbox.pop();
    });
    return;
  }
  const Flag sent = b.flag();
  b.each_piece([&](Counter i) {
    const Range piece{.piece = counted(i)};
    b.send(send, b.input(piece), kRoot, 0, sent.raise);
    b.wait(recv, sent.wait);
    b.recv(recv, b.output(piece), kRoot, 0);
  });
}

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  if (shape.ranks() == 1) return alone(shape);
  Builder b(rank, shape, {.pieces = true}, kKinds);
  const int region = b.region(3 * spec.depth);
  if (rank == kRoot) {
    write_root(b, region, spec.depth);
  } else {
    write_other(b, region, spec.depth);
  }
  return b.finish();
}

Traffic traffic(const Shape& shape, const Spec&) {
  const int p = shape.ranks();
  return {.steps = p > 1 ? 2 : 0, .sent = static_cast<double>(p - 1)};
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  const int p = t.ranks();
  if (p == 1) return t.copy(t.bytes());
  const int mates = static_cast<int>(query.shape.peers_of(kRoot).size()) - 1;
  const int remote = p - 1 - mates;
  const double piece = t.bytes() / t.pieces();
  // Rank 0's thread with a piece, and its link, each direction. Around them the ends: in from a rank, out to another.
  double turn = (p - 1) * t.fold(piece) + std::max(0, remote - 1) * t.post();
  double ends = remote > 0 ? 2 * (t.message() + t.post() + t.wire(piece, remote)) : 0.0;
  if (mates > 0) {
    turn += mates * (t.read(piece) + 2 * t.raise()) + t.copy(piece);
    ends = std::max(ends, t.copy(piece) + t.flag() + t.flight() + t.read(piece) + t.raise());
  }
  return ends + turn + (t.pieces() - 1) * std::max(turn, t.wire(piece, remote));
}

}  // namespace

Algorithm central() {
  return everywhere({.name = "central",
                     .summary = "everybody to rank 0, rank 0 to everybody",
                     .steps = "2",
                     .sent = "n(p−1)",
                     .source = "Li et al. 2014"},
                    {build, traffic, folds_in_rank_order, cost});
}

}  // namespace umbel::algos::all_reduce
