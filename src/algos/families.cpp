// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/families.hpp"

#include <algorithm>
#include <bit>

#include "algos/canonical.hpp"
#include "algos/order.hpp"

namespace umbel::algos {
namespace {

std::string serves_all(const Shape&, const Spec&) { return {}; }

std::string needs_one_node(const Shape& shape, const Spec&) {
  if (shape.nodes() > 1) return "needs all ranks on one node";
  if (shape.ranks() > kMaxSources) return "serves at most 256 ranks";
  return {};
}

std::size_t largest_group(const Group& group) {
  std::size_t largest = group.children.size();
  for (const Group& child : group.children) largest = std::max(largest, largest_group(child));
  return largest;
}

std::string needs_two_nodes(const Shape& shape, const Spec&) {
  if (shape.nodes() < 2) return "needs at least two nodes";
  if (shape.largest_node() > kMaxSources) return "serves at most 256 ranks a node";
  for (const Group& group : shape.root().children)
    if (largest_group(group) > kMaxSources) return "serves at most 256 members in a group of nodes";
  return {};
}

std::string needs_power_of_two(const Shape& shape, const Spec&) {
  return std::has_single_bit(static_cast<unsigned>(shape.ranks())) ? "" : "needs a power of two of ranks";
}

std::string needs_even_ranks(const Shape& shape, const Spec&) {
  return shape.ranks() > 1 && shape.ranks() % 2 != 0 ? "needs an even number of ranks" : "";
}

Algorithm make(const Words& words, decltype(Algorithm::refuses) refuses, const Functions& functions) {
  return {.collective = words.collective,
          .name = words.name,
          .summary = words.summary,
          .steps = words.steps,
          .sent = words.sent,
          .source = words.source,
          .refuses = refuses,
          .build = functions.build,
          .traffic = functions.traffic,
          .canonical = functions.canonical,
          .cost = functions.cost,
          .unequal = words.unequal};
}

}  // namespace

Algorithm everywhere(const Words& words, const Functions& functions) { return make(words, serves_all, functions); }
Algorithm on_one_node(const Words& words, const Functions& functions) { return make(words, needs_one_node, functions); }
Algorithm on_several_nodes(const Words& words, const Functions& functions) {
  return make(words, needs_two_nodes, functions);
}
Algorithm on_powers_of_two(const Words& words, const Functions& functions) {
  return make(words, needs_power_of_two, functions);
}
Algorithm on_even_ranks(const Words& words, const Functions& functions) {
  return make(words, needs_even_ranks, functions);
}

bool folds_nothing(const Shape&, const Spec&) { return true; }

bool folds_in_rank_order(const Shape& shape, const Spec&) {
  return fold(spans_of(ranks_ascending(shape))).canonical(shape);
}

bool folds_at_once(const Shape& shape, const Spec& spec) { return spec.ordered || folds_in_rank_order(shape, spec); }

}  // namespace umbel::algos
