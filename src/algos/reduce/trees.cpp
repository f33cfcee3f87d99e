// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/reduce/trees.hpp"

#include <algorithm>
#include <optional>

#include "algos/builder.hpp"
#include "algos/reduce/streams.hpp"

namespace umbel::algos::reduce {
namespace {

struct Lanes {
  LaneRef memory, send, recv;
};

/// What all of a rank's roles have in common.
struct Frame {
  Builder& b;
  const Spec& spec;
  const Streams& streams;
  Fold fold;
  int region = -1;
  FoldSlots partials{};
};

/// The lowest rank of each rank's subtree.
std::vector<Rank> lowest_of(const Tree& tree) {
  std::vector<Rank> lowest(tree.parent.size());
  const auto visit = [&](const auto& self, Rank rank) -> Rank {
    Rank low = rank;
    for (Rank child : tree.below(rank)) low = std::min(low, self(self, child));
    return lowest[static_cast<std::size_t>(rank)] = low;
  };
  visit(visit, tree.root);
  return lowest;
}

std::vector<FoldStep> steps_of(const Shape& shape, const Spec& spec, const Tree& tree, const std::vector<Rank>& lowest,
                               Fold fold, Rank rank) {
  std::vector<Operand> operands{{.lowest = rank, .local = true}};
  for (Rank child : tree.below(rank))
    operands.push_back({lowest[static_cast<std::size_t>(child)], shape.same_node(rank, child)});
  return fold_steps(operands, fold, spec.ordered);
}

/// What one rank does in a tree whose leaf it is.
class LeafRole {
 public:
  LeafRole(const Frame& frame, const Lanes& lanes, std::size_t t, Rank parent)
      : b_(frame.b),
        memory_(lanes.memory),
        place_(frame.streams.place(t, b_.rank(), parent, frame.region)),
        in_place_(frame.streams.in_place(t, b_.rank())) {
    if (!in_place_) out_.emplace(b_, lanes.memory, lanes.send, place_);
  }

  void enter() {
    if (in_place_) b_.signal(memory_, b_.tell(place_.kind, place_.peer));
  }
  void pass(Counter k) {
    const Range chunk{.block = fixed(place_.channel), .chunk = counted(k)};
    if (out_) out_->pass(b_.input(chunk), chunk, {});
  }
  void leave() {
    if (in_place_) b_.wait(memory_, b_.hear(place_.kind + 1, place_.peer));
  }

 private:
  Builder& b_;
  LaneRef memory_;
  StreamPlace place_;
  bool in_place_;
  std::optional<Outbox> out_;
};

/// What one rank does in a tree in which it folds.
class FoldRole {
 public:
  FoldRole(const Frame& frame, const Lanes& lanes, std::size_t t, const Tree& tree)
      : b_(frame.b), memory_(lanes.memory), block_(static_cast<int>(t)), partials_(frame.partials) {
    const Rank rank = b_.rank();
    steps_ = steps_of(b_.shape(), frame.spec, tree, lowest_of(tree), frame.fold, rank);
    last_ = rank == tree.root;
    partials_.first = frame.streams.fold_number(t, rank) * fold_slots(frame.streams.operands());
    std::vector<StreamPlace> places;
    for (Rank child : tree.below(rank)) {
      const StreamPlace place = frame.streams.place(t, child, child, frame.region);
      const bool in_place = frame.streams.in_place(t, child);
      children_.push_back({place, in_place});
      if (!in_place) places.push_back(place);
    }
    in_.emplace(b_, lanes.memory, lanes.recv, std::move(places));
    const Rank next = last_ ? frame.spec.root : tree.above(rank);
    if (next != rank) out_.emplace(b_, lanes.memory, lanes.send, frame.streams.place(t, rank, next, frame.region));
  }

  void enter() {
    for (const Child& child : children_)
      if (child.in_place) b_.wait(memory_, b_.hear(child.place.kind, child.place.peer));
  }

  void pass(Counter k) {
    const Range chunk{.block = fixed(block_), .chunk = counted(k)};
    std::vector<Slice> operands{b_.input(chunk)};
    const std::vector<Slice> fronts = in_->front(chunk);
    auto next = fronts.begin();
    for (const Child& child : children_)
      operands.push_back(child.in_place ? b_.input(chunk, child.place.peer) : *next++);
    if (out_)
      out_->produce(chunk, [&](const Slice& slot) { fold(chunk, operands, slot); });
    else
      fold(chunk, operands, b_.output(chunk));
    in_->pop();
  }

  void leave() {
    for (const Child& child : children_)
      if (child.in_place) b_.signal(memory_, b_.tell(child.place.kind + 1, child.place.peer));
  }

 private:
  struct Child {
    StreamPlace place;
    bool in_place = false;
  };

