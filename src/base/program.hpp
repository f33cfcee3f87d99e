// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The instruction set: plain data that algorithms write and that the checker, the executor, the GPU kernel and the
// simulator read. A rank's program is a set of lanes; a lane is a straight list of instructions with counted loops.
// Lanes run side by side and meet only through semaphores.
//
// How data is named. A call's `count` elements are cut in three steps, none of which is known when a program is built:
//
//   count  ──▶ pieces   contiguous ranges of `piece` elements (the last one shorter); a loop over pieces repeats a
//                       whole exchange, so its scratch memory is bounded
//   piece  ──▶ blocks   `blocks` nearly equal contiguous ranges: what an algorithm assigns to ranks
//   run of
//   blocks ──▶ chunks   `chunk` elements each (the last one shorter or empty): what moves at a time
//
// Of a ranked collective (base/collective.hpp) the elements are one share per rank, each cut in Program::shares blocks;
// there are no pieces then. A table may put the shares in another order, so that an algorithm counts along its ring.
//
// A bundle is several shares one after another, cut in chunks as if they were one: what a node sends for all its ranks
// in as few messages as there can be, however unequal the shares are. Slices of a bundle name shares by their place in
// it, and stand for what of these lies in a chunk.
//
// A slice names (piece, run of blocks, chunk) by index expressions over the loop counters. Slices past the end are
// empty; an instruction on an empty slice still signals, so that uneven chunk counts stay balanced.
//
// Semaphores. A semaphore belongs to the rank that waits on it, has one signalling lane and one waiting lane, and
// counts up. Both sides keep a private count (signals made, signals consumed), so an instruction carries no numbers and
// a program needs no reset: the epoch in which the counts start belongs to the run, not to the program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/collective.hpp"
#include "base/types.hpp"

#if defined(__CUDACC__)
#define UMBEL_HOST_DEVICE __host__ __device__
/// A function of its own on a GPU: else all of the kernels, one for each type and operator, repeat its code.
#define UMBEL_HOST_DEVICE_CALL __noinline__ __host__ __device__
#else
#define UMBEL_HOST_DEVICE
#define UMBEL_HOST_DEVICE_CALL
#endif

namespace umbel {

inline constexpr int kMaxLoopDepth = 4;
inline constexpr int kMaxRegions = 8;
inline constexpr int kMaxSources = 256;  // of one reduce

/// The counters of the loops around an instruction, outermost first.
struct LoopCounters {
  std::uint32_t i[kMaxLoopDepth] = {};
};

/// ((base + Σ coef[l]·i[l]) mod modulus) + offset; no reduction when `modulus` is 0. The residue is never negative.
struct Index {
  std::int32_t base = 0;
  std::int32_t coef[kMaxLoopDepth] = {};
  std::int32_t modulus = 0;
  std::int32_t offset = 0;

