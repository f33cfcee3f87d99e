// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <cstdint>
#include <vector>

#include "base/collective.hpp"
#include "runtime/agents.hpp"
#include "runtime/arguments.hpp"
#include "runtime/health.hpp"
#include "runtime/members.hpp"
#include "runtime/waiter.hpp"

namespace umbel::runtime {

/// Calls of a few bytes inside one node: the data lies inside the control lines. Each rank writes its line and reads
/// those that it needs: the root's, or all; a reduction is folded in the order of ranks, `in_order` as a tree.
class TinyCalls {
 public:
  /// @param crowded  more ranks than cores: do not look twice
  TinyCalls(Members& members, Health& health, Waiter& waiter, bool crowded, bool in_order);

  /// Whether such calls exist at all here, and such a one. The same on all ranks.
  bool serves(const CallArgs& args) const;

  /// The whole call. @param call  as published to the others: `input` and `output` may be the same memory, in any of
  /// the in-place forms.
  void run(const Call& call, const CallArgs& args);

 private:
  void publish(const Call& call, std::size_t bytes);
  void meet(Rank rank, const Call& call);
  void fold(const Call& call, std::size_t count);
  void fold_as_tree(const Call& call, std::size_t count);

  Members& members_;
  Health& health_;
  Waiter& waiter_;
  bool crowded_, in_order_, allowed_;
  std::vector<const void*> sources_;  ///< of a fold, by rank
  std::vector<std::byte> partials_;   ///< of a fold in order
};

}  // namespace umbel::runtime
