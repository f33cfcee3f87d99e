// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/broadcast/trees.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "algos/builder.hpp"
#include "algos/stream.hpp"

namespace umbel::algos::broadcast {
namespace {

/// With which semaphores and in which slots each rank shows the chunks of each tree to its node-mates. The same on all
/// ranks: a mate must know the sender's.
class Shows {
 public:
  struct Place {
    int kind = 0;  ///< pairs of kinds: trees in which a rank shows to the same mate have different ones
    int slot = 0;  ///< streams: each tree in which a rank shows anything has its own
  };

  Shows(const Shape& shape, const std::vector<Tree>& trees) : places_(trees.size()) {
    for (Rank rank = 0; rank < shape.ranks(); ++rank) {
      int slots = 0;
      std::vector<std::set<Rank>> shown;  // to whom, by kind
      for (std::size_t t = 0; t < trees.size(); ++t) {
        Place& place = places_[t].emplace_back();
        std::set<Rank> mates;
        for (Rank child : trees[t].below(rank))
          if (shape.same_node(rank, child)) mates.insert(child);
        if (mates.empty()) continue;
        place.slot = slots++;
        const auto apart = [&](const std::set<Rank>& others) {
          return std::ranges::none_of(mates, [&](Rank mate) { return others.contains(mate); });
        };
        const auto free = std::ranges::find_if(shown, apart);
        place.kind = static_cast<int>(free - shown.begin());
        if (free == shown.end()) shown.emplace_back();
        shown[static_cast<std::size_t>(place.kind)].merge(mates);
      }
      slots_ = std::max(slots_, slots);
      kinds_ = std::max(kinds_, static_cast<int>(shown.size()));
    }
  }

  int kinds() const { return 2 * kinds_; }
  int streams() const { return slots_; }
  Place at(std::size_t tree, Rank rank) const { return places_[tree][static_cast<std::size_t>(rank)]; }

 private:
  std::vector<std::vector<Place>> places_;  // by tree and rank
  int slots_ = 0, kinds_ = 0;
};

struct Lanes {
  LaneRef memory, send, recv;
};

/// What one rank does in one tree.
class Role {
 public:
  Role(Builder& b, const Lanes& lanes, int block, const Tree& tree, std::optional<StreamPlace> from,
       const StreamPlace& to)
      : b_(b), lanes_(lanes), block_(block), hands_on_(!tree.below(b.rank()).empty()) {
    if (from) landing_.emplace(b, lanes.memory, lanes.recv, *from);
    fanout_.emplace(b, lanes.memory, lanes.send, to, tree.below(b.rank()));
  }

  void pass(Counter k) {
    const Range chunk{.block = fixed(block_), .chunk = counted(k)};
    Wait here;
    if (landing_)
      here = landing_->take(chunk, hands_on_);
    else
      b_.copy(lanes_.memory, b_.output(chunk), b_.input(chunk));
    fanout_->push(b_.output(chunk), chunk, here);
  }

  void finish() {
    if (landing_) landing_->finish();
    fanout_->finish();
  }

 private:
  Builder& b_;
  Lanes lanes_;
  int block_;
  bool hands_on_;
  std::optional<Landing> landing_;  // none at the root
  std::optional<Fanout> fanout_;
};

}  // namespace

Program build_trees(Rank rank, const Shape& shape, const Spec& spec, const std::vector<Tree>& trees) {
  if (shape.ranks() == 1) return alone(shape, Collective::broadcast);
  const Shows shows(shape, trees);
  Builder b(rank, shape,
            {.collective = Collective::broadcast,
             .root = spec.root,
             .blocks = static_cast<int>(trees.size()),
             .chunks = true},
            shows.kinds());
  const int region = spec.direct || shows.streams() == 0 ? -1 : b.region(shows.streams() * spec.depth);
  const auto place = [&](std::size_t tree, Rank sender) {
    const Shows::Place shown = shows.at(tree, sender);
    return StreamPlace{.peer = sender,
                       .kind = 2 * shown.kind,
                       .region = region,
                       .out_slot = shown.slot * spec.depth,
                       .depth = spec.depth,
                       .channel = static_cast<int>(tree),
                       .direct = spec.direct};
  };
  const auto make_lanes = [&] { return Lanes{b.memory_lane(), b.net_lane(), b.net_lane()}; };
  const Lanes shared = make_lanes();
  std::vector<Role> roles;
  roles.reserve(trees.size());
  for (std::size_t t = 0; t < trees.size(); ++t) {
    const Rank parent = trees[t].above(rank);
    const bool own_lanes = parent >= 0 && !trees[t].below(rank).empty();
    std::optional<StreamPlace> from;
    if (parent >= 0) from = place(t, parent);
    roles.emplace_back(b, own_lanes ? make_lanes() : shared, static_cast<int>(t), trees[t], from, place(t, rank));
  }
  b.each_chunk([&](Counter k) {
    for (Role& role : roles) role.pass(k);
  });
  for (Role& role : roles) role.finish();
  return b.finish();
}

Traffic traffic_of(const std::vector<Tree>& trees) {
  Traffic traffic{.steps = 0, .sent = sent_down(trees)};
  for (const Tree& tree : trees) traffic.steps = std::max(traffic.steps, depth_of(tree));
  return traffic;
}

}  // namespace umbel::algos::broadcast
