// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// One rank's part in a meeting: a list of "tell rank a", "hear rank b", done one after another. A node-mate is told by
// a signal, any other rank by a message of no elements.
//
// Where everything goes over the network the send lane itself waits for what arrives. Otherwise the memory lane is in
// charge, and lets the send lane go when it has heard what comes before. Receives are posted at once, in their order.
#pragma once

#include <vector>

#include "algos/builder.hpp"

namespace umbel::algos::barrier {

class Meeting {
 public:
  static constexpr int kKinds = 1;

  /// No two tell() of the same node-mate without a hear() of it in between.
  explicit Meeting(Builder& builder) : b_(builder) {}

  void tell(Rank peer) { acts_.push_back({.peer = peer, .hears = false}); }
  void hear(Rank peer) { acts_.push_back({.peer = peer, .hears = true}); }

  /// Writes the lanes; to be called once, last.
  void write();

 private:
  struct Act {
    Rank peer = -1;
    bool hears = false;
  };
  bool local(const Act& act) const { return b_.shape().same_node(b_.rank(), act.peer); }
  void tell_afar(Rank peer);
  void hear_afar(Rank peer, bool heeded);
  void heed();

  Builder& b_;
  std::vector<Act> acts_;
  LaneRef memory_{}, send_{}, recv_{};
  Flag came_{}, go_{};
  int unheeded_ = 0;     // messages whose arrival nobody has waited for
  bool behind_ = false;  // the memory lane has done something since the send lane was last let go
};

/// The member `rank` of a dissemination among `members`.
void disseminate(Meeting& meeting, Rank rank, const std::vector<Rank>& members);

}  // namespace umbel::algos::barrier
