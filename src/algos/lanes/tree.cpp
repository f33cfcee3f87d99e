// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/lanes/tree.hpp"

#include <algorithm>

#include "algos/order.hpp"

namespace umbel::algos {
namespace {

/// A member of the in-order tree over positions low … high−1, in positions.
struct Position {
  int parent = -1;
  struct Child {
    int at = 0, low = 0, high = 0;
  };
  std::vector<Child> children;
};

/// Root of the in-order tree over [low, high): everything left of it is a perfect tree.
int middle(int low, int high) { return low + (1 << floor_log2(high - low)) - 1; }

Position in_order_position(int at, int members) {
  Position place;
  int low = 0, high = members;
  for (int root = middle(low, high); root != at; root = middle(low, high)) {
    place.parent = root;
    (at < root ? high : low) = at < root ? root : root + 1;
  }
  if (low < at) place.children.push_back({middle(low, at), low, at});
  if (at + 1 < high) place.children.push_back({middle(at + 1, high), at + 1, high});
  return place;
}

constexpr int kRadix = 4;

}  // namespace

TreePlace binomial_place(int member, int members) {
  TreePlace place;
  if (member != 0) place.parent = member & (member - 1);
  for (int bit = 1; member + bit < members && (member & bit) == 0; bit <<= 1)
    place.children.push_back({member + bit, member + bit});
  return place;
}

TreePlace double_tree_place(int tree, int member, int members) {
  // Tree 1 puts the members in other positions of the same tree.
  const bool mirrored = tree == 1 && members % 2 == 0;
  const bool shifted = tree == 1 && !mirrored;
  auto swap = [&](int n) { return mirrored ? members - 1 - n : n; };
  auto position_of = [&](int m) { return shifted ? modulo(m - 1, members) : swap(m); };
  auto member_at = [&](int at) { return shifted ? modulo(at + 1, members) : swap(at); };
  const Position position = in_order_position(position_of(member), members);
  TreePlace place;
  if (position.parent >= 0) place.parent = member_at(position.parent);
  for (const auto& child : position.children) {
    const bool holds_zero = shifted && child.high == members;  // member 0 has the last position
    const int lowest = holds_zero ? 0 : member_at(mirrored ? child.high - 1 : child.low);
    place.children.push_back({member_at(child.at), lowest});
  }
  return place;
}

Tree::Tree(Rank top, int ranks)
    : root(top), parent(static_cast<std::size_t>(ranks), -1), children(static_cast<std::size_t>(ranks)) {}

void Tree::hang(Rank child, Rank under) {
  parent[static_cast<std::size_t>(child)] = under;
  children[static_cast<std::size_t>(under)].push_back(child);
}

void Tree::turn_around() {
  for (std::vector<Rank>& below : children) std::ranges::reverse(below);
}

void hang_all(Tree& tree, std::span<const Rank> members, int (*parent_of)(int member)) {
  for (std::size_t m = 1; m < members.size(); ++m)
    tree.hang(members[m], members[static_cast<std::size_t>(parent_of(static_cast<int>(m)))]);
}

int binomial_parent(int member) { return member & (member - 1); }

int quadnomial_parent(int member) {
  int digit = 1;
  while (member / digit % kRadix == 0) digit *= kRadix;
  return member - member / digit % kRadix * digit;
}

int chain_parent(int member) { return member - 1; }

namespace {

/// Hangs what `group` contains under its bridge.
void hang_group(Tree& tree, const Shape& shape, const Group& group, Rank bridge, int shard,
                int (*parent_of)(int member), std::vector<Rank>& bridges) {
  if (group.is_node()) {
    bridges[static_cast<std::size_t>(shape.node_of(bridge))] = bridge;
    return;
  }
  const auto holds = [&](const Group& child) { return std::ranges::binary_search(child.ranks, bridge); };
  const auto own = std::ranges::find_if(group.children, holds) - group.children.begin();
  std::vector<Rank> members;
  for (std::size_t k = 0; k < group.children.size(); ++k) {
    const Group& child = group.children[(static_cast<std::size_t>(own) + k) % group.children.size()];
    members.push_back(k == 0 ? bridge : shape.peers_of(child.ranks.front())[static_cast<std::size_t>(shard)]);
    hang_group(tree, shape, child, members.back(), shard, parent_of, bridges);
  }
  hang_all(tree, members, parent_of);
}

}  // namespace

std::vector<Rank> hang_groups(Tree& tree, const Shape& shape, int shard, int (*parent_of)(int member)) {
  std::vector<Rank> bridges(static_cast<std::size_t>(shape.nodes()));
  hang_group(tree, shape, shape.root(), tree.root, shard, parent_of, bridges);
  return bridges;
}

void hang_mates(Tree& tree, const Shape& shape, std::span<const Rank> bridges) {
  for (Rank bridge : bridges)
    for (Rank mate : shape.peers_of(bridge))
      if (mate != bridge && mate != tree.root && tree.above(mate) < 0) tree.hang(mate, bridge);
}

std::vector<Tree> double_trees(Rank root, const std::vector<Rank>& members) {
  std::vector<Tree> trees;
  const auto others = static_cast<int>(members.size()) - 1;
  for (const int number : {0, 1}) {
    Tree& tree = trees.emplace_back(root, others + 1);
    for (int m = 0; m < others; ++m) {
      const int parent = double_tree_place(number, m, others).parent;
      tree.hang(members[static_cast<std::size_t>(m) + 1], members[static_cast<std::size_t>(parent + 1)]);
    }
  }
  return trees;
}

int depth_of(const Tree& tree) {
  const auto depth = [&](const auto& self, Rank rank) -> int {
    int deepest = 0;
    for (Rank child : tree.below(rank)) deepest = std::max(deepest, self(self, child) + 1);
    return deepest;
  };
  return depth(depth, tree.root);
}

double sent_down(std::span<const Tree> trees) {
  std::size_t most = 0;
  for (std::size_t rank = 0; rank < trees.front().children.size(); ++rank) {
    std::size_t children = 0;
    for (const Tree& tree : trees) children += tree.children[rank].size();
    most = std::max(most, children);
  }
  return static_cast<double>(most) / static_cast<double>(trees.size());
}

}  // namespace umbel::algos
