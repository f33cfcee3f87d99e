// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/collective.hpp"
#include "base/shares.hpp"
#include "base/types.hpp"
#include "base/user_op.hpp"

namespace umbel::runtime {

/// An operator that the caller has made.
struct CallerOp {
  UserOp user{};                                   ///< of RedOp::user
  alignas(16) std::array<std::byte, 16> scalar{};  ///< else: what this rank's elements are multiplied by, before a sum
  std::shared_ptr<const void> keep{};              ///< holds what `user` refers to
};

/// One call of a collective, as the doors hand it over.
struct CallArgs {
  Collective collective = Collective::all_reduce;
  const void* send = nullptr;  ///< the input, where this rank has one (base/collective.hpp)
  void* recv = nullptr;        ///< the output, where this rank has one
  std::size_t count = 0;       ///< elements of a buffer; of a ranked collective, of one rank's share; of a v-form, of
                               ///< this rank's, all_to_allv aside
  DType dtype = DType::int8;
  RedOp op = RedOp::sum;                       ///< of a collective that reduces; else sum
  Rank root = 0;                               ///< of a rooted collective; else 0
  std::shared_ptr<const CallerOp> custom{};    ///< of RedOp::user, or of a pre-multiplied sum; else nullptr
  std::shared_ptr<const ShareLists> shares{};  ///< of a v-form; a question about one may do without
};

/// How in- and output lie to each other. What is allowed, one rule per collective:
///   aligned    equal elements at equal places: recv == send; where one buffer holds a share and the other all of them,
///              the share lies at its place among them (rank · count elements from the start; in a v-form where its
///              displacement says)
///   at_start   reduce_scatter: recv == send, the result at the start, as MPI has it
///   exchanged  all_to_all: recv == send; in a v-form counts and displacements are then the same for both
/// Anything else must be disjoint. On rank 0 of a reduce_scatter recv == send is aligned.
enum class InPlace : std::uint8_t { no, aligned, at_start, exchanged };

/// What this rank's buffers hold, in bytes; 0 where it has none. Of a v-form with gaps: up to the end of the last
/// share.
struct BufferBytes {
  std::size_t input = 0;
  std::size_t output = 0;
};
BufferBytes buffer_bytes(const CallArgs& args, Rank me, int ranks);

/// Of a call that is counted by pairs: elements that one rank gives another, and takes from it. The giver's and the
/// taker's word must agree.
struct PairCounts {
  std::uint64_t gives = 0;
  std::uint64_t takes = 0;
};
PairCounts pair_counts(const CallArgs& args, Rank me, Rank peer);

/// Checks the arguments of one rank and says how its buffers lie.
/// @throws InvalidArgument
InPlace check_arguments(const CallArgs& args, Rank me, int ranks);

}  // namespace umbel::runtime
