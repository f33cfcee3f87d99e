// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/barrier/meeting.hpp"

#include <algorithm>

namespace umbel::algos::barrier {

void Meeting::write() {
  if (std::ranges::any_of(acts_, [&](const Act& act) { return local(act); })) memory_ = b_.memory_lane();
  send_ = b_.net_lane();
  recv_ = b_.net_lane();
  // What is heard last, with nothing to do afterwards: a lane's end waits for its transfers.
  const auto last_told = std::find_if(acts_.rbegin(), acts_.rend(), [](const Act& act) { return !act.hears; }).base();
  for (auto act = acts_.begin(); act != acts_.end(); ++act) {
    if (!local(*act)) {
      if (act->hears)
        hear_afar(act->peer, act < last_told);
      else
        tell_afar(act->peer);
      continue;
    }
    if (act->hears) {
      b_.wait(memory_, b_.hear(0, act->peer));
      behind_ = true;
    } else {
      heed();
      b_.signal(memory_, b_.tell(0, act->peer));
    }
  }
}

void Meeting::tell_afar(Rank peer) {
  heed();
  if (behind_) {
    if (!go_) go_ = b_.flag();
    b_.signal(memory_, go_.raise);
    b_.wait(send_, go_.wait);
    behind_ = false;
  }
  b_.send(send_, b_.input({}), peer, 0);
}

void Meeting::hear_afar(Rank peer, bool heeded) {
  if (heeded && !came_) came_ = b_.flag();
  b_.recv(recv_, b_.output({}), peer, 0, heeded ? came_.raise : Raise{});
  unheeded_ += heeded ? 1 : 0;
}

/// Waits for the messages that have been asked for.
void Meeting::heed() {
  b_.wait(memory_ ? memory_ : send_, came_.wait, unheeded_);
  behind_ = behind_ || (memory_ && unheeded_ > 0);
  unheeded_ = 0;
}

void disseminate(Meeting& meeting, Rank rank, const std::vector<Rank>& members) {
  const auto count = static_cast<int>(members.size());
  const auto here = static_cast<int>(std::ranges::find(members, rank) - members.begin());
  for (int distance = 1; distance < count; distance *= 2) {
    meeting.tell(members[static_cast<std::size_t>((here + distance) % count)]);
    meeting.hear(members[static_cast<std::size_t>((here + count - distance) % count)]);
  }
}

}  // namespace umbel::algos::barrier
