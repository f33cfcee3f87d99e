// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Hierarchical all-reduce through leaders: for small messages on several nodes.
//
// Idea. Each node has a leader, its lowest rank, and so has each group of nodes, on any number of levels. A leader
// folds what its group's members have, in one go; the leaders of the highest groups exchange by recursive doubling; and
// each leader hands the result back to its group. One message a node on its way through the levels, and one a group and
// round of the exchange, is the least that there is over a network.
//
// Names. Per piece: mates copy their input into a window slot, `shown`; the leaders of a group's other members send
// theirs `up`. A leader folds its own input, all slots and what came up, straight into the slot that the exchange shows
// (doubling.hpp) or that it sends up itself; the result lands in its output, goes `down` to those who sent, and is
// copied to a slot, `shown` to the mates, who copy it to their outputs. One slot each will do for mates, without
// credits: a mate shows the next piece only after it has read the result of the last one, which was made after its slot
// was read. Reading the mates' inputs in place (`direct`) would save a copy of a small message and cost a closing flag:
// not used.
//
// Steps, with M groups of the highest level (racks, or without racks the nodes): log₂ M + 2 for M a power of two (up to
// 2 more otherwise), and 2 for each level with several members. Bytes that leave the busiest rank, a leader: n log₂ M
// in the exchange, n for each member of its groups but its own, and n(R−1), read by its R−1 mates. Any p on two nodes
// or more, uneven nodes and racks included, any size. Determinism: a leader folds once in the order of lowest ranks,
// both partners of a round compute the same expression, lower ranks first. Source: Graham et al., "Cheetah: a framework
// for scalable hierarchical collective operations", 2011.
#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <vector>

#include "algos/all_reduce/all_reduce.hpp"
#include "algos/all_reduce/doubling.hpp"
#include "algos/all_reduce/groups.hpp"
#include "algos/all_reduce/hierarchy.hpp"
#include "algos/cost.hpp"
#include "algos/order.hpp"

namespace umbel::algos::all_reduce {
namespace {

constexpr int kShown = 0;
constexpr int kKinds = 1;
constexpr int kMateSlot = 0, kResultSlot = 1, kOwnSlots = 2;
enum Channel { kExchange, kUp, kDown };

/// Where a leader stands: the leaders of its groups' other members, and its own leader, if it leads no highest group.
struct Standing {
  std::vector<Rank> led;           ///< level by level
  std::vector<std::size_t> until;  ///< of a level: the first of `led` of the next one
  Rank leader = -1;

  Standing(const Groups& groups, const Groups::Place& place) {
    for (int level = 1; level <= groups.levels() && leader < 0; ++level) {
      const Tier& group = *place.tiers[static_cast<std::size_t>(level)];
      if (place.child[static_cast<std::size_t>(level) - 1] > 0) {
        leader = group.ranks.front();
      } else {
        for (const Tier& member : std::span(group.children).subspan(1)) led.push_back(member.ranks.front());
        until.push_back(led.size());
      }
    }
  }
};

/// Lanes of a node's leader, and what they share.
class Leader {
 public:
  Leader(Builder& b, const Groups& groups, int region, int depth, const FoldSlots& partials)
      : b_(b),
        mates_(b.shape().peers_of(b.rank()).subspan(1)),
        place_(groups.place_of(b.rank())),
        standing_(groups, place_),
        region_(region),
        partials_(partials),
        memory_(b.memory_lane()),
        up_(b.net_lane()),
        take_(b.net_lane()),
        down_(b.net_lane()),
        receive_(b.net_lane()) {
    const int exchange = doubling_slots(groups.count(), depth);
    int slot = kOwnSlots + exchange;
    const StreamPlace above{
        .peer = standing_.leader, .region = region, .out_slot = slot, .depth = depth, .channel = kUp};
    std::vector<StreamPlace> streams;
    for (Rank led : standing_.led)
      streams.push_back({.peer = led, .region = region, .in_slot = slot += depth, .depth = depth, .channel = kUp});
    if (!streams.empty()) intake_.emplace(b, memory_, take_, std::move(streams));
    if (!standing_.led.empty()) ready_ = b.flag();
    if (standing_.leader >= 0) {
      outbox_.emplace(b, memory_, up_, above);
      reusable_ = b.flag();
      if (hands_on()) landed_ = b.flag();
      return;
    }
    DoublingSetup setup{
        .members = {}, .here = place_.top(), .region = region, .slot = kOwnSlots, .depth = depth, .channel = kExchange};
    setup.goes_on = hands_on();
    for (const Tier& top : groups.tops()) setup.members.push_back(top.ranks.front());
    doubling_.emplace(b, memory_, setup);
  }

