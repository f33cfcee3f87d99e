// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/all_gather/exchange.hpp"

#include <algorithm>
#include <map>

#include "algos/builder.hpp"
#include "algos/schedule.hpp"
#include "algos/stream.hpp"

namespace umbel::algos::all_gather {
namespace {

enum Kind { kFilled, kFree, kKinds };

bool overlap(const Run& a, const Run& b) { return a.first < b.first + b.shares && b.first < a.first + a.shares; }

class Exchange {
 public:
  Exchange(Builder& b, const Spec& spec, const Layout& layout, const std::vector<Step>& steps)
      : b_(b),
        steps_(steps),
        depth_(spec.depth),
        region_(b.region(layout.streams * spec.depth, layout.longest_run)),
        memory_(b.memory_lane()),
        send_(b.net_lane()),
        recv_(b.net_lane()) {
    for (std::size_t s = 0; s < steps_.size(); ++s) heard_ = std::max(heard_, sources_of(s));
    if (heard_ > 0) landed_ = b.flag();
    if (std::ranges::any_of(steps_, [&](const Step& step) { return far(step.out) > 0; })) ready_ = b.flag();
  }

  void write() {
    b_.each_chunk([&](Counter k) {
      const Range own{.block = fixed(b_.rank()), .chunk = counted(k)};
      b_.copy(memory_, b_.output(own), b_.input(own));
    });
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      for (; landed_until_ < sources_of(s); ++landed_until_)
        b_.each_chunk([&](Counter) { b_.wait(memory_, landed_.wait, far(steps_[landed_until_].in)); });
      if (far(steps_[s].out) > 0) {
        b_.signal(memory_, ready_.raise);
        b_.wait(send_, ready_.wait);
      }
      b_.each_chunk([&](Counter k) { write(s, k); });
    }
  }

 private:
  bool near(const Run& run) const { return b_.shape().same_node(b_.rank(), run.peer); }
  int far(const std::vector<Run>& runs) const {
    return static_cast<int>(std::ranges::count_if(runs, [&](const Run& run) { return !near(run); }));
  }

  /// The number of steps, from the first one, whose arrivals over a net step `s` needs.
  std::size_t sources_of(std::size_t s) const {
    std::size_t last = 0;
    for (std::size_t before = 0; before < s; ++before)
      for (const Run& in : steps_[before].in)
        for (const Run& out : steps_[s].out)
          if (!near(in) && overlap(in, out)) last = before + 1;
    return last;
  }

  static Range range_of(const Run& run, Counter k) {
    return {.block = fixed(run.first), .blocks = run.shares, .chunk = counted(k)};
  }

  StreamPlace place(const Run& run, int stream) const {
    return {.peer = run.peer, .kind = kFilled, .region = region_, .out_slot = stream * depth_, .depth = depth_};
  }

  /// By turns a message out and one in: so there are never more under way than slots.
  void write(std::size_t s, Counter k) {
    const Step& step = steps_[s];
    for (std::size_t m = 0; m < std::max(step.out.size(), step.in.size()); ++m) {
      if (m < step.out.size()) send(step.out[m], step.stream, k);
      if (m < step.in.size()) receive(step.in[m], step.stream, k, s < heard_);
    }
  }

  void send(const Run& run, int stream, Counter k) {
    const Range range = range_of(run, k);
    if (!near(run)) {
      b_.send(send_, b_.output(range), run.peer, 0);
      return;
    }
    Outbox& outbox = outboxes_.try_emplace(run.peer, b_, memory_, send_, place(run, stream)).first->second;
    outbox.push(b_.output(range), range);
  }

  void receive(const Run& run, int stream, Counter k, bool heard) {
    const Range range = range_of(run, k);
    if (!near(run)) {
      b_.recv(recv_, b_.output(range), run.peer, 0, heard ? landed_.raise : Raise{});
      return;
    }
    Inbox& inbox = inboxes_.try_emplace(run.peer, b_, memory_, recv_, place(run, stream)).first->second;
    b_.copy(memory_, b_.output(range), inbox.front(range));
    inbox.pop();
  }

