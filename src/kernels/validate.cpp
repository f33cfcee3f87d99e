// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "kernels/validate.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"

namespace umbel::kernels {
namespace {

/// One lane's walk; every complaint names the instruction.
class LaneCheck {
 public:
  LaneCheck(const Program& program, const Lane& lane) : program_(program), lane_(lane) {}

  void run() {
    if (lane_.begin > lane_.end || lane_.end > program_.instrs.size()) fail("the lane's range is outside the program");
    for (pc_ = lane_.begin; pc_ < lane_.end; ++pc_) check(program_.instrs[pc_]);
    if (!open_loops_.empty()) fail("a loop is not closed");
  }

 private:
  void check(const Instr& in) {
    switch (in.op) {
      case OpCode::copy:
      case OpCode::reduce:
        need(lane_.kind == LaneKind::memory, "copy and reduce belong in memory lanes");
        need(in.src_count >= 1 && in.src_count <= kMaxSources, "number of sources");
        need(in.op == OpCode::reduce || in.src_count == 1, "a copy has one source");
        check_slice(in.dst);
        for (std::uint32_t k = 0; k < in.src_count; ++k) check_slice(in.src + k);
        break;
      case OpCode::send:
      case OpCode::recv:
        need(lane_.kind == LaneKind::net, "send and recv belong in net lanes");
        need(in.peer >= 0 && in.peer < program_.ranks, "peer");
        check_slice(in.op == OpCode::send ? in.src : in.dst);
        if (in.signal >= 0) check_signal(in.signal);
        break;
      case OpCode::signal:
        check_signal(in.signal);
        break;
      case OpCode::wait:
        check_semaphore(in.sem);
        break;
      case OpCode::loop_begin:
        need(in.jump > pc_ && in.jump < lane_.end, "loop_begin's partner");
        if (in.trip == Trip::slice) check_slice(in.src);
        open_loops_.push_back(pc_);
        need(open_loops_.size() <= kMaxLoopDepth, "loops nest too deep");
        break;
      case OpCode::loop_end:
        need(!open_loops_.empty() && open_loops_.back() == in.jump && program_.instrs[in.jump].jump == pc_,
             "loop_end's partner");
        open_loops_.pop_back();
        break;
    }
  }

  void check_slice(std::uint32_t index) {
    need(index < program_.slices.size(), "slice index");
    const Slice& slice = program_.slices[index];
    need(slice.rank >= 0 && slice.rank < program_.ranks, "a slice's rank");
    if (slice.bundle >= 0) {
      const std::int64_t end = std::int64_t{slice.bundle} + slice.item + slice.items;
      need(slice.item >= 0 && slice.items >= 1 && end < static_cast<std::int64_t>(program_.bundles.size()),
           "a slice's bundle");
    }
    if (slice.buffer != Buffer::window) return;
    need(slice.region >= 0 && static_cast<std::size_t>(slice.region) < program_.regions.size(), "a slice's region");
    need(slice.slot.base >= 0 && slice.slot.depth >= 1, "a slice's slot");
    if (slice.slot.sem >= 0) check_semaphore(slice.slot.sem);
  }

  void check_semaphore(std::int32_t sem) {
    need(sem >= 0 && static_cast<std::size_t>(sem) < program_.semaphores.size(), "semaphore index");
    need(program_.semaphores[static_cast<std::size_t>(sem)].initial >= 0, "a semaphore's initial count");
  }

  void check_signal(std::int32_t signal) {
    need(signal >= 0 && static_cast<std::size_t>(signal) < program_.signals.size(), "signal index");
  }

  void need(bool holds, const char* what) const {
    if (!holds) fail(what);
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw InvalidArgument(fmt::format("program of rank {}, instruction {}: {}", program_.rank, pc_, what));
  }

  const Program& program_;
  const Lane& lane_;
  std::uint32_t pc_ = 0;
  std::vector<std::uint32_t> open_loops_;
};

}  // namespace

void validate(const Program& program) {
  if (program.regions.size() > kMaxRegions) {
    throw InvalidArgument(fmt::format("program of rank {}: more than {} regions", program.rank, kMaxRegions));
  }
  const bool whole_shares = program.shares > 0 && program.blocks == program.shares * program.ranks;
  if (ranked(program.collective) ? !whole_shares || program.uses_pieces : program.shares != 0) {
    throw InvalidArgument(fmt::format("program of rank {}: {} blocks in shares of {}, pieces {}", program.rank,
                                      program.blocks, program.shares, program.uses_pieces));
  }
  for (const Lane& lane : program.lanes) LaneCheck(program, lane).run();
}

}  // namespace umbel::kernels
