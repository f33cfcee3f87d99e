// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/check/expressions.hpp"

#include <algorithm>
#include <bit>

#include "base/hash.hpp"

namespace umbel::algos::check {
namespace {

/// Leaves of the left part of a canonical tree with `leaves` leaves: the largest power of two below.
std::int32_t left_part(std::int32_t leaves) {
  return static_cast<std::int32_t>(std::bit_floor(static_cast<std::uint32_t>(leaves - 1)));
}

}  // namespace

Expressions::Expressions(int ranks) : ranks_(ranks), words_((static_cast<std::size_t>(ranks) + 63) / 64) {
  const std::size_t count = static_cast<std::size_t>(ranks) + 1;
  nodes_.resize(count);
  members_.resize(count * words_);
  for (Rank rank = 0; rank < ranks; ++rank) {
    nodes_[leaf(rank)] = Node{.lowest = rank, .tree = 1, .leaves = 1};
    members(leaf(rank))[static_cast<std::size_t>(rank) / 64] |= std::uint64_t{1} << (rank % 64);
  }
}

std::optional<Expr> Expressions::find(std::span<const Expr> operands, bool final, std::uint64_t hash) const {
  auto [low, high] = index_.equal_range(hash);
  for (; low != high; ++low) {
    const Node& node = nodes_[low->second];
    if (node.final == final && std::ranges::equal(operands, std::span(operands_).subspan(node.first, node.count)))
      return low->second;
  }
  return std::nullopt;
}

Expressions::Result Expressions::reduce(std::span<const Expr> operands, bool final, bool lower_first) {
  if (operands.size() == 1 && !final) return {.expr = operands.front()};
  std::uint64_t hash = final ? 0x9e3779b97f4a7c15ULL : kHashOfNothing;
  for (Expr operand : operands) hash = hashed(hash, operand);
  if (const auto found = find(operands, final, hash)) return {.expr = *found};
  return insert(operands, final, lower_first, hash);
}

Expressions::Result Expressions::insert(std::span<const Expr> operands, bool final, bool lower_first,
                                        std::uint64_t hash) {
  const auto fresh = static_cast<Expr>(nodes_.size());
  Node node{.first = static_cast<std::uint32_t>(operands_.size()),
            .count = static_cast<std::uint32_t>(operands.size()),
            .lowest = nodes_[operands.front()].lowest,
            .tree = nodes_[operands.front()].tree,
            .final = final};
  std::vector<std::uint64_t> all(words_);
  Rank last = -1;
  for (Expr operand : operands) {
    const Node& part = nodes_[operand];
    if (part.final) return {.trouble = Trouble::final_inside};
    for (std::size_t w = 0; w < words_; ++w) {
      const std::uint64_t both = all[w] & members(operand)[w];
      if (both != 0) return {.trouble = Trouble::twice, .rank = static_cast<Rank>(w * 64) + std::countr_zero(both)};
      all[w] |= members(operand)[w];
    }
    if (lower_first && part.lowest <= last) return {.trouble = Trouble::order};
    last = part.lowest;
    node.leaves += part.leaves;
    node.lowest = std::min(node.lowest, part.lowest);
    if (node.leaves == part.leaves) continue;  // the first operand
    const std::int32_t joined = node.tree + part.tree;
    const bool fits = node.tree > 0 && part.tree > 0 && part.lowest == nodes_[operands.front()].lowest + node.tree &&
                      node.tree == left_part(joined);
    node.tree = fits ? joined : 0;
  }
  operands_.insert(operands_.end(), operands.begin(), operands.end());
  nodes_.push_back(node);
  members_.insert(members_.end(), all.begin(), all.end());
  index_.emplace(hash, fresh);
  return {.expr = fresh};
}

bool Expressions::complete(Expr expr) const {
  const Node& node = nodes_[expr];
  return node.leaves == ranks_ && (node.final || ranks_ == 1);
}

bool Expressions::canonical(Expr expr) const { return nodes_[expr].tree == ranks_; }

std::vector<Rank> Expressions::missing(Expr expr) const {
  std::vector<Rank> out;
  for (Rank rank = 0; rank < ranks_; ++rank)
    if ((members(expr)[static_cast<std::size_t>(rank) / 64] >> (rank % 64) & 1U) == 0) out.push_back(rank);
  return out;
}

std::string Expressions::text(Expr expr) const {
  const Node& node = nodes_[expr];
  if (expr == 0) return "nothing";
  if (node.count == 0) return std::to_string(node.lowest);
  std::string out = "(";
  for (std::uint32_t k = 0; k < node.count; ++k) out += (k == 0 ? "" : "+") + text(operands_[node.first + k]);
  return out + (node.final ? ")!" : ")");
}

}  // namespace umbel::algos::check
