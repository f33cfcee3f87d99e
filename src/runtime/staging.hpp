// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <cstddef>
#include <memory>

#include "runtime/arguments.hpp"

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
  Staging(Rank me, int ranks, bool in_order) : me_(me), ranks_(ranks), in_order_(in_order) {}

  struct Staged {
    CallArgs args;
    InPlace in_place = InPlace::no;
  };
  /// The call that is run in place of this one. The same kind of call on all ranks. The memory is the call's until
  /// finish().
  Staged begin(const CallArgs& args, InPlace in_place);
  /// As begin() for a call whose buffers are not there yet: only what it is matters.
  CallArgs shape_of(const CallArgs& args) const;
  /// Brings the result to where it is wanted.
  void finish();

 private:
  bool widens(const CallArgs& args) const;
  Staged widen();
  void copy_input();
  void premultiply(Staged& staged);
  std::byte* memory(std::size_t bytes);

  Rank me_;
  int ranks_;
  bool in_order_;
  CallArgs args_{};  ///< as asked for
  Staged staged_{};
  std::unique_ptr<std::byte[]> memory_, products_;
  std::size_t bytes_ = 0;
};

}  // namespace umbel::runtime
