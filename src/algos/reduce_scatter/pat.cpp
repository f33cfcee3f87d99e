// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Parallel aggregated trees (PAT) reduce-scatter.
//
// Idea. The all-gather of that name backwards. Every share is reduced along a binomial tree of its own, rooted at its
// owner, and the tree of share r is the tree of share 0 turned by r ranks: so all ranks are busy in every step, each in
// a different place of each tree. Trees begin with the nearest hop: in the first step each rank sends its operands of
// half of the shares one rank back, in the second the partial results of a quarter two ranks back, and so on. Near hops
// carry many shares and far hops few, so where ranks are placed node by node most of the bytes stay inside the nodes.
//
// Names. `distance` is a step's hop. A rank that is x places behind the owner of a share sends it on in the step of x's
// lowest bit, to the rank that is x − distance behind. What goes out in a step are shares 2·distance apart: messages of
// their own, which go together. A rank keeps what arrives for a share until it sends that on, or for its own until the
// end, and then folds all of it with its own operand at once. So there are slots for all messages, and chunks are the
// outermost loop. Two sets of slots alternate from chunk to chunk, without credits between ranks: a rank finishes chunk
// k+1 only with everybody's part of it, which they sent when they were through with chunk k; so then the slots of chunk
// k are free for k+2. Only of its own transfers must a rank hear that a slot has been `sent`, or say that one is
// `free`. Where there are several nodes that knowledge may have come through the network, which orders nothing between
// the memory of two node-mates: there they say when a set is `taken`.
//
// Steps ⌊log₂ p⌋, in ⌈log₂ p⌉ rounds: for p no power of two the far ends of the trees are cut off. Bytes sent per rank
// n(p−1), for shares of n, in p−1 messages. Any p, any shape, any size. Determinism: each element is folded once a rank
// that it comes to, in the order of the lowest ranks.
// Source: Jeaugey, "PAT: a new algorithm for all-gather and reduce-scatter operations at scale", 2025.
#include <algorithm>
#include <vector>

#include "algos/builder.hpp"
#include "algos/canonical.hpp"
#include "algos/order.hpp"
#include "algos/reduce_scatter/reduce_scatter.hpp"
#include "algos/schedule.hpp"

namespace umbel::algos::reduce_scatter {
namespace {

constexpr int kShown = 0, kTaken = 1, kKinds = 2;
constexpr int kSets = 2;

/// A message about one share.
struct Message {
  Rank peer = 0;
  Rank share = 0;
  Rank lowest = 0;  ///< of one that comes in: the lowest rank in the partial result
};

/// Messages that do not wait for one another. All ranks have equally many, and list them in the same order.
struct Step {
  std::vector<Message> out, in;
};

std::vector<Step> steps_of(Rank rank, int p) {
  std::vector<Step> steps;
  for (int distance = 1; distance < p; distance *= 2) {
    Step step;
    const Rank to = modulo(rank - distance, p), from = (rank + distance) % p;
    for (int x = distance; x < p; x += 2 * distance) {
      step.out.push_back({.peer = to, .share = modulo(rank - x, p)});
      // It stands for the sender and those behind it, up to the next multiple of 2·distance behind the owner.
      const int ranks = std::min(distance, p - x);
      step.in.push_back({.peer = from, .share = modulo(from - x, p), .lowest = from + ranks > p ? Rank{0} : from});
    }
    steps.push_back(step);
  }
  return steps;
}

class Trees {
 public:
  explicit Trees(Builder& b)
      : b_(b),
        steps_(steps_of(b.rank(), b.shape().ranks())),
        messages_(b.shape().ranks() - 1),
        region_(b.region(2 * kSets * messages_)),  // for what goes out, then for what comes in
        memory_(b.memory_lane()),
        send_(b.net_lane()),
        recv_(b.net_lane()),
        operands_(static_cast<std::size_t>(b.shape().ranks())) {
    bool sends = false, receives = false;
    std::vector<bool> arrives(operands_.size());
    for (const Step& step : steps_) {
      for (const Message& m : step.out) {
        sends |= !near(m);
        from_slots_ += !near(m) && arrives[static_cast<std::size_t>(m.share)] ? 1 : 0;
      }
      for (const Message& m : step.in) {
        receives |= !near(m);
        arrives[static_cast<std::size_t>(m.share)] = true;
      }
    }
    if (sends) ready_ = b.flag();
    if (from_slots_ > 0) sent_ = b.flag(kSets * from_slots_);
    if (!receives) return;
    arrived_ = b.flag();
    free_ = b.flag(kSets);
  }

