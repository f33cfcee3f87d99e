// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The machine's data: where slices lie, what they hold, and transfers between ranks.
#include <fmt/format.h>

#include "algos/check/machine.hpp"

namespace umbel::algos::check {

Machine::Cells Machine::resolve(const LaneRun& lane, const Slice& slice, const char* role) {
  const Binding& b = binding(lane.operation, lane.rank);
  const std::int64_t block = slice.block.at(lane.loops);
  // Pieces and chunks past the end are empty by definition; a block past the end is a mistake.
  const bool packed = umbel::packed(b, slice);
  const Program& p = program(lane.operation, lane.rank);
  const std::int64_t blocks = packed ? p.regions[static_cast<std::size_t>(slice.region)].blocks : p.blocks;
  const bool in_window = slice.bundle >= 0 && slice.buffer == Buffer::window;  // then `block` says nothing
  if (!in_window && (block < 0 || block + slice.blocks > blocks)) {
    fail(Fault::bounds, [&] {
      return fmt::format("{}: blocks {} to {} of {} ({})", where(lane), block, block + slice.blocks - 1, blocks, role);
    });
  }
  if (b.shares != 0 && !packed && block % b.shares + slice.blocks > b.shares &&
      (block % b.shares != 0 || slice.blocks % static_cast<std::int64_t>(b.shares) != 0 || b.order != nullptr)) {
    fail(Fault::bounds, [&] {
      return fmt::format("{}: a run of {} blocks from {} over parts of shares ({})", where(lane), slice.blocks, block,
                         role);
    });
  }
  if (slice.piece.at(lane.loops) < 0 || slice.chunk.at(lane.loops) < 0)
    fail(Fault::bounds, [&] { return fmt::format("{}: a piece or chunk below 0 ({})", where(lane), role); });
  const Extent extent = extent_of(b, slice, lane.loops);
  if (slice.buffer == Buffer::window) return resolve_window(lane, slice, extent);
  return resolve_user(lane, slice, extent, role);
}

Machine::Cells Machine::resolve_user(const LaneRun& lane, const Slice& slice, Extent extent, const char* role) {
  const Extent held = this->held(lane.operation, slice.rank, slice.buffer);
  // Of a buffer that holds its owner's share alone, only the place in that counts (user_offset).
  const Binding& b = binding(lane.operation, lane.rank);
  if (b.own_share[slice.buffer == Buffer::output ? 1 : 0])
    extent.first += held.first - share_extent(b, slice.buffer, slice.rank).first;
  if (extent.count != 0 && (extent.first < held.first || extent.first + extent.count > held.first + held.count)) {
    fail(Fault::bounds, [&] {
      return fmt::format("{}: elements {} to {} of rank {}'s {}, which holds {} from {} ({})", where(lane),
                         extent.first, extent.first + extent.count - 1, slice.rank,
                         slice.buffer == Buffer::input ? "input" : "output", held.count, held.first, role);
    });
  }
  return {area(slice.rank, area_of(lane.operation, slice.rank, slice.buffer)) + extent.first, extent.count};
}

Machine::Cells Machine::resolve_window(const LaneRun& lane, const Slice& slice, const Extent& extent) {
  const Binding& b = binding(lane.operation, lane.rank);
  std::uint32_t consumed = 0;
  if (slice.slot.sem >= 0) {
    consumed = at(lane.operation, lane.rank).semaphores[static_cast<std::size_t>(slice.slot.sem)].consumed;
    if (consumed == 0)
      fail(Fault::bounds,
           [&] { return fmt::format("{}: a slot by s{} before the first wait", where(lane), slice.slot.sem); });
  } else if (slice.slot.index.at(lane.loops) < 0) {
    fail(Fault::bounds, [&] { return where(lane) + ": a slot below 0"; });
  }
  const std::uint64_t offset = window_offset(b, slice, lane.loops, extent, consumed) / b.elem_bytes;
  const auto region = static_cast<std::size_t>(slice.region);
  const std::uint64_t into = (offset - b.region_offset[region] / b.elem_bytes) % (b.slot_bytes[region] / b.elem_bytes);
  // An image holds a piece, another slot at most one chunk of its own number of blocks.
  const std::uint64_t room = b.slot_bytes[region] / b.elem_bytes;
  if (into + extent.count > room) {
    fail(Fault::bounds,
         [&] { return fmt::format("{}: {} elements in a slot of {}", where(lane), into + extent.count, room); });
  }
  return {area(slice.rank, area_of(lane.operation, slice.rank, Buffer::window)) + offset, extent.count};
}

void Machine::touch(const LaneRun& lane, const Instr& in, const Cells& cells, bool writes, Epoch self) {
  const auto how = static_cast<std::uint64_t>(writes) << 1U | static_cast<std::uint64_t>(in.final);
  if (cells.count > 0) mark(lane, in.op, cells.first << 2U | how, cells.count);
  if (explain_) {
    log_.push_back({self, cells, writes, static_cast<int>(lane.number), lane.pc, lane.rank, lane.operation});
  }
  for (std::size_t e = cells.first; e < cells.first + cells.count; ++e) {
    const auto conflict = writes ? memory_->write(e, lane.clock, self) : memory_->read(e, lane.clock, self);
    if (conflict) fail_race(*conflict, e, explain_ ? where(lane) : std::string());
    if (!writes && memory_->value(e).expr == 0)
      fail(Fault::value, [&] { return fmt::format("{}: reads {}, which nobody has written", where(lane), place(e)); });
  }
}

void Machine::copy(const LaneRun& lane, const Instr& in) {
  const Program& p = program(lane.operation, lane.rank);
  const Slice& from = p.slices[in.src];
  const Slice& to = p.slices[in.dst];
  const Cells source = resolve(lane, from, "source");
  const Cells target = resolve(lane, to, "destination");
  check_operand(lane, source, target);
  const Epoch self{lane.component, lane.clock[lane.component]};
  touch(lane, in, source, false, self);
  touch(lane, in, target, true, self);
  const bool crosses = from.rank != to.rank;
  for (std::size_t e = 0; e < source.count; ++e) {
    Value value = memory_->value(source.first + e);
    value.steps += crosses ? 1U : 0U;
    memory_->value(target.first + e) = value;
  }
  if (crosses) sent_[static_cast<std::size_t>(from.rank)] += source.count;
}

/// Source and destination are equally long, and the same memory or apart.
void Machine::check_operand(const LaneRun& lane, const Cells& source, const Cells& target) const {
  if (source.count != target.count) {
    fail(Fault::bounds,
         [&] { return fmt::format("{}: {} elements into {}", where(lane), source.count, target.count); });
  }
  const bool apart = source.first + source.count <= target.first || target.first + target.count <= source.first;
  if (!apart && source.first != target.first)
    fail(Fault::bounds, [&] { return where(lane) + ": source and destination overlap in part"; });
}

void Machine::reduce(const LaneRun& lane, const Instr& in) {
  const Program& p = program(lane.operation, lane.rank);
  const Slice& to = p.slices[in.dst];
  const Cells target = resolve(lane, to, "destination");
  const Epoch self{lane.component, lane.clock[lane.component]};
  sources_.clear();
  for (std::uint32_t k = 0; k < in.src_count; ++k) {
    const Slice& from = p.slices[in.src + k];
    const Cells source = resolve(lane, from, "source");
    check_operand(lane, source, target);
    touch(lane, in, source, false, self);
    sources_.push_back(source);
    if (from.rank == to.rank) continue;
    sent_[static_cast<std::size_t>(from.rank)] += source.count;
    crossing_.push_back(k);
  }
  touch(lane, in, target, true, self);
  for (std::size_t e = 0; e < target.count; ++e) memory_->value(target.first + e) = combine(lane, in, e);
  crossing_.clear();
}

/// The value of element `e` of a reduce whose sources are sources_.
Value Machine::combine(const LaneRun& lane, const Instr& in, std::size_t e) {
  operands_.clear();
  Value out{0, memory_->value(sources_.front().first + e).element, 0};
  for (const Cells& source : sources_) {
    const Value& value = memory_->value(source.first + e);
    if (value.element != out.element) {
      fail(Fault::value, [&] {
        return fmt::format("{}: combines element {} with element {}", where(lane), out.element, value.element);
      });
    }
    operands_.push_back(value.expr);
    out.steps = std::max(out.steps, value.steps);
  }
  for (const std::uint32_t k : crossing_)
    out.steps = std::max(out.steps, memory_->value(sources_[k].first + e).steps + 1);
  if (last_result_ == 0 || last_final_ != in.final || operands_ != last_operands_) {
    const Expressions::Result result = expressions_.reduce(operands_, in.final, setting_.lower_first);
    if (result.trouble != Expressions::Trouble::none) fail_combine(lane, result);
    last_operands_ = operands_;
    last_final_ = in.final;
    last_result_ = result.expr;
  }
  out.expr = last_result_;
  return out;
}

Machine::Transfer& Machine::transfer(const Waiting& waiting) {
  LaneRun& lane = lanes_[static_cast<std::size_t>(waiting.lane)];
  return lane.transfers[waiting.number - (lane.posted - static_cast<std::uint32_t>(lane.transfers.size())) - 1];
}

/// Starts a transfer: from here to its completion it reads or writes its memory at any time.
void Machine::post(int number, const Instr& in) {
  LaneRun& lane = lanes_[static_cast<std::size_t>(number)];
  const bool sends = in.op == OpCode::send;
  const Slice& slice = program(lane.operation, lane.rank).slices[sends ? in.src : in.dst];
  const Cells cells = resolve(lane, slice, sends ? "source" : "destination");
  ++lane.posted;
  touch(lane, in, cells, !sends, Epoch{lane.transfers_component, lane.posted});
  lane.transfers.push_back(
      {.cells = cells, .pc = lane.pc, .posted = clocks_->copy(lane.clock), .sender = nullptr, .matched = false});
  ++lane.clock[lane.component];
  if (sends) sent_[static_cast<std::size_t>(lane.rank)] += cells.count;
  mark(lane, in.op, static_cast<std::uint64_t>(in.peer), static_cast<std::uint64_t>(in.channel));
  const auto from = static_cast<std::uint64_t>(sends ? lane.rank : in.peer);
  const auto to = static_cast<std::uint64_t>(sends ? in.peer : lane.rank);
  const std::uint64_t key = (static_cast<std::uint64_t>(in.channel) << 32U) | (from << 16U) | to;
  Stream& stream = streams_[static_cast<std::size_t>(lane.operation)][key];
  (sends ? stream.sends : stream.receives).push_back({number, lane.posted});
  match(stream);
}

/// Matches the oldest send of a stream with the oldest receive, as soon as both are posted: a send without its receive
/// goes nowhere.
void Machine::match(Stream& stream) {
  if (stream.sends.empty() || stream.receives.empty()) return;
  const Waiting source = stream.sends.front();
  const Waiting target = stream.receives.front();
  stream.sends.pop_front();
  stream.receives.pop_front();
  Transfer& send = transfer(source);
  Transfer& receive = transfer(target);
  const LaneRun& sender = lanes_[static_cast<std::size_t>(source.lane)];
  const LaneRun& receiver = lanes_[static_cast<std::size_t>(target.lane)];
  if (send.cells.count != receive.cells.count) {
    fail(Fault::unmatched, [&] {
      return fmt::format("{} sends {} elements, {} takes {}", where(sender, send.pc), send.cells.count,
                         where(receiver, receive.pc), receive.cells.count);
    });
  }
  for (std::size_t e = 0; e < send.cells.count; ++e) {
    Value value = memory_->value(send.cells.first + e);
    ++value.steps;
    memory_->value(receive.cells.first + e) = value;
  }
  // What the sender knew when it sent; not that its source is free again.
  receive.sender = clocks_->copy(send.posted);
  ++receive.sender[hops_];
  send.matched = receive.matched = true;
  complete(source.lane);
  complete(target.lane);
}

/// Completes the lane's transfers in order, as far as they are matched.
void Machine::complete(int number) {
  LaneRun& lane = lanes_[static_cast<std::size_t>(number)];
  while (!lane.transfers.empty() && lane.transfers.front().matched) {
    const Transfer done = lane.transfers.front();
    lane.transfers.pop_front();
    clocks_->join(lane.completed, done.posted);
    clocks_->free(done.posted);
    if (done.sender != nullptr) {
      clocks_->join(lane.completed, done.sender);
      clocks_->free(done.sender);
    }
    ++lane.completed[lane.transfers_component];
    const std::int32_t completion = program(lane.operation, lane.rank).instrs[done.pc].signal;
    if (completion >= 0) signal(lane, completion, lane.completed);
  }
  if (lane.transfers.empty()) wake(number);
}

}  // namespace umbel::algos::check
