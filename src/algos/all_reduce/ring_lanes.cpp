// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/all_reduce/ring_lanes.hpp"

#include <algorithm>

#include "algos/order.hpp"
#include "algos/schedule.hpp"
#include "algos/stream.hpp"

namespace umbel::algos::all_reduce {
namespace {

/// Reduce-scatter steps that look alike.
struct Steps {
  int first = 0;
  int count = 0;
  bool from_own = false;   // sends the own operand, not a partial sum
  bool own_first = false;  // the own operand comes before what arrives
  bool last = false;       // finishes the block
  bool alike(const Steps& o) const { return from_own == o.from_own && own_first == o.own_first && last == o.last; }
};

class Ring {
 public:
  Ring(Builder& b, const RingSetup& setup)
      : b_(b),
        setup_(setup),
        p_(static_cast<int>(setup.members.size())),
        here_(static_cast<int>(std::ranges::find(setup.members, b.rank()) - setup.members.begin())),
        left_(member(here_ - 1)),
        right_(member(here_ + 1)),
        memory_(b.memory_lane()),
        send_(b.net_lane()),
        recv_(b.net_lane()),
        out_(b, memory_, send_, place(right_)),
        in_(b, memory_, recv_, place(left_)) {
    if (!in_.local() || !out_.local()) reusable_ = b.flag();
    if (!out_.local()) finished_ = b.flag();
    if (!in_.local() && (p_ > 2 || setup_.done)) landed_ = b.flag();
    if (!in_.local() && !out_.local() && setup_.done && p_ > 2) onward_ = b.flag();
  }

  void write() {
    for (const Steps& steps : reduce_scatter_steps()) reduce_scatter(steps);
    all_gather();
  }

 private:
  Rank member(int at) const { return setup_.members[static_cast<std::size_t>(modulo(at, p_))]; }
  Rank lowest(int at) const { return setup_.lowest[static_cast<std::size_t>(modulo(at, p_))]; }

  StreamPlace place(Rank peer) const {
    return {.peer = peer,
            .kind = setup_.kind,
            .region = setup_.region,
            .out_slot = setup_.slot,
            .in_slot = setup_.slot + setup_.depth,
            .depth = setup_.depth,
            .channel = setup_.channel};
  }

  /// Chunk `k` of block here + shift − (the step's counter).
  Range block(int shift, Counter step, Counter k) const {
    return {.block = cyclic(step, -1, here_ + shift, p_, setup_.first_block), .chunk = counted(k)};
  }
  Slice own(const Range& range) const { return setup_.own == Buffer::input ? b_.input(range) : b_.output(range); }

  std::vector<Steps> reduce_scatter_steps() const {
    std::vector<Steps> all;
    Rank coming = lowest(here_ - 1);
    for (int s = 0; s < p_ - 1; ++s) {
      coming = std::min(coming, lowest(here_ - 1 - s));
      const Steps step{
          .first = s, .count = 1, .from_own = s == 0, .own_first = lowest(here_) < coming, .last = s == p_ - 2};
      if (!all.empty() && all.back().alike(step)) {
        ++all.back().count;
      } else {
        all.push_back(step);
      }
    }
    return all;
  }

  void reduce_scatter(const Steps& steps) {
    b_.repeat(steps.count, [&](Counter s) {
      b_.each_chunk([&](Counter k) {
        if (steps.from_own && setup_.first) b_.wait(memory_, setup_.first);
        const Range leaving = block(-steps.first, s, k);
        out_.push(steps.from_own ? own(leaving) : b_.output(leaving), leaving, reusable_.raise);
        const Range coming = block(-steps.first - 1, s, k);
        if (setup_.partial) b_.wait(memory_, setup_.partial);
        const Slice partial = in_.front(coming);
        const Slice operands[2] = {steps.own_first ? own(coming) : partial, steps.own_first ? partial : own(coming)};
        b_.reduce(memory_, b_.output(coming), operands, steps.last);
        in_.pop();
        if (!steps.last) return;
        if (finished_) b_.signal(memory_, finished_.raise);
        if (setup_.done) b_.signal(memory_, setup_.done);
      });
    });
  }

  /// The first block goes out from where it was finished, the others as they arrive.
  void all_gather() {
    b_.repeat(1, [&](Counter t) {
      b_.each_chunk([&](Counter k) {
        const Range leaving = block(1, t, k);
        if (out_.local()) {
          out_.push(b_.output(leaving), leaving);
        } else {
          b_.wait(send_, finished_.wait);
          b_.send(send_, b_.output(leaving), right_, setup_.channel);
        }
        gather(block(0, t, k), p_ == 2);
      });
    });
    forward_and_gather(0, p_ - 3, false);
    forward_and_gather(p_ - 3, p_ > 2 ? 1 : 0, true);
  }