  void write(Counter k) {
    if (sent_) b_.wait(memory_, sent_.wait, from_slots_);
    if (free_) b_.wait(recv_, free_.wait);
    if (b_.shape().nodes() > 1)
      for (const Step& step : steps_)
        if (!step.out.empty() && near(step.out.front()))
          b_.wait(memory_, b_.hear(kTaken, step.out.front().peer, kSets));
    int number = 0;
    for (const Step& step : steps_) {
      for (std::size_t m = 0; m < step.out.size(); ++m) send(step.out[m], number + static_cast<int>(m), k);
      for (std::size_t m = 0; m < step.in.size(); ++m) receive(step.in[m], number + static_cast<int>(m), k);
      number += static_cast<int>(step.out.size());
    }
    b_.reduce(memory_, b_.output(range(b_.rank(), k)), operands_of(b_.rank(), k), true);
    if (free_) b_.signal(memory_, free_.raise);
    if (b_.shape().nodes() > 1)
      for (const Step& step : steps_)
        if (!step.in.empty() && near(step.in.front())) b_.signal(memory_, b_.tell(kTaken, step.in.front().peer));
  }

 private:
  struct Operand {
    Rank lowest = 0;
    Slice slice{};
  };

  bool near(const Message& m) const { return b_.shape().same_node(b_.rank(), m.peer); }

  static Range range(Rank share, Counter k) { return {.block = fixed(share), .chunk = counted(k)}; }

  Slice slot(Rank share, Rank of, int number, Counter k) const {
    return b_.window(range(share, k), of, region_, {.base = kSets * number, .depth = kSets, .index = counted(k)});
  }

  std::vector<Slice> operands_of(Rank share, Counter k) const {
    std::vector<Operand> operands = operands_[static_cast<std::size_t>(share)];
    operands.push_back({b_.rank(), b_.input(range(share, k))});
    std::ranges::sort(operands, {}, &Operand::lowest);
    std::vector<Slice> slices;
    for (const Operand& operand : operands) slices.push_back(operand.slice);
    return slices;
  }

  void send(const Message& m, int number, Counter k) {
    const std::vector<Slice> operands = operands_of(m.share, k);
    const Slice mine = slot(m.share, b_.rank(), number, k);
    const bool folds = operands.size() > 1;
    if (folds) {
      b_.reduce(memory_, mine, operands);
    } else if (near(m)) {
      b_.copy(memory_, mine, operands.front());
    }
    if (near(m)) {
      b_.signal(memory_, b_.tell(kShown, m.peer));
      return;
    }
    b_.signal(memory_, ready_.raise);
    b_.wait(send_, ready_.wait);
    b_.send(send_, folds ? mine : operands.front(), m.peer, 0, folds ? sent_.raise : Raise{});
  }

  void receive(const Message& m, int number, Counter k) {
    Operand operand{m.lowest};
    if (near(m)) {
      b_.wait(memory_, b_.hear(kShown, m.peer));
      operand.slice = slot(m.share, m.peer, number, k);
    } else {
      operand.slice = slot(m.share, b_.rank(), messages_ + number, k);
      b_.recv(recv_, operand.slice, m.peer, 0, arrived_.raise);
      b_.wait(memory_, arrived_.wait);
    }
    operands_[static_cast<std::size_t>(m.share)].push_back(operand);
  }

