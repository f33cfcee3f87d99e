// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/collective.hpp"
#include "runtime/agents.hpp"
#include "runtime/arguments.hpp"
#include "runtime/health.hpp"
#include "runtime/members.hpp"

namespace umbel::runtime {

/// Short calls inside one node, without a program: each rank shows its data, and reads the root's or all the others'.
/// The control line says that the data is there; a few bytes lie in it, more in the slots of the call's bank. A
/// reduction is folded in the order of ranks; where the canonical order is asked for, as a tree.
class OneStepCalls {
 public:
  /// @param crowded  more ranks than cores: do not look twice
  OneStepCalls(Members& members, Health& health, bool crowded);

  /// Whether such calls exist at all here, and such a one: no v-form. The same on all ranks.
  /// @param by_slots  else only what fits in the control lines
  bool serves(const CallArgs& args, bool by_slots) const;

  /// Begins a call: shows this rank's data. One at a time; both arguments outlive it.
  /// @param call  as published to the others: `input` and `output` may be the same memory, in any of the in-place forms
  /// @pre the call's bank is free
  void start(const Call& call, const CallArgs& args);
  /// Whether it is through: all lines that it needs are there, and the result is written. @throws on a mismatch
  bool poll();

 private:
  void publish(std::size_t bytes);
  void ring_who_waits_for_this() const;
  bool met(Rank rank);
  const std::byte* given_by(Rank rank) const;
  const std::byte* shown_by(Rank rank) const;
  void finish();
  void fold(std::size_t count);
  void fold_as_tree(std::size_t count);
  void combine(std::byte* into, const void* const* sources, int source_count, std::size_t count, bool last);

  Members& members_;
  Health& health_;
  bool crowded_, allowed_;
  const Call* call_ = nullptr;
  const CallArgs* args_ = nullptr;
  bool in_line_ = true;               ///< the data of the present call, not in slots
  Rank next_ = 0, end_ = 0;           ///< whose lines are still to be seen
  std::vector<const void*> sources_;  ///< of a fold, by rank
  // Made when first needed:
  std::vector<std::byte> partials_;      ///< of a fold in order
  std::vector<std::byte> user_scratch_;  ///< of a caller's operator
};

}  // namespace umbel::runtime
