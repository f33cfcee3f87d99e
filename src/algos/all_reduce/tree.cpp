// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/all_reduce/tree.hpp"

#include <algorithm>
#include <optional>

namespace umbel::algos::all_reduce {
namespace {

/// The lanes of one rank in one tree: up and down do not wait for each other, chunk by chunk.
class TreeLanes {
 public:
  TreeLanes(Builder& b, const TreePlace& place, const TreeSetup& setup)
      : b_(b),
        place_(place),
        setup_(setup),
        up_{b.memory_lane(), b.net_lane(), b.net_lane()},
        down_{b.memory_lane(), b.net_lane(), b.net_lane()} {}

  void write() {
    open_up();
    open_down();
    b_.each_chunk([&](Counter k) {
      const Range chunk{.block = fixed(setup_.block), .chunk = counted(k)};
      reduce_up(chunk);
      broadcast_down(chunk);
    });
  }

 private:
  struct Lanes {
    LaneRef memory, send, recv;
  };

  bool is_root() const { return place_.parent < 0; }
  bool is_leaf() const { return place_.children.empty(); }
  Rank rank_of(int member) const { return setup_.members[static_cast<std::size_t>(member)]; }
  bool parent_local() const { return b_.shape().same_node(b_.rank(), rank_of(place_.parent)); }
  Slice own(const Range& chunk) const { return setup_.own == Buffer::input ? b_.input(chunk) : b_.output(chunk); }

  /// Slots: `depth` for what goes up, for what goes down, and for each child's messages from the net.
  StreamPlace stream(bool up, Rank peer, int child = 0) const {
    return {.peer = peer,
            .kind = setup_.kind + (up ? 0 : 2),
            .region = setup_.region,
            .out_slot = setup_.slot + (up ? 0 : setup_.depth),
            .in_slot = setup_.slot + (2 + child) * setup_.depth,
            .depth = setup_.depth,
            .channel = setup_.channel};
  }

  void open_up() {
    std::vector<StreamPlace> streams;
    for (const auto& child : place_.children)
      streams.push_back(stream(true, rank_of(child.member), static_cast<int>(streams.size())));
    from_children_.emplace(b_, up_.memory, up_.recv, std::move(streams));
    if (is_root()) {
      finished_ = b_.flag();
      return;
    }
    to_parent_.emplace(b_, up_.memory, up_.send, stream(true, rank_of(place_.parent)));
    if (!parent_local()) reusable_ = b_.flag();
  }

  void open_down() {
    std::vector<Rank> children;
    for (const auto& child : place_.children) children.push_back(rank_of(child.member));
    to_children_.emplace(b_, down_.memory, down_.send, stream(false, b_.rank()), children);
    if (!is_root()) from_parent_.emplace(b_, down_.memory, down_.recv, stream(false, rank_of(place_.parent)));
  }

  /// Children and own operand, in the order of the lowest member that each contains.
  std::vector<Slice> operands(const Range& chunk) {
    std::vector<std::pair<int, Slice>> sorted{{setup_.here, own(chunk)}};
    const std::vector<Slice> fronts = from_children_->front(chunk);
    for (std::size_t c = 0; c < fronts.size(); ++c) sorted.emplace_back(place_.children[c].lowest, fronts[c]);
    std::ranges::sort(sorted, {}, &std::pair<int, Slice>::first);
    std::vector<Slice> slices;
    for (const auto& [lowest, slice] : sorted) slices.push_back(slice);
    return slices;
  }

  void reduce_up(const Range& chunk) {
    if (is_leaf()) {
      to_parent_->pass(own(chunk), chunk, setup_.partial, reusable_.raise);
      return;
    }
    if (setup_.partial) b_.wait(up_.memory, setup_.partial);
    const std::vector<Slice> sources = operands(chunk);
    if (is_root()) {
      b_.reduce(up_.memory, b_.output(chunk), sources, true);
      b_.signal(up_.memory, finished_.raise);
    } else {
      to_parent_->produce(chunk, [&](const Slice& slot) { b_.reduce(up_.memory, slot, sources); });
      if (reusable_) b_.signal(up_.memory, reusable_.raise);
    }
    from_children_->pop();
  }

  void broadcast_down(const Range& chunk) {
    // Over a net: the own operand lies, maybe, in these very elements: it must have been folded, or a leaf's have left.
    Wait here = is_root() ? finished_.wait : from_parent_->take(chunk, !is_leaf() || bool(setup_.done), reusable_.wait);
    if (setup_.done) {
      if (here) b_.wait(down_.memory, here);
      here = {};
      b_.signal(down_.memory, setup_.done);
    }
    to_children_->push(b_.output(chunk), chunk, here);
  }

  Builder& b_;
  const TreePlace& place_;
  const TreeSetup& setup_;
  Lanes up_, down_;
  std::optional<Intake> from_children_;
  std::optional<Outbox> to_parent_;  // none at the root
  std::optional<Landing> from_parent_;
  std::optional<Fanout> to_children_;
  Flag finished_{}, reusable_{};
};

}  // namespace

Span double_tree_span(int tree, const std::vector<Span>& members) {
  const auto count = static_cast<int>(members.size());
  const auto subtree = [&](const auto& self, int member) -> Span {
    std::vector<Span> operands{members[static_cast<std::size_t>(member)]};
    for (const auto& child : double_tree_place(tree, member, count).children)
      operands.push_back(self(self, child.member));
    return fold(operands);
  };
  int root = 0;
  for (int up = 0; up >= 0; up = double_tree_place(tree, root, count).parent) root = up;
  return subtree(subtree, root);
}

void write_tree(Builder& builder, const TreePlace& place, const TreeSetup& setup) {
  TreeLanes(builder, place, setup).write();
}

}  // namespace umbel::algos::all_reduce