  void write() {
    b_.each_piece([&](Counter i) {
      const Range piece{.piece = counted(i)};
      const std::vector<Operand> operands = gather(piece);
      if (doubling_) {
        doubling_->exchange(i, operands);
      } else {
        pass_up(piece, operands);
      }
      if (intake_) intake_->pop();
      hand_back(piece);
    });
  }

 private:
  bool hands_on() const { return !mates_.empty() || !standing_.led.empty(); }

  /// The own input, the mates' and what comes up, in the order of their lowest ranks.
  std::vector<Operand> gather(const Range& piece) {
    std::vector<Operand> operands{{b_.rank(), b_.input(piece)}};
    for (Rank mate : mates_) {
      b_.wait(memory_, b_.hear(kShown, mate));
      operands.push_back({mate, b_.window(piece, mate, region_, {.base = kMateSlot})});
    }
    const std::vector<Slice> fronts = intake_ ? intake_->front(piece) : std::vector<Slice>{};
    if (partials_ && hands_on()) return {{b_.rank(), fold_in_order(piece, operands, fronts)}};
    for (std::size_t k = 0; k < fronts.size(); ++k) operands.push_back({standing_.led[k], fronts[k]});
    std::ranges::sort(operands, {}, &Operand::lowest);
    return operands;
  }

  /// A tree over the node, then one a level over what came before and the level's others.
  Slice fold_in_order(const Range& piece, const std::vector<Operand>& node, const std::vector<Slice>& fronts) {
    const Slice all = b_.window(piece, b_.rank(), partials_.region, {});
    const FoldSlots rest{.region = partials_.region, .first = 1};
    std::vector<Slice> operands;
    for (const Operand& operand : node) operands.push_back(operand.slice);
    auto next = fronts.begin();
    for (std::size_t level = 0;; ++level) {
      if (operands.size() > 1) b_.fold_as_tree(memory_, piece, all, operands, false, rest);
      const Slice before = operands.size() > 1 ? all : operands.front();
      if (level == standing_.until.size()) return before;
      const auto end = fronts.begin() + static_cast<std::ptrdiff_t>(standing_.until[level]);
      operands.assign(next, end);
      operands.insert(operands.begin(), before);
      next = end;
    }
  }

  void pass_up(const Range& piece, const std::vector<Operand>& operands) {
    if (operands.size() == 1) {
      outbox_->push(operands.front().slice, piece, reusable_.raise);
    } else {
      std::vector<Slice> slices;
      for (const Operand& operand : operands) slices.push_back(operand.slice);
      outbox_->produce(piece, [&](const Slice& slot) { b_.reduce(memory_, slot, slices); });
      b_.signal(memory_, reusable_.raise);
    }
    // The input, maybe these very elements, has been read, or has left.
    b_.wait(receive_, reusable_.wait);
    b_.recv(receive_, b_.output(piece), standing_.leader, kDown, landed_.raise);
    if (landed_) b_.wait(memory_, landed_.wait);
  }

  void hand_back(const Range& piece) {
    if (ready_) {
      b_.signal(memory_, ready_.raise);
      b_.wait(down_, ready_.wait);
      for (Rank led : standing_.led) b_.send(down_, b_.output(piece), led, kDown);
    }
    if (mates_.empty()) return;
    b_.copy(memory_, b_.window(piece, b_.rank(), region_, {.base = kResultSlot}), b_.output(piece));
    for (Rank mate : mates_) b_.signal(memory_, b_.tell(kShown, mate));
  }