  UMBEL_HOST_DEVICE constexpr std::int64_t at(const LoopCounters& loops) const {
    std::int64_t value = base;
    for (int l = 0; l < kMaxLoopDepth; ++l) value += static_cast<std::int64_t>(coef[l]) * loops.i[l];
    if (modulus != 0) {
      value %= modulus;
      if (value < 0) value += modulus;
    }
    return value + offset;
  }
};

/// Where a slice lives. User buffers are written by their owner only; `window` is the rank's scratch memory, which
/// local peers can read and write.
enum class Buffer : std::uint8_t { input, output, window };

/// Which slot of a window region. With `sem` ≥ 0, a semaphore that the executing lane waits on, the slot is
/// base + (signals consumed − 1) mod depth: a slot is used right after the wait that protects it, and a sender and a
/// receiver that count the same messages agree on it. Otherwise it is base + index mod depth.
struct SlotRef {
  std::int32_t base = 0;
  std::int32_t depth = 1;
  std::int32_t sem = -1;
  Index index{};
};

/// A range of elements in one rank's memory. (piece, block, blocks, chunk) say which elements of the call it stands
/// for, and so its length; for `input` and `output` they are also the position.
/// In a ranked program a run of blocks lies inside one share, or, where the shares are in order, begins and ends with
/// shares.
/// A slice of a bundle stands for the part of shares that falls in the bundle's chunk number `chunk`. In a user buffer
/// it is of one share, the one at `block`; in a window slot, which holds a chunk of the bundle, it lies at its place in
/// that, and `block` is not looked at.
struct Slice {
  Buffer buffer = Buffer::input;
  Rank rank = 0;            ///< whose memory; other than the executing rank only where memory is shared (same node)
  std::int32_t blocks = 1;  ///< length of the run of blocks
  Index piece{};
  Index block{};
  Index chunk{};
  Buffer lengths = Buffer::input;  ///< window only: whose shares give the length, where in- and output's differ
  std::int32_t region = 0;         ///< window only: which region
  SlotRef slot{};                  ///< window only: which slot of it
  std::int32_t bundle = -1;        ///< of a bundle: where it begins in Program::bundles
  std::int32_t item = 0;           ///< likewise: its first share's place in the bundle
  std::int32_t items = 1;          ///< likewise: shares
};

enum class OpCode : std::uint8_t {
  copy,    ///< dst ← src. Memory lanes.
  reduce,  ///< dst ← src₀ op src₁ op …: folded left to right in the accumulator type, rounded once. Memory lanes.
  signal,      ///< one more signal on `signals[signal]`; everything done before is visible to the waiter (release)
  wait,        ///< consume `times` signals of `semaphores[sem]` (acquire)
  send,        ///< start sending `src` to `peer` on `channel`. Net lanes.
  recv,        ///< start receiving `dst` from `peer` on `channel`. Net lanes.
  loop_begin,  ///< repeat up to the matching loop_end (`jump`) `trips`, `pieces` or `chunks` times
  loop_end,    ///< `jump` is the matching loop_begin
};

/// How often a loop runs: a number known to the builder, or one bound at the call. `slice`: as often as the run of
/// blocks of the slice `src` has chunks. Where all shares are equal that is once at least, as of `chunks`: an empty
/// slice still signals. In a v-form it may be never: ranks that have nothing for each other exchange nothing.
enum class Trip : std::uint8_t { constant, pieces, chunks, slice };

/// One instruction. Send and receive start a transfer; a net lane's transfers complete in the lane's order, and each
/// completion signals `signal` if that is ≥ 0. A lane ends when its last transfer has completed.
/// Messages of one (source, destination, channel) match in order.
struct Instr {
  OpCode op = OpCode::signal;
  Trip trip = Trip::constant;
  bool final = false;           ///< reduce: this is the last fold of these elements; avg divides here, before rounding
  std::uint16_t src_count = 0;  ///< copy and send: 1; reduce: number of sources
  std::uint32_t src = 0;        ///< first source in Program::slices; the others follow it
  std::uint32_t dst = 0;        ///< destination in Program::slices
  Rank peer = -1;               ///< send, recv
  std::int32_t channel = 0;     ///< send, recv
  std::int32_t sem = -1;        ///< wait: index in Program::semaphores
  std::int32_t signal = -1;     ///< signal, send, recv: index in Program::signals
  std::uint32_t times = 1;      ///< wait: signals to consume; loop_begin: trips of a constant loop
  std::uint32_t jump = 0;       ///< loops: index of the partner, within Program::instrs
};

/// A semaphore that this rank waits on.
struct Semaphore {
  Rank signaller = -1;       ///< the rank whose lane signals it (this rank: another lane, or a transfer)
  std::int32_t initial = 0;  ///< signals that count as made at the start (credits)
};

/// A semaphore that this rank signals: number `sem` of rank `peer` (itself or a rank of the same node).
struct SignalTarget {
  Rank peer = -1;
  std::int32_t sem = -1;
};

enum class LaneKind : std::uint8_t { memory, net };

struct Lane {
  LaneKind kind = LaneKind::memory;
  std::uint32_t begin = 0;  ///< [begin, end) of Program::instrs
  std::uint32_t end = 0;
};

/// A group of equal slots in every rank's window. `image`: a slot holds a whole piece and a slice lies at its own
/// position in it; otherwise a slot holds at most one chunk of a run of `blocks` blocks, and a slice lies at its start.
/// In a ranked program with equal shares an image holds a chunk of each of `blocks` shares. The run of blocks of a
/// slice counts these: it says where in the slot the slice lies, not whose shares it holds.
struct Region {
  std::int32_t slots = 0;
  std::int32_t blocks = 1;
  bool image = false;
};

/// A share in a bundle: in a v-form its length is what rank `owner`, of this rank's node, says of it.
struct BundleItem {
  Rank owner = -1;  ///< −1: the end of the bundle
  Buffer buffer = Buffer::input;
  Rank share = -1;  ///< as numbered in that buffer of the owner's
};

/// What one rank runs. All but `rank`, the lanes and their tables is equal on all ranks.
struct Program {
  Collective collective = Collective::all_reduce;
  Rank root = 0;  ///< of a rooted collective
  Rank rank = 0;
  std::int32_t ranks = 1;
  std::int32_t shares = 0;        ///< ranked: blocks per rank's share; else 0
  std::int32_t blocks = 1;        ///< blocks per piece
  std::int32_t chunk_blocks = 1;  ///< a Trip::chunks loop covers a run of this many blocks
  bool uses_pieces = false;       ///< has a loop over pieces; without it the call is one piece
  bool uses_chunks = false;       ///< has a loop over chunks; without it a run is one chunk
  std::vector<Rank> order;  ///< ranked: whose share comes at each place of the numbering of blocks; empty: the ranks'
  std::vector<Region> regions;
  std::vector<Lane> lanes;
  std::vector<Instr> instrs;
  std::vector<Slice> slices;
  std::vector<Semaphore> semaphores;
  std::vector<SignalTarget> signals;
  std::vector<BundleItem> bundles;  ///< ranked, of a block a share: one bundle after another, each with its end
};

/// The shares of a v-form, by rank, in elements: how many, and where in this rank's buffer. For a buffer that holds one
/// share alone, `first` counts from that share.
struct Shares {
  const std::uint64_t* count = nullptr;
  const std::uint64_t* first = nullptr;
};

/// The numbers that a call binds to a program: a pure function of agreed inputs, but for the shares of v-forms. Plain
/// data, also read on the device.
struct Binding {
  std::uint64_t count = 0;    ///< of the whole call: of a ranked one all shares
  std::uint64_t share = 0;    ///< ranked, without tables: elements of a rank's share
  std::uint64_t piece = 0;    ///< elements per piece
  std::uint64_t chunk = 0;    ///< elements per chunk
  std::uint32_t pieces = 1;   ///< trips of Trip::pieces; at least 1
  std::uint32_t chunks = 1;   ///< trips of Trip::chunks; at least 1
  std::uint32_t blocks = 1;   ///< blocks per piece
  std::uint32_t shares = 0;   ///< ranked: blocks per share; else 0
  std::uint32_t granule = 1;  ///< block boundaries are multiples of this many elements, counted from piece or share
  std::uint32_t elem_bytes = 1;
  std::uint64_t region_offset[kMaxRegions] = {};  ///< bytes from the start of a rank's window arena
  std::uint64_t slot_bytes[kMaxRegions] = {};
  bool region_image[kMaxRegions] = {};
  std::uint64_t window_bytes = 0;  ///< arena bytes that each rank needs
  bool own_share[2] = {};          ///< input, output: the buffer holds its rank's share alone
  const Rank* order = nullptr;     ///< Program::order; nullptr: the ranks'
  Shares tables[2] = {};           ///< input, output: of a v-form; else nullptrs
  /// Of a v-form, for each of Program::bundles: elements of its bundle that come before it.
  const std::uint64_t* bundles = nullptr;
};

/// Elements [first, first + count) of the call.
struct Extent {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// First element of part `part` of `parts` of a range of `length` elements. The parts tile the range: the first begins
/// at 0, the one behind the last at `length`, and lengths differ by at most one granule.
UMBEL_HOST_DEVICE constexpr std::uint64_t part_start(std::uint64_t length, std::uint64_t part, std::uint64_t parts,
                                                     std::uint64_t granule) {
  if (part == 0) return 0;  // the ends, without divisions
  if (part >= parts) return length;
  const std::uint64_t units = (length + granule - 1) / granule;
  // units · part fits: units ≤ 2^48 elements, parts ≤ 2^16.
  const std::uint64_t start = units * part / parts * granule;
  return start < length ? start : length;
}

/// First element, relative to the piece, of block `block` in a piece of `length` elements; not for ranked programs.
UMBEL_HOST_DEVICE constexpr std::uint64_t block_start(const Binding& b, std::uint64_t length, std::uint64_t block) {
  return part_start(length, block, b.blocks, b.granule);
}

/// Elements of rank `rank`'s share, as they lie in `buffer`.
UMBEL_HOST_DEVICE constexpr Extent share_extent(const Binding& b, Buffer buffer, Rank rank) {
  const Shares& table = b.tables[buffer == Buffer::output ? 1 : 0];
  if (table.count != nullptr) return {table.first[rank], table.count[rank]};
  return {static_cast<std::uint64_t>(rank) * b.share, b.share};
}

/// The elements of a run of blocks of a ranked program.
UMBEL_HOST_DEVICE constexpr Extent ranked_extent(const Binding& b, Buffer buffer, std::uint64_t block,
                                                 std::uint64_t blocks) {
  const std::uint64_t place = block / b.shares;
  const std::uint64_t part = block % b.shares;
  const Extent share = share_extent(b, buffer, b.order != nullptr ? b.order[place] : static_cast<Rank>(place));
  if (part + blocks > b.shares) return {share.first, blocks / b.shares * b.share};  // whole shares, equal and in order
  const std::uint64_t low = part_start(share.count, part, b.shares, b.granule);
  return {share.first + low, part_start(share.count, part + blocks, b.shares, b.granule) - low};
}

/// Elements of piece number `piece`: its first element and its length.
UMBEL_HOST_DEVICE constexpr Extent piece_extent(const Binding& b, std::uint64_t piece) {
  const std::uint64_t start = piece * b.piece;
  const std::uint64_t first = start < b.count ? start : b.count;
  const std::uint64_t rest = b.count - first;
  return {first, rest < b.piece ? rest : b.piece};
}

/// Elements of a slice's bundle before the share at place `item`.
UMBEL_HOST_DEVICE constexpr std::uint64_t bundle_start(const Binding& b, const Slice& s, std::int32_t item) {
  return b.bundles != nullptr ? b.bundles[s.bundle + item] : static_cast<std::uint64_t>(item) * b.share;
}

/// Where in its bundle the shares of a slice lie, all chunks.
UMBEL_HOST_DEVICE constexpr Extent bundle_run(const Binding& b, const Slice& s) {
  const std::uint64_t first = bundle_start(b, s, s.item);
  return {first, bundle_start(b, s, s.item + s.items) - first};
}

/// The elements of a slice of a bundle: in a window, from the start of the slot.
UMBEL_HOST_DEVICE constexpr Extent bundle_extent(const Binding& b, const Slice& s, const LoopCounters& loops) {
  const Extent run = bundle_run(b, s);
  const std::uint64_t begin = static_cast<std::uint64_t>(s.chunk.at(loops)) * b.chunk;
  const std::uint64_t low = run.first > begin ? run.first : begin;
  const std::uint64_t end = run.first + run.count;
  // Not begin + chunk, which may be more than there are numbers.
  const std::uint64_t high = end < begin ? begin : end - begin < b.chunk ? end : begin + b.chunk;
  const std::uint64_t count = low < high ? high - low : 0;
  if (s.buffer == Buffer::window) return {count != 0 ? low - begin : 0, count};
  const Extent share = share_extent(b, s.buffer, static_cast<Rank>(s.block.at(loops)));
  return {share.first + (count != 0 ? low - run.first : 0), count};
}

/// The elements of a slice's whole run of blocks, all chunks.
UMBEL_HOST_DEVICE constexpr Extent run_of(const Binding& b, const Slice& s, const LoopCounters& loops) {
  if (s.bundle >= 0) return bundle_run(b, s);
  const std::uint64_t block = static_cast<std::uint64_t>(s.block.at(loops));
  const std::uint64_t blocks = static_cast<std::uint64_t>(s.blocks);
  if (b.shares != 0) return ranked_extent(b, s.buffer == Buffer::window ? s.lengths : s.buffer, block, blocks);
  const Extent piece = piece_extent(b, static_cast<std::uint64_t>(s.piece.at(loops)));
  const std::uint64_t low = block_start(b, piece.count, block);
  return {piece.first + low, block_start(b, piece.count, block + blocks) - low};
}

/// Where a slice lies in an image that holds a chunk of each of several shares.
UMBEL_HOST_DEVICE constexpr Extent packed_extent(const Binding& b, const Slice& s, const LoopCounters& loops) {
  const std::uint64_t skip = static_cast<std::uint64_t>(s.chunk.at(loops)) * b.chunk;
  const std::uint64_t rest = skip < b.share ? b.share - skip : 0;
  const std::uint64_t each = rest < b.chunk ? rest : b.chunk;
  return {static_cast<std::uint64_t>(s.block.at(loops)) * each, static_cast<std::uint64_t>(s.blocks) * each};
}

/// Whether a slice lies in such an image.
UMBEL_HOST_DEVICE constexpr bool packed(const Binding& b, const Slice& s) {
  return b.shares != 0 && s.buffer == Buffer::window && b.region_image[s.region];
}

/// The elements that a slice stands for.
UMBEL_HOST_DEVICE_CALL constexpr Extent extent_of(const Binding& b, const Slice& s, const LoopCounters& loops) {
  if (s.bundle >= 0) return bundle_extent(b, s, loops);
  if (packed(b, s)) return packed_extent(b, s, loops);
  const Extent run = run_of(b, s, loops);
  const std::uint64_t skip = static_cast<std::uint64_t>(s.chunk.at(loops)) * b.chunk;
  const std::uint64_t first = skip < run.count ? skip : run.count;
  const std::uint64_t rest = run.count - first;
  return {run.first + first, rest < b.chunk ? rest : b.chunk};
}

/// Trips of a loop over the chunks of a slice's run.
UMBEL_HOST_DEVICE constexpr std::uint32_t trips_over(const Binding& b, const Slice& s, const LoopCounters& loops) {
  const std::uint64_t count = run_of(b, s, loops).count;
  if (count == 0) return b.tables[0].count == nullptr && b.tables[1].count == nullptr ? 1 : 0;
  return static_cast<std::uint32_t>(count / b.chunk + (count % b.chunk != 0 ? 1U : 0U));
}

/// Trips of the loop that `begin` opens. `loops`: with the counters of the loops around it; its own, if it runs
/// already, is not looked at.
UMBEL_HOST_DEVICE_CALL constexpr std::uint32_t trips_of(const Instr& begin, const Binding& b, const Slice* slices,
                                                        const LoopCounters& loops) {
  switch (begin.trip) {
    case Trip::constant:
      return begin.times;
    case Trip::pieces:
      return b.pieces;
    case Trip::chunks:
      return b.chunks;
    case Trip::slice:
      return trips_over(b, slices[begin.src], loops);
  }
  return 0;
}

/// Byte offset of an input or output slice from the start of its buffer.
UMBEL_HOST_DEVICE constexpr std::uint64_t user_offset(const Binding& b, const Slice& s, const Extent& extent) {
  const bool own = b.own_share[s.buffer == Buffer::output ? 1 : 0];
  const std::uint64_t origin = own ? share_extent(b, s.buffer, s.rank).first : 0;
  return (extent.first - origin) * b.elem_bytes;
}

/// Byte offset of a window slice in its rank's arena. `consumed` is the count of signals of `s.slot.sem` that the
/// executing lane has consumed (ignored when that is −1); `extent` is the slice's own.
UMBEL_HOST_DEVICE_CALL constexpr std::uint64_t window_offset(const Binding& b, const Slice& s,
                                                             const LoopCounters& loops, const Extent& extent,
                                                             std::uint32_t consumed) {
  const std::uint64_t turn = s.slot.sem >= 0 ? consumed - 1U : static_cast<std::uint64_t>(s.slot.index.at(loops));
  const std::uint64_t slot = static_cast<std::uint64_t>(s.slot.base) + turn % static_cast<std::uint64_t>(s.slot.depth);
  std::uint64_t offset = b.region_offset[s.region] + slot * b.slot_bytes[s.region];
  if (s.bundle >= 0) return offset + extent.first * b.elem_bytes;
  if (b.region_image[s.region]) {
    const Extent piece = piece_extent(b, static_cast<std::uint64_t>(s.piece.at(loops)));
    offset += (extent.first - piece.first) * b.elem_bytes;
  }
  return offset;
}

/// How finely a call is cut; agreed by all ranks.
struct Cut {
  std::uint64_t piece_bytes = 1U << 20U;
  std::uint64_t chunk_bytes = 1U << 17U;

  bool operator==(const Cut&) const = default;
};

/// Binds a call to a program, which must outlive the binding. The same result on every rank for the same `count`,
/// `elem_bytes`, `cut` and program shape.
/// @param count elements of a buffer; of a ranked collective, of a share: of a v-form, of the longest
/// @param granule elements; 0 chooses: cache lines when every block has many of them, else 1.
Binding bind(const Program& program, std::uint64_t count, std::size_t elem_bytes, Cut cut, std::uint32_t granule = 0);

/// One line per instruction, indented by loop, for people. @source the same text that `umbel_plan show` prints.
std::string to_text(const Program& program);

/// One instruction of `program`, as to_text() prints it. @pre its indices are in range.
std::string to_text(const Program& program, const Instr& instr);

}  // namespace umbel
