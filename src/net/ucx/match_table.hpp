// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "net/ucx/message.hpp"

namespace umbel::net {

/// A hash table from MessageKey to Node, intrusive: a Node has members `MessageKey key()` and `Node* next`, and is in
/// one table at a time. Adding, finding and removing allocate nothing (but for the growth of the bucket array, once).
/// Equal keys come out in the order in which they went in.
template <class Node>
class MatchTable {
 public:
  std::size_t size() const noexcept { return size_; }

  void add(Node* node) {
    if (size_ >= buckets_.size()) grow();
    append(bucket(node->key()), node);
    ++size_;
  }

  /// Takes out the first node with this key; null when there is none.
  Node* take(const MessageKey& key) noexcept {
    for (Node** link = &bucket(key); *link != nullptr; link = &(*link)->next) {
      if ((*link)->key() == key) return unlink(link);
    }
    return nullptr;
  }

  /// Takes out this very node. @pre it is in the table.
  void remove(const Node* node) noexcept {
    for (Node** link = &bucket(node->key()); *link != nullptr; link = &(*link)->next) {
      if (*link == node) {
        unlink(link);
        return;
      }
    }
  }

  /// Takes out all nodes for which `unwanted` holds and hands them to `drop`.
  template <class Predicate, class Drop>
  void remove_if(Predicate unwanted, Drop drop) {
    for (Node*& head : buckets_) {
      for (Node** link = &head; *link != nullptr;) {
        if (unwanted(**link)) {
          drop(unlink(link));
        } else {
          link = &(*link)->next;
        }
      }
    }
  }

  template <class Visit>
  void for_each(Visit visit) const {
    for (const Node* node : buckets_) {
      for (; node != nullptr; node = node->next) visit(*node);
    }
  }

 private:
  static std::uint64_t mix(std::uint64_t x) noexcept {
    x = (x ^ (x >> 31U)) * 0x9e3779b97f4a7c15ULL;
    return x ^ (x >> 29U);
  }

  Node*& bucket(const MessageKey& key) noexcept {
    const std::uint64_t who = static_cast<std::uint32_t>(key.source);
    const std::uint64_t what = (std::uint64_t{static_cast<std::uint32_t>(key.channel)} << 32U) | key.index;
    return buckets_[mix(mix(who) + mix(what + 0x632be59bd9b4e019ULL) + key.sequence) & (buckets_.size() - 1)];
  }

  static void append(Node*& head, Node* node) noexcept {
    node->next = nullptr;
    Node** link = &head;
    while (*link != nullptr) link = &(*link)->next;
    *link = node;
  }

  Node* unlink(Node** link) noexcept {
    Node* node = *link;
    *link = node->next;
    node->next = nullptr;
    --size_;
    return node;
  }

  void grow() {
    std::vector<Node*> old(buckets_.size() * 2);
    old.swap(buckets_);
    for (Node* node : old) {
      while (node != nullptr) {
        Node* rest = node->next;
        append(bucket(node->key()), node);
        node = rest;
      }
    }
  }

  std::vector<Node*> buckets_ = std::vector<Node*>(256);
  std::size_t size_ = 0;
};

}  // namespace umbel::net
