// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <cstddef>
#include <memory>

#include "runtime/arguments.hpp"
#include "runtime/registered.hpp"

namespace umbel::runtime {

/// Calls that go by way of memory of the communicator's own, because no program can do them as they are asked for:
///
///   all_to_all in-place            what is given is copied first
///   reduce_scatter, at the start   the result is copied last: it falls on elements that others may still read
///   a pre-multiplied sum           what is given is multiplied first
///   16- and 8-bit floats in        partial results are carried in fp32, and rounded (and divided) once at the end: the
///   reproducible mode              call is one of fp32
///
/// The memory is kept for the next call; peers may read it as they may a user's buffers.
class Staging {
 public:
  /// @param in_order  reproducible mode, with more than one order of folds
  /// @param registered  calls are planned for registered memory: so is this
  Staging(Rank me, int ranks, bool in_order, bool registered)
      : me_(me), ranks_(ranks), in_order_(in_order), copy_(registered), products_(registered) {}

  /// Begins a call: the same kind of call on all ranks. The memory is the call's until finish().
  void begin(const CallArgs& args, InPlace in_place);
  /// The call that is run in place of the one that was begun.
  const CallArgs& running() const { return running_; }
  /// As running() for a call whose buffers are not there yet: only what it is matters. `args` itself, or valid until
  /// the next question.
  const CallArgs& shape_of(const CallArgs& args);
  /// Brings the result to where it is wanted.
  void finish();

 private:
  /// Memory that grows to the largest that was asked for.
  class Kept {
   public:
    explicit Kept(bool registered) : registered_(registered) {}
    std::byte* take(std::size_t bytes);

   private:
    bool registered_;
    std::unique_ptr<std::byte[]> memory_;
    RegisteredBlock block_;  ///< instead
    std::size_t bytes_ = 0;
  };

  bool widens(const CallArgs& args) const;
  void widen();
  void copy_input();
  void premultiply();

  Rank me_;
  int ranks_;
  bool in_order_;
  bool staged_ = false;  ///< the call goes by way of memory; else the two that follow mean nothing
  CallArgs given_{};     ///< as asked for
  InPlace in_place_ = InPlace::no;
  CallArgs running_{};
  CallArgs shape_{};
  Kept copy_, products_;
};

}  // namespace umbel::runtime
