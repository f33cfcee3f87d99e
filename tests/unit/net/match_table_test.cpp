// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "net/ucx/match_table.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "net/ucx/pool.hpp"

namespace umbel::net {
namespace {

struct Node {
  MessageKey name;
  Node* next = nullptr;
  std::uint32_t index = 0;
  const MessageKey& key() const { return name; }
};

MessageKey key_of(int source, std::uint64_t sequence, int channel = 0, std::uint32_t index = 0) {
  return {source, sequence, channel, index};
}

TEST(MatchTable, FindsByEveryPartOfTheKey) {
  std::vector<Node> nodes(5);
  nodes[0].name = key_of(1, 1);
  nodes[1].name = key_of(2, 1);
  nodes[2].name = key_of(1, 2);
  nodes[3].name = key_of(1, 1, 1);
  nodes[4].name = key_of(1, 1, 0, 1);
  MatchTable<Node> table;
  for (Node& node : nodes) table.add(&node);
  EXPECT_EQ(table.take(key_of(2, 2)), nullptr);
  for (Node& node : nodes) EXPECT_EQ(table.take(node.name), &node);
  EXPECT_EQ(table.take(nodes[0].name), nullptr);
  EXPECT_EQ(table.size(), 0U);
}

TEST(MatchTable, EqualKeysComeOutInOrderAlsoAfterGrowth) {
  std::vector<Node> nodes(5000);
  MatchTable<Node> table;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].name = key_of(static_cast<int>(i % 10), i / 1000);
    table.add(&nodes[i]);
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) ASSERT_EQ(table.take(nodes[i].name), &nodes[i]) << i;
}

TEST(MatchTable, RemovesOneAndMany) {
  std::vector<Node> nodes(600);
  MatchTable<Node> table;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].name = key_of(static_cast<int>(i % 2), i / 4);
    table.add(&nodes[i]);
  }
  table.remove(&nodes[1]);
  EXPECT_EQ(table.take(nodes[1].name), &nodes[3]) << "the other node with that key";
  int dropped = 0;
  table.remove_if([](const Node& node) { return node.name.source == 0; }, [&](Node*) { ++dropped; });
  EXPECT_EQ(dropped, 300);
  int left = 0;
  table.for_each([&](const Node& node) { left += node.name.source == 1 ? 1 : 1000; });
  EXPECT_EQ(left, 298);
  EXPECT_EQ(table.size(), 298U);
}

TEST(Pool, ReusesObjectsAtFixedAddresses) {
  Pool<Node> pool;
  Node* first = pool.take();
  Node* second = pool.take();
  EXPECT_NE(first, second);
  EXPECT_EQ(pool.in_use(), 2U);
  pool.give_back(first);
  EXPECT_EQ(pool.take(), first);
  for (int i = 0; i < 1000; ++i) (void)pool.take();
  EXPECT_EQ(pool.at(first->index), first);
  EXPECT_EQ(pool.at(second->index), second);
  EXPECT_EQ(pool.at(1002), nullptr);
}

}  // namespace
}  // namespace umbel::net