  Builder& b_;
  std::span<const Rank> mates_;
  Groups::Place place_;
  Standing standing_;
  int region_;
  FoldSlots partials_;  // none: all in one fold
  LaneRef memory_, up_, take_, down_, receive_;
  std::optional<Intake> intake_;  // from those it leads
  std::optional<Outbox> outbox_;
  std::optional<Doubling> doubling_;
  Flag ready_{};     // the result may be sent down
  Flag reusable_{};  // the operand has left, or been read
  Flag landed_{};    // the result has come down
};

void write_mate(Builder& b, int region, Rank leader) {
  const LaneRef lane = b.memory_lane();
  b.each_piece([&](Counter i) {
    const Range piece{.piece = counted(i)};
    b.copy(lane, b.window(piece, b.rank(), region, {.base = kMateSlot}), b.input(piece));
    b.signal(lane, b.tell(kShown, leader));
    b.wait(lane, b.hear(kShown, leader));
    b.copy(lane, b.output(piece), b.window(piece, leader, region, {.base = kResultSlot}));
  });
}

/// For folds as trees, one a level: a slot for the result, and those of the largest fold. None: all in one fold.
int slots_in_order(const Shape& shape, const Groups& groups, const Spec& spec) {
  int most = shape.largest_node();
  for (int level = 1; level <= groups.levels(); ++level) most = std::max(most, groups.most_members(level));
  return spec.ordered && fold_slots(most) > 0 ? 1 + fold_slots(most) : 0;
}

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  const Groups groups(shape);
  Builder b(rank, shape, {.pieces = true}, kKinds);
  // Slots: own ones, the exchange's, then `depth` for what goes up and for each stream that comes up.
  int streams = 1;
  for (int level = 1; level <= groups.levels(); ++level) streams += groups.most_members(level) - 1;
  const int region = b.region(kOwnSlots + doubling_slots(groups.count(), spec.depth) + streams * spec.depth);
  const int partials = slots_in_order(shape, groups, spec);
  const FoldSlots slots{.region = partials > 0 ? b.region(partials) : -1};
  const Rank leader = shape.peers_of(rank).front();
  if (rank == leader) {
    Leader(b, groups, region, spec.depth, slots).write();
  } else {
    write_mate(b, region, leader);
  }
  return b.finish();
}

/// Elements that a node's leader sends ÷ n.
int sent_by_leader(const Groups& groups, const Groups::Place& place) {
  const Standing standing(groups, place);
  const int mates = static_cast<int>(place.tiers.front()->ranks.size()) - 1;
  const int onward = standing.leader >= 0 ? 1 : doubling_sent(place.top(), groups.count());
  return mates + static_cast<int>(standing.led.size()) + onward;
}

Traffic traffic(const Shape& shape, const Spec&) {
  const Groups groups(shape);
  const int count = groups.count();
  auto number = [&](const PairedRole& role) {
    return role.active() ? role.number : PairedRole::of(role.pair, count).number;
  };
  auto ends = [&](int top, const PairedRole& role) {  // steps to or from the active leader that stands for the group
    constexpr int kLeaders = 0;                       // the first part's owner is everywhere the first member
    return (role.active() ? 0 : 1) +
           groups.steps(groups.tops()[static_cast<std::size_t>(top)], groups.levels(), kLeaders);
  };
  Traffic traffic;
  for (int from = 0; from < count; ++from) {
    const PairedRole source = PairedRole::of(from, count);
    for (int to = 0; to < count; ++to) {
      const PairedRole target = PairedRole::of(to, count);
      const int rounds = std::popcount(static_cast<unsigned>(number(source) ^ number(target)));
      traffic.steps = std::max(traffic.steps, ends(from, source) + rounds + ends(to, target));
    }
  }
  for (int node = 0; node < shape.nodes(); ++node)
    traffic.sent = std::max(
        traffic.sent, static_cast<double>(sent_by_leader(groups, groups.place_of(shape.node_ranks(node).front()))));
  return traffic;
}

/// What a group's leader folds: for the leaders of its members what they have folded, for its own member all that is in
/// it.
std::vector<Span> operands_of(const Tier& group) {
  if (group.children.empty()) return spans_of(group.ranks);
  std::vector<Span> operands = operands_of(group.children.front());
  for (const Tier& member : std::span(group.children).subspan(1)) operands.push_back(fold(operands_of(member)));
  return operands;
}

bool canonical(const Shape& shape, const Spec& spec) {
  const Groups groups(shape);
  if (slots_in_order(shape, groups, spec) > 0) return doubling_span(groups.spans(true)).canonical(shape);
  std::vector<std::vector<Span>> tops;
  for (const Tier& top : groups.tops()) tops.push_back(operands_of(top));
  return doubling_span(tops).canonical(shape);
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  const Groups groups(query.shape);
  const double piece = t.bytes() / t.pieces();
  const int ranks = query.shape.largest_node();
  double time = t.copy(piece);
  if (ranks > 1) time += 2 * t.flags(ranks - 1) + 2 * t.copy(piece) + ranks * t.read(piece) + t.fold(piece, ranks);
  for (int level = 1; level <= groups.levels(); ++level) {
    const int led = groups.most_members(level) - 1;
    time += 2 * (t.message() + led * t.post() + t.wire(piece, led)) + t.fold(piece, led + 1);
  }
  time += doubling_traffic(groups.count()).steps * (t.message() + t.wire(piece) + t.fold(piece));
  return t.pieces() * time;
}

}  // namespace

Algorithm hierarchical_leader() {
  return on_several_nodes({.name = "hierarchical_leader",
                           .summary = "one leader a node and a group folds; the highest exchange, and all hand back",
                           .steps = "log₂ M + 2 + 2L, up to 2 more if M is no power of two",
                           .sent = "n(⌊log₂ M⌋ + S − 1), + n(K−1) a level of K members, + n if M is no power of two",
                           .source = "Graham et al. 2011"},
                          {build, traffic, canonical, cost});
}

}  // namespace umbel::algos::all_reduce