  /// Each of these steps sends what the step before received, beginning with block here − first.
  void forward_and_gather(int first, int steps, bool last) {
    b_.repeat(steps, [&](Counter t) {
      b_.each_chunk([&](Counter k) {
        forward(block(-first, t, k));
        gather(block(-first - 1, t, k), last);
      });
    });
  }

  void gather(const Range& coming, bool last) {
    if (in_.local()) {
      const Slice slot = in_.front(coming);
      if (!out_.local()) b_.wait(memory_, reusable_.wait);
      b_.copy(memory_, b_.output(coming), slot);
      in_.pop();
      if (setup_.done) b_.signal(memory_, setup_.done);
      return;
    }
    b_.wait(recv_, reusable_.wait);
    b_.recv(recv_, b_.output(coming), left_, setup_.channel, last && !setup_.done ? Raise{} : landed_.raise);
    if (!setup_.done) return;
    b_.wait(memory_, landed_.wait);
    b_.signal(memory_, setup_.done);
    if (!last && onward_) b_.signal(memory_, onward_.raise);
  }

  void forward(const Range& leaving) {
    const Slice from = b_.output(leaving);
    if (in_.local() || out_.local()) {
      if (!in_.local() && !setup_.done) b_.wait(memory_, landed_.wait);
      out_.push(from, leaving);
    } else {
      b_.wait(send_, setup_.done ? onward_.wait : landed_.wait);
      b_.send(send_, from, right_, setup_.channel);
    }
  }

  Builder& b_;
  const RingSetup& setup_;
  int p_, here_;
  Rank left_, right_;
  LaneRef memory_, send_, recv_;
  Outbox out_;
  Inbox in_;
  Flag reusable_{};  // an element's partial sum has left the output
  Flag finished_{};  // a chunk of the own block is final; heard by the send lane
  Flag landed_{};    // an all-gather message is in the output; heard by who hands it on
  Flag onward_{};    // the same for the send lane, when `landed_` is heard by the memory lane
};

}  // namespace

void write_ring(Builder& builder, const RingSetup& setup) { Ring(builder, setup).write(); }

namespace {

/// Every member does the same at the same time, and rank 0 stands for all.
void write_steps(int members, Schedule& s, const std::vector<double>& chunks) {
  LaneOf memory;
  Schedule::Task sent = Schedule::kNone;  // when the last partial sum leaves
  std::vector<Schedule::Task> there(chunks.size());
  for (int step = 0; step < members - 1; ++step) {
    for (std::size_t k = 0; k < chunks.size(); ++k) {
      sent = memory.last();
      const Schedule::Task arrived = s.send(0, 0, chunks[k], sent);
      there[k] = memory.next(s, s.work(0, s.terms().fold(chunks[k]), 2 * chunks[k]));
      s.after(there[k], arrived);
    }
  }
  for (std::size_t k = 0; k < chunks.size(); ++k) {
    const Schedule::Task ready = s.work(0, 0);
    s.after(ready, there[k]);
    s.after(ready, sent);
    there[k] = s.send(0, 0, chunks[k], ready);
  }
  for (int step = 1; step < members - 1; ++step)
    for (std::size_t k = 0; k < chunks.size(); ++k) there[k] = s.send(0, 0, chunks[k], there[k]);
}

}  // namespace

double ring_cost(const CostQuery& query, int members, double block, int sharers) {
  const CostTerms t(query);
  if (sharers == 1)
    return pipelined(
        query, block, static_cast<std::size_t>(members),
        [&](Schedule& schedule, const std::vector<double>& chunks) { write_steps(members, schedule, chunks); });
  const double chunks = t.chunks(block), wire = t.wire(block / chunks, sharers), fold = t.fold(block / chunks);
  const double latency = t.message() + sharers * t.post();
  // A step takes as long as its first chunk is on its way and folded, or as its chunks follow one another.
  const double gathering = latency + wire, reducing = gathering + fold;
  const double gather_pace = std::max(wire, sharers * t.post()), pace = std::max(wire, sharers * t.post() + fold);
  return (members - 1) * std::max(reducing, chunks * pace) + (members - 2) * std::max(gathering, chunks * gather_pace) +
         gathering + (chunks - 1) * gather_pace;
}

}  // namespace umbel::algos::all_reduce