  Builder& b_;
  std::vector<Step> steps_;
  int messages_, region_;
  LaneRef memory_, send_, recv_;
  std::vector<std::vector<Operand>> operands_;  // what has arrived, by share
  int from_slots_ = 0;                          // messages over a net that leave from slots
  Flag ready_{};                                // a message may be sent
  Flag sent_{};                                 // one has left its slot
  Flag arrived_{};                              // one is in its slot
  Flag free_{};                                 // a set of slots may be received into
};

Program build(Rank rank, const Shape& shape, const Spec&) {
  if (shape.ranks() == 1) return alone(shape, Collective::reduce_scatter);
  Builder b(rank, shape, {.collective = Collective::reduce_scatter, .chunks = true}, kKinds);
  Trees trees(b);
  b.each_chunk([&](Counter k) { trees.write(k); });
  return b.finish();
}

Traffic traffic(const Shape& shape, const Spec&) {
  const int p = shape.ranks();
  return {.steps = floor_log2(p), .sent = static_cast<double>(p - 1)};
}

/// What is folded at the place `x` behind the owner of a share, up to the step of `until`.
Span fold_at(Rank owner, int x, int until, int p) {
  std::vector<Span> operands{Span::of((owner + x) % p)};
  for (int distance = 1; distance < until && x + distance < p; distance *= 2)
    operands.push_back(fold_at(owner, x + distance, distance, p));
  return fold(operands);
}

bool canonical(const Shape& shape, const Spec&) {
  for (Rank owner = 0; owner < shape.ranks(); ++owner)
    if (!fold_at(owner, 0, shape.ranks(), shape.ranks()).canonical(shape)) return false;
  return true;
}

/// A chunk. Every rank does the same at the same time, and rank 0 stands for all: what goes out comes in.
void write_chunk(int p, Schedule& s, LaneOf& memory, double bytes, bool one_node) {
  const CostTerms& t = s.terms();
  const auto fold = [&](int arrivals) {
    return t.fold(bytes, arrivals + 1) + (one_node ? arrivals * t.read(bytes) : 0);
  };
  int steps = 0;
  for (int distance = 1; distance < p; distance *= 2, ++steps) {
    std::vector<Schedule::Task> out;
    for (int x = distance; x < p; x += 2 * distance) {
      int arrivals = 0;
      for (int before = 1; before < distance && x + before < p; before *= 2) ++arrivals;
      const double own = one_node ? t.copy(bytes) : 0;
      const Schedule::Task made =
          memory.next(s, s.work(0, (arrivals > 0 ? fold(arrivals) : own) + (one_node ? t.raise() : 0)));
      out.push_back(one_node ? made : s.send(0, 0, bytes, made));
    }
    for (const Schedule::Task one : out) s.after(memory.next(s, s.work(0, 0)), one, one_node ? t.flight() : 0);
  }
  memory.next(s, s.work(0, fold(steps)));
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  const int p = t.ranks();
  if (p > 1 && t.alike())
    return pipelined(query, t.bytes(), static_cast<std::size_t>(p),
                     [&](Schedule& schedule, const std::vector<double>& chunks) {
                       LaneOf memory;
                       for (const double chunk : chunks) write_chunk(p, schedule, memory, chunk, t.one_node());
                     });
  const double n = t.bytes(), chunks = t.chunks(n);
  double time = t.copy(n);
  for (int distance = 1; distance < p; distance *= 2) {
    const int shares = (p + distance - 1) / (2 * distance), sharers = ranks_leaving(query.shape, distance);
    const double local = shares * (chunks * t.flag() + t.copy(n) + t.read(n) + t.fold(n));
    const double remote =
        chunks * t.message() + sharers * shares * chunks * t.post() + shares * t.wire(n, sharers) + shares * t.fold(n);
    time += sharers == 0 ? local : std::max(local, remote);
  }
  return time;
}

}  // namespace

Algorithm pat() {
  return everywhere({.name = "pat",
                     .summary = "a binomial tree per share, near hops first, all trees at once",
                     .steps = "⌊log₂ p⌋, in ⌈log₂ p⌉ rounds",
                     .sent = "n(p−1)",
                     .source = "Jeaugey 2025 (NCCL)",
                     .collective = Collective::reduce_scatter},
                    {build, traffic, canonical, cost});
}

}  // namespace umbel::algos::reduce_scatter
