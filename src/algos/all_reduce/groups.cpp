// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/all_reduce/groups.hpp"

#include <algorithm>

namespace umbel::algos::all_reduce {
namespace {

/// Parts that a member of a small group owns at the most: beside a group that is so much larger, some of the larger
/// one's members own nothing.
constexpr int kMostParts = 4;

int depth_of(const Group& group) {
  int depth = 0;
  for (const Group& child : group.children) depth = std::max(depth, depth_of(child) + 1);
  return depth;
}

Tier tier_of(const Group& group, int level) {
  Tier tier{.ranks = group.ranks, .children = {}};
  if (level == 0) return tier;
  if (group.is_node()) tier.children.push_back(tier_of(group, level - 1));
  for (const Group& child : group.children) tier.children.push_back(tier_of(child, level - 1));
  return tier;
}

/// The sizes of all groups of each level.
void collect_sizes(const Tier& group, int level, std::vector<std::vector<int>>& sizes) {
  if (level == 0) return;
  sizes[static_cast<std::size_t>(level) - 1].push_back(static_cast<int>(group.children.size()));
  for (const Tier& child : group.children) collect_sizes(child, level - 1, sizes);
}

/// Which of `members` owns part `part` of `parts`.
int owner_of_part(int part, int parts, int members) { return members <= parts ? part * members / parts : part; }

int parts_owned(int member, int parts, int members) {
  int owned = 0;
  for (int part = 0; part < parts; ++part) owned += owner_of_part(part, parts, members) == member ? 1 : 0;
  return owned;
}

}  // namespace

Groups::Groups(const Shape& shape) : shards_(shape.smallest_node()) {
  const int levels = std::max(0, depth_of(shape.root()) - 1);
  const Tier root = tier_of(shape.root(), levels + 1);
  tops_ = root.children;
  std::vector<std::vector<int>> sizes(static_cast<std::size_t>(levels));
  for (const Tier& top : tops_) collect_sizes(top, levels, sizes);
  for (const auto& members : sizes) {
    const auto [least, most] = std::ranges::minmax(members);
    const int parts = std::min(most, kMostParts * least);
    parts_.push_back(parts);
    most_members_.push_back(most);
    paths_ *= parts;
    most_owned_ *= (parts + least - 1) / least;
  }
}

int Groups::part(int path, int level) const {
  for (int above = levels(); above > level; --above) path /= parts(above);
  return path % parts(level);
}

int Groups::owning_child(const Tier& group, int level, int path) const {
  return owner_of_part(part(path, level), parts(level), static_cast<int>(group.children.size()));
}

Rank Groups::owner(const Tier& group, int level, int path, int shard) const {
  if (level == 0) return group.ranks[static_cast<std::size_t>(shard)];
  const Tier& child = group.children[static_cast<std::size_t>(owning_child(group, level, path))];
  return owner(child, level - 1, path, shard);
}

Groups::Place Groups::place_of(Rank rank) const {
  const auto index_in = [&](const std::vector<Tier>& tiers) {
    return static_cast<int>(
        std::ranges::find_if(tiers, [&](const Tier& t) { return std::ranges::binary_search(t.ranks, rank); }) -
        tiers.begin());
  };
  Place place;
  const std::vector<Tier>* tiers = &tops_;
  for (int level = levels(); level >= 0; --level) {
    place.child.push_back(index_in(*tiers));
    place.tiers.push_back(&(*tiers)[static_cast<std::size_t>(place.child.back())]);
    tiers = &place.tiers.back()->children;
  }
  std::ranges::reverse(place.child);
  std::ranges::reverse(place.tiers);
  return place;
}

int Groups::steps(const Tier& group, int level, int path) const {
  if (level == 0) return group.ranks.size() > 1 ? 1 : 0;
  const auto owning = static_cast<std::size_t>(owning_child(group, level, path));
  int most = 0;
  for (std::size_t child = 0; child < group.children.size(); ++child)
    most = std::max(most, steps(group.children[child], level - 1, path) + (child == owning ? 0 : 1));
  return most;
}

Groups::Share Groups::share_of(const Place& place) const {
  Share share;
  for (int level = 1; level <= levels(); ++level) {
    const auto members = static_cast<int>(place.tiers[static_cast<std::size_t>(level)]->children.size());
    const int all = parts(level);
    const double owned = parts_owned(place.child[static_cast<std::size_t>(level) - 1], all, members);
    // Others' parts are given to their owners, own ones are handed to all others.
    share.sent += share.exchanged * ((all - owned) + owned * (members - 1)) / all;
    share.exchanged *= owned / all;
  }
  return share;
}

void Groups::for_each_node(const std::function<void(const Place&)>& use) const {
  const auto visit = [&](const auto& self, const Tier& group) -> void {
    if (group.children.empty()) use(place_of(group.ranks.front()));
    for (const Tier& child : group.children) self(self, child);
  };
  for (const Tier& top : tops_) visit(visit, top);
}

double Groups::sent(const std::function<double(int top)>& exchange) const {
  double most = 0;
  for_each_node([&](const Place& place) {
    const Share share = share_of(place);
    // All shards but one are read by the other owners of the node, the own finished shard by all node-mates.
    const double inside = static_cast<double>(shards_ - 1) + static_cast<double>(place.tiers.front()->ranks.size() - 1);
    most = std::max(most, (share.sent + share.exchanged * exchange(place.top()) + inside) / shards_);
  });
  return most;
}

std::vector<Span> Groups::spans() const {
  const auto span_of = [](const auto& self, const Tier& group) -> Span {
    std::vector<Span> members = group.children.empty() ? spans_of(group.ranks) : std::vector<Span>{};
    for (const Tier& child : group.children) members.push_back(self(self, child));
    return fold(members);
  };
  std::vector<Span> spans;
  for (const Tier& top : tops_) spans.push_back(span_of(span_of, top));
  return spans;
}

double Groups::largest_share() const {
  double most = 0;
  for_each_node([&](const Place& place) { most = std::max(most, share_of(place).exchanged); });
  return most;
}

double Groups::largest_level_share() const {
  double most = 0;
  for_each_node([&](const Place& place) { most = std::max(most, share_of(place).sent); });
  return most;
}

}  // namespace umbel::algos::all_reduce
