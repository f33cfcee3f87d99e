// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/all_to_all/node_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "algos/builder.hpp"
#include "algos/lanes/pairs.hpp"
#include "algos/order.hpp"
#include "algos/schedule.hpp"

namespace umbel::algos::all_to_all {
namespace {

enum Kind { kFilled = kPairKinds, kFree, kShown, kRead, kKinds };
constexpr int kGroups = 2;

using Ranks = std::vector<Rank>;

/// One message from a node to another.
struct Message {
  const Ranks* givers = nullptr;  ///< the sending node
  Ranks targets;
  Rank sender = -1, receiver = -1;
  int out = 0, in = 0;  ///< how many the sender sends, and the receiver receives, before this one
};

/// All messages that a node sends, and those it receives, in an order in which all nodes turn to different ones. A
/// node's ranks take turns in sending and receiving.
class Messenger {
 public:
  Messenger(const Shape& shape, Messages messages) : nodes_(nodes_in_order(shape.root())), messages_(messages) {}

  int nodes() const { return static_cast<int>(nodes_.size()); }
  const Ranks& node(int n) const { return nodes_[static_cast<std::size_t>(modulo(n, nodes()))]; }
  int node_of(Rank rank) const {
    int n = 0;
    while (std::ranges::find(node(n), rank) == node(n).end()) ++n;
    return n;
  }

  std::vector<Message> sent_by(int here) const {
    std::vector<Message> all;
    for (int turn = 1; turn < nodes(); ++turn) add(all, here, here + turn, turn);
    count(all, &Message::sender, &Message::out);
    return all;
  }
  std::vector<Message> received_by(int here) const {
    std::vector<Message> all;
    for (int turn = 1; turn < nodes(); ++turn) add(all, here - turn, here, turn);
    count(all, &Message::receiver, &Message::in);
    return all;
  }

 private:
  static Rank by_turns(const Ranks& ranks, int turn) { return ranks[static_cast<std::size_t>(turn) % ranks.size()]; }

  void add(std::vector<Message>& all, int from, int to, int turn) const {
    const Ranks &givers = node(from), &targets = node(to);
    if (messages_ == Messages::one_a_pair) {
      all.push_back({.givers = &givers,
                     .targets = targets,
                     .sender = by_turns(givers, turn - 1),
                     .receiver = by_turns(targets, turn - 1)});
      return;
    }
    for (int n = 0; n < static_cast<int>(targets.size()); ++n) {
      const Rank target = targets[static_cast<std::size_t>(n)];
      all.push_back({.givers = &givers, .targets = {target}, .sender = by_turns(givers, n), .receiver = target});
    }
  }

  static void count(std::vector<Message>& all, Rank Message::*by, int Message::*number) {
    std::map<Rank, int> before;
    for (Message& m : all) m.*number = before[m.*by]++;
  }

  std::vector<Ranks> nodes_;
  Messages messages_;
};

bool has(const Ranks& ranks, Rank rank) { return std::ranges::find(ranks, rank) != ranks.end(); }
int index_in(const Ranks& ranks, Rank rank) { return static_cast<int>(std::ranges::find(ranks, rank) - ranks.begin()); }
int size(const Ranks& ranks) { return static_cast<int>(ranks.size()); }

/// Slots that every window has: messages that one rank sends, and receives, and shares in the largest message.
struct Slots {
  int out = 0, in = 0, shares = 0;

  explicit Slots(const Messenger& messenger) {
    for (int n = 0; n < messenger.nodes(); ++n) {
      for (const Message& m : messenger.sent_by(n)) {
        out = std::max(out, m.out + 1);
        shares = std::max(shares, size(*m.givers) * size(m.targets));
      }
      for (const Message& m : messenger.received_by(n)) in = std::max(in, m.in + 1);
    }
  }
};

class NodePairs {
 public:
  NodePairs(Builder& b, const Messenger& messenger, int depth)
      : b_(b),
        mates_(messenger.node(messenger.node_of(b.rank()))),
        depth_(depth),
        slots_(messenger),
        out_(messenger.sent_by(messenger.node_of(b.rank()))),
        in_(messenger.received_by(messenger.node_of(b.rank()))),
        region_(b.region((slots_.out + slots_.in) * depth, slots_.shares, true)),
        give_(b.memory_lane()),
        recycle_(b.memory_lane()),
        show_(b.memory_lane()),
        take_(b.memory_lane()),
        send_(b.net_lane()),
        receive_(b.net_lane()) {
    for (const Message& m : out_) own_out_ += m.sender == b.rank() ? 1 : 0;
    for (const Message& m : in_) own_in_ += m.receiver == b.rank() ? 1 : 0;
    if (own_out_ > 0) filled_ = b.flag(), free_ = b.flag(depth * own_out_), returned_ = b.flag();
    if (own_in_ > 0) arrived_ = b.flag(), shown_ = b.flag(), read_ = b.flag(depth * own_in_);
  }