  void fold(const Range& chunk, const std::vector<Slice>& operands, const Slice& into) {
    for (const FoldStep& step : steps_) {
      std::vector<Slice> sources;
      for (int number : step.operands)
        sources.push_back(number == FoldStep::kBefore ? into : operands[static_cast<std::size_t>(number)]);
      const bool final = last_ && &step == &steps_.back();
      if (step.as_tree)
        b_.fold_as_tree(memory_, chunk, into, sources, final, partials_);
      else
        b_.reduce(memory_, into, sources, final);
    }
  }

  Builder& b_;
  LaneRef memory_;
  int block_;
  FoldSlots partials_;
  std::vector<FoldStep> steps_;
  bool last_ = false;  // the top
  std::vector<Child> children_;
  std::optional<Intake> in_;
  std::optional<Outbox> out_;  // none at the root
};

/// Everything that one rank does.
class Roles {
 public:
  Roles(const Frame& frame, const std::vector<Tree>& trees) : b_(frame.b) {
    const Rank rank = b_.rank();
    const Lanes shared = make_lanes();
    results_lane_ = b_.memory_lane();
    for (std::size_t t = 0; t < trees.size(); ++t) {
      const Tree& tree = trees[t];
      if (tree.below(rank).empty())
        leaves_.emplace_back(frame, shared, t, tree.above(rank));
      else
        folds_.emplace_back(frame, make_lanes(), t, tree);
      if (rank == frame.spec.root && rank != tree.root)
        results_.push_back({static_cast<int>(t), Landing(b_, results_lane_, {},
                                                         frame.streams.place(t, tree.root, tree.root, frame.region))});
    }
  }

  void write() {
    for (LeafRole& leaf : leaves_) leaf.enter();
    for (FoldRole& fold : folds_) fold.enter();
    b_.each_chunk([&](Counter k) {
      for (LeafRole& leaf : leaves_) leaf.pass(k);
      for (FoldRole& fold : folds_) fold.pass(k);
      for (Result& result : results_) result.landing.take({.block = fixed(result.block), .chunk = counted(k)}, false);
    });
    for (FoldRole& fold : folds_) fold.leave();
    for (LeafRole& leaf : leaves_) leaf.leave();
  }

 private:
  struct Result {
    int block = 0;
    Landing landing;
  };
  Lanes make_lanes() { return {b_.memory_lane(), b_.net_lane(), b_.net_lane()}; }

  Builder& b_;
  LaneRef results_lane_;
  std::vector<LeafRole> leaves_;
  std::vector<FoldRole> folds_;
  std::vector<Result> results_;
};

}  // namespace

Program build_trees(Rank rank, const Shape& shape, const Spec& spec, const std::vector<Tree>& trees, Fold fold) {
  if (shape.ranks() == 1) return alone(shape, Collective::reduce);
  const Streams streams(shape, spec, trees);
  Builder b(
      rank, shape,
      {.collective = Collective::reduce, .root = spec.root, .blocks = static_cast<int>(trees.size()), .chunks = true},
      streams.kinds());
  Frame frame{.b = b, .spec = spec, .streams = streams, .fold = fold};
  if (streams.slots() > 0) frame.region = b.region(streams.slots());
  const int partials = spec.ordered && fold == Fold::at_once ? fold_slots(streams.operands()) : 0;
  if (partials > 0) frame.partials.region = b.region(streams.folds() * partials);
  Roles(frame, trees).write();
  return b.finish();
}

Traffic traffic_of(const Spec& spec, const std::vector<Tree>& trees) {
  Traffic traffic;
  std::vector<int> sent(trees.front().parent.size());
  for (const Tree& tree : trees) {
    traffic.steps = std::max(traffic.steps, depth_of(tree) + (tree.root != spec.root ? 1 : 0));
    for (std::size_t rank = 0; rank < sent.size(); ++rank)
      if (static_cast<Rank>(rank) != tree.root || tree.root != spec.root) ++sent[rank];
  }
  traffic.sent = static_cast<double>(std::ranges::max(sent)) / static_cast<double>(trees.size());
  return traffic;
}

bool canonical_of(const Shape& shape, const Spec& spec, const std::vector<Tree>& trees, Fold fold) {
  return std::ranges::all_of(trees, [&](const Tree& tree) {
    const std::vector<Rank> lowest = lowest_of(tree);
    const auto span = [&](const auto& self, Rank rank) -> Span {
      std::vector<Span> operands{Span::of(rank)};
      for (Rank child : tree.below(rank)) operands.push_back(self(self, child));
      if (operands.size() == 1) return operands.front();
      return span_of(steps_of(shape, spec, tree, lowest, fold, rank), operands);
    };
    return span(span, tree.root).canonical(shape);
  });
}

}  // namespace umbel::algos::reduce