  Builder& b_;
  const std::vector<Step>& steps_;
  int depth_, region_;
  LaneRef memory_, send_, recv_;
  std::map<Rank, Outbox> outboxes_;  // by node-mate
  std::map<Rank, Inbox> inboxes_;
  std::size_t heard_ = 0;         // steps whose arrivals are listened to
  std::size_t landed_until_ = 0;  // steps whose arrivals have been heard
  Flag landed_{};                 // a message is in the output; heard by the memory lane
  Flag ready_{};                  // what a step sends is in the output; heard by the send lane
};

}  // namespace

std::vector<Run> wrapped(Rank peer, int first, int shares, int ranks) {
  const int start = first % ranks, before = std::min(shares, ranks - start);
  std::vector<Run> runs{{peer, start, before}};
  if (before < shares) runs.push_back({peer, 0, shares - before});
  return runs;
}

Program write_exchange(Rank rank, const Shape& shape, const Spec& spec, const Layout& layout,
                       const std::vector<Step>& steps) {
  if (shape.ranks() == 1) return alone(shape, Collective::all_gather);
  Builder b(rank, shape, {.collective = Collective::all_gather, .chunk_blocks = layout.longest_run, .chunks = true},
            kKinds);
  Exchange(b, spec, layout, steps).write();
  return b.finish();
}

double step_cost(const CostTerms& terms, double shares, int messages, int sharers) {
  const double bytes = shares * terms.bytes();
  const double parts = messages * terms.chunks(bytes / messages);
  const double local = parts * (terms.flag() + terms.raise()) + terms.copy(bytes) + terms.read(bytes);
  const double remote = terms.message() + sharers * parts * terms.post() + terms.wire(bytes, sharers);
  return sharers == 0 ? local : std::max(local, remote);
}

namespace {

/// Every rank does the same at the same time, and rank 0 stands for all: what goes out comes in.
void write_rounds(const std::vector<Round>& rounds, int longest_run, bool one_node, Schedule& s,
                  const std::vector<double>& chunks) {
  const CostTerms& t = s.terms();
  double share = 0;
  for (const double chunk : chunks) share += chunk / longest_run;
  LaneOf memory;
  memory.next(s, s.work(0, t.copy(share)));
  std::vector<Schedule::Task> landed;  // by round: all of it
  int waited = 0;                      // for so many of these, before this round
  for (const Round& round : rounds) {
    const Schedule::Task ready = one_node ? Schedule::kNone : memory.next(s, s.work(0, 0));
    for (; waited < round.needs && !one_node; ++waited) s.after(ready, landed[static_cast<std::size_t>(waited)]);
    const Schedule::Task all = s.work(0, 0);
    for (std::size_t k = 0; k < chunks.size(); ++k) {
      for (const double run : round.runs) {
        const double bytes = std::clamp(run * share - static_cast<double>(k) * chunks[0], 0.0, chunks[0]);
        if (!one_node) {
          s.after(all, s.send(0, 0, bytes, ready));
          continue;
        }
        const Schedule::Task shown = memory.next(s, s.work(0, t.copy(bytes) + t.raise()));
        s.after(memory.next(s, s.work(0, t.read(bytes) + t.raise())), shown, t.flight());
      }
    }
    landed.push_back(all);
  }
}

}  // namespace

double net_ring_cost(const CostQuery& query, int members) {
  const CostTerms t(query);
  return pipelined(query, t.bytes(), static_cast<std::size_t>(members),
                   [&](Schedule& s, const std::vector<double>& chunks) {
                     LaneOf memory;
                     std::vector<Schedule::Task> there;
                     for (const double chunk : chunks) there.push_back(memory.next(s, s.work(0, t.copy(chunk), chunk)));
                     for (int step = 1; step < members; ++step)
                       for (std::size_t k = 0; k < chunks.size(); ++k) there[k] = s.send(0, 0, chunks[k], there[k]);
                   });
}

double rounds_cost(const CostQuery& query, const std::vector<Round>& rounds, int longest_run) {
  const CostTerms t(query);
  std::size_t width = 0;
  for (const Round& round : rounds) width += round.runs.size();
  return pipelined(query, longest_run * t.bytes(), width, [&](Schedule& schedule, const std::vector<double>& chunks) {
    write_rounds(rounds, longest_run, t.one_node(), schedule, chunks);
  });
}

}  // namespace umbel::algos::all_gather