  void write() {
    b_.each_chunk([&](Counter k) {
      for (const Message& m : out_) {
        give(m, k);
        if (m.sender == b_.rank()) send(m, k);
      }
      for (const Message& m : in_) {
        if (m.receiver == b_.rank()) receive(m, k);
        if (has(m.targets, b_.rank())) take(m, k);
      }
    });
  }

 private:
  // A semaphore of this rank on which it hears a node-mate, or itself by a flag; or one that it raises.
  Wait hear(Kind kind, Rank mate, const Flag& own, int credits = 0) {
    return mate == b_.rank() ? own.wait : b_.hear(kind, mate, credits);
  }
  Raise tell(Kind kind, Rank mate, const Flag& own) { return mate == b_.rank() ? own.raise : b_.tell(kind, mate); }

  Slice slot(Rank owner, int number, int first, int count, Counter k) const {
    return b_.window({.block = fixed(first), .blocks = count, .chunk = counted(k)}, owner, region_,
                     {.base = number * depth_, .depth = depth_, .index = counted(k)});
  }
  static Range share(Rank of, Counter k) { return {.block = fixed(of), .chunk = counted(k)}; }

  /// The messages of the own node that `sender` sends.
  int sent_by(Rank sender) const { return static_cast<int>(std::ranges::count(out_, sender, &Message::sender)); }

  void give(const Message& m, Counter k) {
    const int targets = size(m.targets);
    b_.wait(give_, hear(kFree, m.sender, free_, depth_ * sent_by(m.sender)));
    for (int n = 0; n < targets; ++n)
      b_.copy(give_, slot(m.sender, m.out, index_in(mates_, b_.rank()) * targets + n, 1, k),
              b_.input(share(m.targets[static_cast<std::size_t>(n)], k)));
    b_.signal(give_, tell(kFilled, m.sender, filled_));
  }

  void send(const Message& m, Counter k) {
    for (Rank mate : mates_) b_.wait(send_, hear(kFilled, mate, filled_));
    b_.send(send_, slot(b_.rank(), m.out, 0, size(mates_) * size(m.targets), k), m.receiver, 0, returned_.raise);
    b_.wait(recycle_, returned_.wait);
    for (Rank mate : mates_) b_.signal(recycle_, tell(kFree, mate, free_));
  }

  void receive(const Message& m, Counter k) {
    // Every message that arrives here has the same targets.
    for (Rank target : m.targets) b_.wait(receive_, hear(kRead, target, read_, depth_ * own_in_));
    b_.recv(receive_, slot(b_.rank(), slots_.out + m.in, 0, size(*m.givers) * size(m.targets), k), m.sender, 0,
            arrived_.raise);
    b_.wait(show_, arrived_.wait);
    for (Rank target : m.targets) b_.signal(show_, tell(kShown, target, shown_));
  }

  void take(const Message& m, Counter k) {
    const int targets = size(m.targets), own = index_in(m.targets, b_.rank());
    b_.wait(take_, hear(kShown, m.receiver, shown_));
    for (int n = 0; n < size(*m.givers); ++n)
      b_.copy(take_, b_.output(share((*m.givers)[static_cast<std::size_t>(n)], k)),
              slot(m.receiver, slots_.out + m.in, n * targets + own, 1, k));
    b_.signal(take_, tell(kRead, m.receiver, read_));
  }

