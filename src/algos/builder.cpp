// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/builder.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/error.hpp"

namespace umbel::algos {

Index counted(Counter counter, int coef, int base) {
  Index index{.base = base};
  index.coef[counter.level] = coef;
  return index;
}

Index cyclic(Counter counter, int coef, int base, int modulus, int offset) {
  Index index = counted(counter, coef, base);
  index.modulus = modulus;
  index.offset = offset;
  return index;
}

std::vector<Range> runs_of(std::vector<Rank> ranks) {
  std::ranges::sort(ranks);
  std::vector<Range> runs;
  Rank next = -1;
  for (const Rank rank : ranks) {
    if (rank == next)
      ++runs.back().blocks;
    else
      runs.push_back({.block = fixed(rank)});
    next = rank + 1;
  }
  return runs;
}

Builder::Builder(Rank rank, const Shape& shape, Cutting cutting, int kinds) : shape_(shape) {
  program_.collective = cutting.collective;
  program_.root = cutting.root;
  program_.rank = rank;
  program_.ranks = shape.ranks();
  program_.shares = ranked(cutting.collective) ? cutting.blocks : 0;
  program_.blocks = ranked(cutting.collective) ? cutting.blocks * shape.ranks() : cutting.blocks;
  program_.order = std::move(cutting.order);
  program_.chunk_blocks = cutting.chunk_blocks;
  program_.uses_pieces = cutting.pieces;
  program_.uses_chunks = cutting.chunks;
  program_.semaphores.assign(static_cast<std::size_t>(kinds) * shape.peers_of(rank).size(), {.signaller = rank});
}

LaneRef Builder::lane(LaneKind kind) {
  if (depth_ != 0) throw InvalidArgument("a lane is made outside loops");
  lanes_.push_back({.kind = kind, .instrs = {}, .loops = {}});
  return {static_cast<int>(lanes_.size()) - 1};
}

int Builder::region(int slots, int blocks, bool image) {
  if (program_.regions.size() == kMaxRegions) throw InvalidArgument("too many window regions");
  program_.regions.push_back({.slots = slots, .blocks = blocks, .image = image});
  return static_cast<int>(program_.regions.size()) - 1;
}

FoldSlots Builder::fold_region(bool wanted, int operands, int blocks) {
  const int slots = wanted ? fold_slots(operands) : 0;
  return slots > 0 ? FoldSlots{.region = region(slots, blocks)} : FoldSlots{};
}

Wait Builder::hear(int kind, Rank signaller, int initial) {
  const auto mates = static_cast<int>(shape_.peers_of(rank()).size());
  const int sem = kind * mates + shape_.local_index(signaller);
  program_.semaphores[static_cast<std::size_t>(sem)] = {.signaller = signaller, .initial = initial};
  return {sem};
}

Raise Builder::tell(int kind, Rank listener) {
  const auto mates = static_cast<int>(shape_.peers_of(rank()).size());
  return {signal_index({.peer = listener, .sem = kind * mates + shape_.local_index(rank())})};
}

Flag Builder::flag(int initial) {
  program_.semaphores.push_back({.signaller = rank(), .initial = initial});
  const int sem = static_cast<int>(program_.semaphores.size()) - 1;
  return {.wait = {sem}, .raise = {signal_index({.peer = rank(), .sem = sem})}};
}

int Builder::signal_index(SignalTarget target) {
  auto& signals = program_.signals;
  const auto found = std::ranges::find_if(
      signals, [&](const SignalTarget& s) { return s.peer == target.peer && s.sem == target.sem; });
  const auto index = static_cast<int>(found - signals.begin());
  if (found == signals.end()) signals.push_back(target);
  return index;
}

Counter Builder::open(Trip trip, int times, std::uint32_t slice) {
  if (depth_ == kMaxLoopDepth) throw InvalidArgument("loops are nested too deeply");
  for (OpenLane& lane : lanes_) {
    lane.loops.push_back(static_cast<std::uint32_t>(lane.instrs.size()));
    lane.instrs.push_back(
        {.op = OpCode::loop_begin, .trip = trip, .src = slice, .times = static_cast<std::uint32_t>(times)});
  }
  return {depth_++};
}

void Builder::close() {
  --depth_;
  for (OpenLane& lane : lanes_) {
    const std::uint32_t begin = lane.loops.back();
    lane.loops.pop_back();
    const auto end = static_cast<std::uint32_t>(lane.instrs.size());
    if (end == begin + 1) {  // nothing in it
      lane.instrs.pop_back();
      continue;
    }
    Instr& head = lane.instrs[begin];
    head.jump = end;
    Instr tail = head;
    tail.op = OpCode::loop_end;
    tail.jump = begin;
    lane.instrs.push_back(tail);
  }
}

Slice Builder::slice(Buffer buffer, Rank of, const Range& range) const {
  Slice s{.buffer = buffer, .rank = of, .blocks = range.blocks};
  s.piece = range.piece;
  s.block = range.block;
  s.chunk = range.chunk;
  s.lengths = range.lengths;
  return s;
}

Slice Builder::window(const Range& range, Rank of, int region, SlotRef slot) const {
  Slice s = slice(Buffer::window, of, range);
  s.region = region;
  s.slot = slot;
  return s;
}

BundleRef Builder::bundle(const std::vector<BundleItem>& items) {
  const BundleRef made{static_cast<int>(program_.bundles.size()), static_cast<int>(items.size())};
  program_.bundles.insert(program_.bundles.end(), items.begin(), items.end());
  program_.bundles.emplace_back();  // its end
  return made;
}

Slice Builder::bundled(const BundlePart& part, Buffer buffer, Rank share) const {
  Slice s = slice(buffer, rank(), {.block = fixed(share), .chunk = counted(part.chunk)});
  s.bundle = part.bundle.begin;
  s.item = part.item;
  return s;
}

Slice Builder::bundled(const BundlePart& part, Rank of, int region, SlotRef slot) const {
  Slice s = window({.chunk = counted(part.chunk)}, of, region, slot);
  s.bundle = part.bundle.begin;
  s.item = part.item;
  s.items = part.items;
  return s;
}

std::uint32_t Builder::add(const Slice& slice) {
  program_.slices.push_back(slice);
  return static_cast<std::uint32_t>(program_.slices.size()) - 1;
}

void Builder::emit(LaneRef lane, const Instr& instr) {
  lanes_[static_cast<std::size_t>(lane.index)].instrs.push_back(instr);
}

void Builder::copy(LaneRef lane, const Slice& dst, const Slice& src) {
  Instr instr{.op = OpCode::copy, .src_count = 1};
  instr.src = add(src);
  instr.dst = add(dst);
  emit(lane, instr);
}

void Builder::reduce(LaneRef lane, const Slice& dst, std::span<const Slice> sources, bool final) {
  if (sources.size() > static_cast<std::size_t>(kMaxSources)) throw InvalidArgument("a reduce has too many sources");
  Instr instr{.op = OpCode::reduce, .final = final, .src_count = static_cast<std::uint16_t>(sources.size())};
  instr.src = static_cast<std::uint32_t>(program_.slices.size());
  for (const Slice& source : sources) add(source);
  instr.dst = add(dst);
  emit(lane, instr);
}

int fold_slots(int operands) {
  constexpr int kSame = 3;  // (0 + 1) + 2
  return operands <= kSame ? 0 : static_cast<int>(std::bit_width(static_cast<unsigned>(operands - 1)));
}

void Builder::fold_as_tree(LaneRef lane, const Range& range, const Slice& dst, std::span<const Slice> sources,
                           bool final, const FoldSlots& slots) {
  if (!slots || fold_slots(static_cast<int>(sources.size())) == 0) {
    reduce(lane, dst, sources, final);
    return;
  }
  const std::size_t left = std::bit_floor(sources.size() - 1);
  const Slice low = partial(lane, range, sources.first(left), slots);
  const Slice high = partial(lane, range, sources.subspan(left), {slots.region, slots.first + 1});
  reduce(lane, dst, {low, high}, final);
}

/// The fold of `sources`, in the first of the slots.
Slice Builder::partial(LaneRef lane, const Range& range, std::span<const Slice> sources, const FoldSlots& slots) {
  if (sources.size() == 1) return sources.front();
  const Slice slot = window(range, rank(), slots.region, {.base = slots.first});
  fold_as_tree(lane, range, slot, sources, false, slots);
  return slot;
}

void Builder::signal(LaneRef lane, Raise raise) { emit(lane, {.op = OpCode::signal, .signal = raise.signal}); }

void Builder::wait(LaneRef lane, Wait wait, int times) {
  if (times > 0) emit(lane, {.op = OpCode::wait, .sem = wait.sem, .times = static_cast<std::uint32_t>(times)});
}

void Builder::send(LaneRef lane, const Slice& src, Rank peer, int channel, Raise then) {
  Instr instr{.op = OpCode::send, .src_count = 1};
  instr.src = add(src);
  instr.peer = peer;
  instr.channel = channel;
  instr.signal = then.signal;
  emit(lane, instr);
}

void Builder::recv(LaneRef lane, const Slice& dst, Rank peer, int channel, Raise then) {
  Instr instr{.op = OpCode::recv};
  instr.dst = add(dst);
  instr.peer = peer;
  instr.channel = channel;
  instr.signal = then.signal;
  emit(lane, instr);
}

Program Builder::finish() {
  for (const OpenLane& lane : lanes_) {
    if (lane.instrs.empty()) continue;
    const auto begin = static_cast<std::uint32_t>(program_.instrs.size());
    for (Instr instr : lane.instrs) {
      if (instr.op == OpCode::loop_begin || instr.op == OpCode::loop_end) instr.jump += begin;
      program_.instrs.push_back(instr);
    }
    program_.lanes.push_back(
        {.kind = lane.kind, .begin = begin, .end = static_cast<std::uint32_t>(program_.instrs.size())});
  }
  return std::move(program_);
}

Program alone(const Shape& shape, Collective collective) {
  Builder b(0, shape, {.collective = collective}, 0);
  if (collective == Collective::barrier) return b.finish();
  const LaneRef lane = b.memory_lane();
  if (reduces(collective))
    b.reduce(lane, b.output({}), {b.input({})}, true);
  else
    b.copy(lane, b.output({}), b.input({}));
  return b.finish();
}

}  // namespace umbel::algos
