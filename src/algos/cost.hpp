// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Terms that costs are made of. Seconds; `bytes` are doubles because they are shares of a buffer.
//
// All ranks must come to the same costs, on whatever processor they run: a cost is made of sums, products, quotients,
// minima, maxima and std::ceil of doubles, which IEEE 754 defines to the last bit, compiled without contraction (the
// layer's CMakeLists.txt). Nothing else of <cmath> may take part but what is exact, such as std::frexp.
#pragma once

#include <algorithm>

#include "algos/algorithm.hpp"

namespace umbel::algos {

class CostTerms {
 public:
  explicit CostTerms(const CostQuery& query);

  double bytes() const { return bytes_; }
  int ranks() const { return query_.shape.ranks(); }
  int nodes() const { return query_.shape.nodes(); }
  bool one_node() const { return nodes() == 1; }

  /// A flag to a node-mate.
  double flag() const { return local_ * query_.model.local_alpha; }
  /// Flags to and from `mates` node-mates at once: their ways overlap, the handling does not.
  double flags(int mates) const { return mates <= 0 ? 0.0 : flag() * (1 + kHandlingShare * (mates - 1)); }
  /// Own memory to own memory.
  double copy(double bytes) const { return local_ * query_.model.copy_beta * bytes; }
  /// From a node-mate's window.
  double read(double bytes) const { return local_ * query_.model.local_beta * bytes; }
  /// From a node-mate's user buffer.
  double read_direct(double bytes) const { return local_ * query_.model.direct_beta * bytes; }
  /// A fold of `operands` operands into `bytes`.
  double fold(double bytes, int operands = 2) const { return local_ * query_.model.gamma * bytes * (operands - 1); }
  /// One node, or nodes of one rank each: what one rank does all do.
  bool alike() const { return one_node() || query_.shape.largest_node() == 1; }
  /// Wire time of `sharers` streams of `bytes` each, which a node's ranks have at once: each rail has its part of them.
  double wire(double bytes, double sharers = 1) const {
    return query_.model.net_beta * bytes * std::max(std::min(sharers, 1.0), sharers / query_.model.rails);
  }
  /// A message of no bytes between nodes, beside what its ranks do: post().
  double message() const { return std::max(query_.model.net_alpha - query_.model.net_post, 0.0); }
  /// From the first post to the end of the last receive, when a rank sends or gets `count` messages at once.
  double burst(double count) const { return std::max(message() + (count + 1) * post() / 2, count * post()); }
  /// What a message between nodes costs its ranks, at both ends together: a part of its latency.
  double post() const { return local_ * query_.model.net_post; }
  /// Of a flag: how long who raises it is busy, and how long it is on its way then.
  double raise() const { return flag() * kHandlingShare; }
  double flight() const { return flag() * (1 - kHandlingShare); }
  /// Window slots of `bytes` in all: a factor on what goes through them. They should stay in a core's cache.
  double spill(double bytes) const;

  /// Parts of the whole call, of `bytes` each part of size `cut`; at least 1.
  double chunks(double bytes) const;
  double pieces() const;
  /// Stages of times `slowest` each, over `parts` parts: one fills the pipeline, then one part a stage time.
  static double pipeline(double stages, double slowest, double parts) { return (stages + parts - 1) * slowest; }

  /// `bytes` in `parts` messages between two ranks of a flat algorithm, on the slowest kind of path it uses, with the
  /// handling at both ends; `sharers` such streams share a node's link.
  double hop(double bytes, double parts = 1, int sharers = 1, bool reduces = true) const;
  /// Inside a node: into a slot, a flag, out of it or folded with it, and the slot given back.
  double local_hop(double bytes, double parts, bool reduces) const;
  /// Between nodes: what is done with the bytes on arrival takes `work`.
  double net_hop(double bytes, double parts, int sharers, double work) const;

 private:
  static constexpr double kHandlingShare = 0.2;

  const CostQuery& query_;
  double local_;
  double bytes_;
};

}  // namespace umbel::algos