  Builder& b_;
  const Ranks& mates_;
  int depth_;
  Slots slots_;
  std::vector<Message> out_, in_;  // of the node
  int own_out_ = 0, own_in_ = 0;
  int region_;
  LaneRef give_, recycle_, show_, take_, send_, receive_;
  Flag filled_{}, free_{}, returned_{}, arrived_{}, shown_{}, read_{};
};

/// On nodes of one rank, whose shares go through slots that nobody else looks at. Every rank does the same at the same
/// time, and rank 0 stands for all.
double alone_cost(const CostQuery& query) {
  const auto width = static_cast<std::size_t>(query.shape.ranks());
  const double n = static_cast<double>(query.bytes);
  return pipelined(query, n, width, [&](Schedule& s, const std::vector<double>& chunks) {
    const CostTerms& t = s.terms();
    LaneOf give, take, own;
    for (const double chunk : chunks) {
      for (int other = 1; other < t.ranks(); ++other) {
        const Schedule::Task there = s.send(0, 0, chunk, give.next(s, s.work(0, t.copy(chunk), chunk)));
        s.after(take.next(s, s.work(0, t.copy(chunk), chunk)), there);
      }
      own.next(s, s.work(0, t.copy(chunk), chunk));
    }
  });
}

}  // namespace

Program build_node_pairs(Rank rank, const Shape& shape, const Spec& spec, Messages messages) {
  Builder b(rank, shape, {.collective = Collective::all_to_all, .chunks = true}, kKinds);
  const Messenger messenger(shape, messages);
  NodePairs(b, messenger, spec.depth).write();
  PairsSetup inside = pairs_of_all(rank, shape, spec, std::min(kGroups, shape.largest_node() - 1));
  const auto far = [&](Rank other) { return !shape.same_node(rank, other); };
  std::erase_if(inside.to, far);
  std::erase_if(inside.from, far);
  write_pairs(b, inside);
  return b.finish();
}

Traffic node_pairs_traffic(const Shape& shape, Messages messages) {
  const Messenger messenger(shape, messages);
  std::vector<double> sent(static_cast<std::size_t>(shape.ranks()));
  const auto of = [&](Rank rank) -> double& { return sent[static_cast<std::size_t>(rank)]; };
  Traffic traffic;
  for (int n = 0; n < messenger.nodes(); ++n) {
    for (Rank rank : messenger.node(n)) of(rank) += size(messenger.node(n)) - 1;
    for (const Message& m : messenger.sent_by(n)) {
      const int givers = size(*m.givers), targets = size(m.targets);
      for (Rank giver : *m.givers) of(giver) += giver == m.sender ? givers * targets : targets;
      of(m.receiver) += (targets - 1) * givers;
      traffic.steps = std::max(traffic.steps, (givers > 1 ? 1 : 0) + 1 + (targets > 1 ? 1 : 0));
    }
  }
  traffic.sent = std::ranges::max(sent);
  return traffic;
}

double node_pairs_cost(const CostQuery& query, Messages messages) {
  const CostTerms t(query);
  const Shape& shape = query.shape;
  const int ranks = shape.largest_node(), mates = ranks - 1;
  const int remote = t.ranks() - shape.smallest_node();
  const double n = t.bytes();
  if (ranks == 1) return alone_cost(query);
  const double chunks = t.chunks(n);
  const bool one = messages == Messages::one_a_pair;
  const double given = one ? t.nodes() - 1 : remote;  // messages that a rank gives to, and takes from
  const double taken = t.nodes() - 1;
  const double sent = std::ceil(given / shape.smallest_node()), received = one ? sent : taken;
  const double slots = 2 * query.spec.depth * sent * shape.largest_node() * (one ? ranks : 1) * n / chunks;
  const double inside = mates * (query.spec.direct ? t.read_direct(n) : t.copy(n) + t.read(n));
  const double flags = (given + taken) * t.flag() * 0.5 + (sent + received + 1) * t.flags(mates);
  const double local = t.copy(n) + inside + remote * (t.copy(n) + t.read(n)) * t.spill(slots) + chunks * flags;
  const double wire = t.wire(n, shares_over_a_link(shape)) + (sent + received) * chunks * t.post();
  // What is given to the first message, and taken from the last one, shows.
  return t.message() + std::max(wire, local) + std::min(wire, local) / (chunks * std::max(1.0, sent));
}

}  // namespace umbel::algos::all_to_all
