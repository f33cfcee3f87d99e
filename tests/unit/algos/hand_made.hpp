// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Small programs written by hand, right and wrong, to test the checker without the catalog.
#pragma once

#include <initializer_list>
#include <vector>

#include <gtest/gtest.h>

#include "algos/check/checker.hpp"

namespace umbel::algos::check {

/// Writes one rank's program, instruction by instruction.
class Hand {
 public:
  Hand(Rank rank, int ranks, int blocks = 1) {
    p.rank = rank;
    p.ranks = ranks;
    p.blocks = blocks;
  }

  Hand& lane(LaneKind kind = LaneKind::memory) {
    const auto at = static_cast<std::uint32_t>(p.instrs.size());
    p.lanes.push_back({.kind = kind, .begin = at, .end = at});
    return *this;
  }
  int semaphore(Rank signaller, int initial = 0) {
    p.semaphores.push_back({.signaller = signaller, .initial = initial});
    return static_cast<int>(p.semaphores.size()) - 1;
  }
  Hand& copy(const Slice& dst, const Slice& src) {
    return emit({.op = OpCode::copy, .src_count = 1, .src = add({src}), .dst = add({dst})});
  }
  Hand& reduce(const Slice& dst, std::initializer_list<Slice> sources, bool final = true) {
    return emit({.op = OpCode::reduce,
                 .final = final,
                 .src_count = static_cast<std::uint16_t>(sources.size()),
                 .src = add(sources),
                 .dst = add({dst})});
  }
  Hand& signal(Rank peer, int sem) { return emit({.op = OpCode::signal, .signal = target(peer, sem)}); }
  Hand& wait(int sem, unsigned times = 1) { return emit({.op = OpCode::wait, .sem = sem, .times = times}); }
  /// @param sem the own semaphore that the completion signals; −1: none
  Hand& send(const Slice& src, Rank peer, int sem = -1) {
    return emit({.op = OpCode::send,
                 .src_count = 1,
                 .src = add({src}),
                 .peer = peer,
                 .signal = sem < 0 ? -1 : target(p.rank, sem)});
  }
  Hand& recv(const Slice& dst, Rank peer, int sem = -1) {
    return emit({.op = OpCode::recv, .dst = add({dst}), .peer = peer, .signal = sem < 0 ? -1 : target(p.rank, sem)});
  }
  Hand& begin(Trip trip, unsigned times = 1) {
    open_.push_back(static_cast<std::uint32_t>(p.instrs.size()));
    return emit({.op = OpCode::loop_begin, .trip = trip, .times = times});
  }
  Hand& end() {
    const auto at = static_cast<std::uint32_t>(p.instrs.size());
    p.instrs[open_.back()].jump = at;
    emit({.op = OpCode::loop_end, .jump = open_.back()});
    open_.pop_back();
    return *this;
  }

  Slice input(int block = 0) const { return {.buffer = Buffer::input, .rank = p.rank, .block = {.base = block}}; }
  Slice output(int block = 0) const { return {.buffer = Buffer::output, .rank = p.rank, .block = {.base = block}}; }
  Slice window(int slot = 0, int block = 0) const {
    return {.buffer = Buffer::window, .rank = p.rank, .block = {.base = block}, .slot = {.base = slot}};
  }

  Program p;

 private:
  Hand& emit(const Instr& in) {
    p.instrs.push_back(in);
    p.lanes.back().end = static_cast<std::uint32_t>(p.instrs.size());
    return *this;
  }
  std::uint32_t add(std::initializer_list<Slice> slices) {
    const auto first = static_cast<std::uint32_t>(p.slices.size());
    p.slices.insert(p.slices.end(), slices);
    return first;
  }
  std::int32_t target(Rank peer, int sem) {
    p.signals.push_back({.peer = peer, .sem = sem});
    return static_cast<std::int32_t>(p.signals.size()) - 1;
  }

  std::vector<std::uint32_t> open_;
};

inline Slice at(Rank rank, Slice slice) {
  slice.rank = rank;
  return slice;
}

/// What run() finds in `times` operations of `programs`.
inline std::optional<Finding> find(const Shape& shape, const std::vector<Program>& programs, bool direct = true,
                                   std::uint64_t in_place = 0, int times = 3, std::uint64_t count = 4) {
  const std::vector<Operation> operations(
      static_cast<std::size_t>(times),
      {.programs = programs, .count = count, .piece = 2, .chunk = 2, .in_place = in_place});
  return run({.shape = shape, .direct = direct}, operations).finding;
}

inline void expect_right(const std::optional<Finding>& finding) {
  EXPECT_FALSE(finding) << name_of(finding->fault) << ": " << finding->text;
}

/// The fault is `fault` and its text says `word`.
inline void expect_fault(const std::optional<Finding>& finding, Fault fault, const std::string& word = "") {
  ASSERT_TRUE(finding) << "nothing found";
  EXPECT_EQ(name_of(finding->fault), name_of(fault)) << finding->text;
  EXPECT_NE(finding->text.find(word), std::string::npos) << "'" << word << "' is not in: " << finding->text;
}

}  // namespace umbel::algos::check
