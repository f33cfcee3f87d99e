// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "base/program.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/error.hpp"

namespace umbel {
namespace {

constexpr std::uint64_t kLineBytes = 64;

constexpr std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

/// Trips of a loop: counters have 32 bits, on every device.
std::uint32_t trips(std::uint64_t elements, std::uint64_t each, const char* variable) {
  const std::uint64_t trips = std::max<std::uint64_t>(1, divide_up(elements, each));
  if (trips > std::numeric_limits<std::uint32_t>::max())
    throw Unsupported(
        fmt::format("{} elements are {} times {}, more than a loop counts: raise {}", elements, trips, each, variable));
  return static_cast<std::uint32_t>(trips);
}

/// @param length elements of the range that is cut in `blocks`
std::uint32_t choose_granule(std::uint64_t length, std::uint32_t blocks, std::size_t elem_bytes) {
  const std::uint64_t lines_per_block = length * elem_bytes / kLineBytes / blocks;
  constexpr std::uint64_t kManyLines = 16;
  if (lines_per_block < kManyLines || kLineBytes % elem_bytes != 0) return 1U;
  return static_cast<std::uint32_t>(kLineBytes / elem_bytes);
}

/// Elements of the longest run of `run` of `blocks` blocks that tile `length` elements.
std::uint64_t longest_run(std::uint64_t length, std::uint64_t run, std::uint64_t blocks, std::uint64_t granule) {
  const std::uint64_t units = divide_up(length, granule);
  return std::min(length, divide_up(units * run, blocks) * granule);
}

/// The same for a run of blocks of this binding.
std::uint64_t longest_run(const Binding& b, std::uint64_t run) {
  if (b.shares == 0) return longest_run(std::min(b.piece, b.count), run, b.blocks, b.granule);
  return run >= b.shares ? run / b.shares * b.share : longest_run(b.share, run, b.shares, b.granule);
}

}  // namespace

Binding bind(const Program& program, std::uint64_t count, std::size_t elem_bytes, Cut cut, std::uint32_t granule) {
  Binding b;
  b.shares = static_cast<std::uint32_t>(program.shares);
  b.share = b.shares != 0 ? count : 0;
  b.count = b.shares != 0 ? count * static_cast<std::uint64_t>(program.ranks) : count;
  b.order = program.order.empty() ? nullptr : program.order.data();
  b.own_share[0] = input_part(program.collective, false) == Part::share;
  b.own_share[1] = output_part(program.collective, false) == Part::share;
  b.elem_bytes = static_cast<std::uint32_t>(elem_bytes);
  b.blocks = static_cast<std::uint32_t>(program.blocks);
  b.piece = std::max<std::uint64_t>(1, program.uses_pieces ? cut.piece_bytes / elem_bytes : b.count);
  b.pieces = trips(b.count, b.piece, "UMBEL_PIECE_BYTES");
  b.granule = granule != 0    ? granule
              : b.shares != 0 ? choose_granule(b.share, b.shares, elem_bytes)
                              : choose_granule(std::min(b.piece, b.count), b.blocks, elem_bytes);
  b.chunk = std::numeric_limits<std::uint64_t>::max();
  if (program.uses_chunks) {
    b.chunk = std::max<std::uint64_t>(1, cut.chunk_bytes / elem_bytes);
    const std::uint64_t run = longest_run(b, static_cast<std::uint64_t>(program.chunk_blocks));
    b.chunks = trips(run, b.chunk, "UMBEL_CHUNK_BYTES");
  }
  for (std::size_t r = 0; r < program.regions.size(); ++r) {
    const Region& region = program.regions[r];
    const auto blocks = static_cast<std::uint64_t>(region.blocks);
    const std::uint64_t run = !region.image   ? std::min(b.chunk, longest_run(b, blocks))
                              : b.shares != 0 ? blocks * std::min(b.chunk, b.share)
                                              : std::min(b.piece, b.count);
    b.region_image[r] = region.image;
    b.region_offset[r] = b.window_bytes;
    b.slot_bytes[r] = divide_up(std::max<std::uint64_t>(run * elem_bytes, 1), kLineBytes) * kLineBytes;
    b.window_bytes += b.slot_bytes[r] * static_cast<std::uint64_t>(region.slots);
  }
  return b;
}

namespace {

std::string text(const Index& index) {
  std::string sum = index.base != 0 ? std::to_string(index.base) : "";
  for (int l = 0; l < kMaxLoopDepth; ++l) {
    if (index.coef[l] == 0) continue;
    const std::string factor = std::abs(index.coef[l]) == 1 ? "" : std::to_string(std::abs(index.coef[l])) + "·";
    sum += fmt::format("{}{}{}", index.coef[l] < 0 ? "−" : (sum.empty() ? "" : "+"), factor, "ijkl"[l]);
  }
  if (sum.empty()) sum = "0";
  if (index.modulus != 0) sum = fmt::format("({}) mod {}", sum, index.modulus);
  if (index.offset != 0) sum += fmt::format("+{}", index.offset);
  return sum;
}

std::string text(const Program& p, const Slice& s) {
  static constexpr const char* kNames[] = {"input", "output", "window"};
  std::string where = kNames[static_cast<std::size_t>(s.buffer)];
  if (s.rank != p.rank) where += fmt::format("@{}", s.rank);
  if (s.buffer == Buffer::window) {
    const std::string turn = s.slot.sem >= 0 ? fmt::format("turn of s{}", s.slot.sem) : text(s.slot.index);
    where += fmt::format("{}[{} + {} mod {}]", s.region, s.slot.base, turn, s.slot.depth);
  }
  if (s.bundle >= 0) {
    const std::string shares = s.items == 1 ? std::to_string(s.item) : fmt::format("{}…+{}", s.item, s.items);
    return fmt::format("{}[share {} of bundle {}, chunk {}]", where, shares, s.bundle, text(s.chunk));
  }
  std::string range = text(s.block);
  if (s.blocks != 1) range += fmt::format("…+{}", s.blocks);
  std::string out = fmt::format("{}[block {}", where, range);
  if (p.uses_chunks) out += fmt::format(", chunk {}", text(s.chunk));
  if (p.uses_pieces) out += fmt::format(", piece {}", text(s.piece));
  return out + "]";
}

std::string text(const Program& p, const Instr& in) {
  auto target = [&](std::int32_t signal) {
    const SignalTarget& t = p.signals[static_cast<std::size_t>(signal)];
    return t.peer == p.rank ? fmt::format("s{}", t.sem) : fmt::format("s{}@{}", t.sem, t.peer);
  };
  const std::string then = in.signal >= 0 && in.op != OpCode::signal ? ", then signal " + target(in.signal) : "";
  switch (in.op) {
    case OpCode::copy:
      return fmt::format("copy   {} ← {}", text(p, p.slices[in.dst]), text(p, p.slices[in.src]));
    case OpCode::reduce: {
      std::string sources;
      for (std::uint32_t k = 0; k < in.src_count; ++k)
        sources += (k == 0 ? "" : " op ") + text(p, p.slices[in.src + k]);
      return fmt::format("reduce {} ← {}{}", text(p, p.slices[in.dst]), sources, in.final ? " (final)" : "");
    }
    case OpCode::signal:
      return "signal " + target(in.signal);
    case OpCode::wait:
      return fmt::format("wait   s{} (from {}){}", in.sem, p.semaphores[static_cast<std::size_t>(in.sem)].signaller,
                         in.times == 1 ? "" : fmt::format(" × {}", in.times));
    case OpCode::send:
      return fmt::format("send   {} → rank {} channel {}{}", text(p, p.slices[in.src]), in.peer, in.channel, then);
    case OpCode::recv:
      return fmt::format("recv   {} ← rank {} channel {}{}", text(p, p.slices[in.dst]), in.peer, in.channel, then);
    case OpCode::loop_begin:
      switch (in.trip) {
        case Trip::constant:
          return fmt::format("loop {} times", in.times);
        case Trip::pieces:
          return "loop over pieces";
        case Trip::chunks:
          return "loop over chunks";
        case Trip::slice:
          return "loop over the chunks of " + text(p, p.slices[in.src]);
      }
      return "";
    case OpCode::loop_end:
      return "end";
  }
  return "";
}

}  // namespace

std::string to_text(const Program& program, const Instr& instr) { return text(program, instr); }

std::string to_text(const Program& program) {
  std::string out = fmt::format("rank {} of {}: {} block{}\n", program.rank, program.ranks, program.blocks,
                                program.blocks == 1 ? "" : "s");
  for (std::size_t n = 0; n < program.lanes.size(); ++n) {
    const Lane& lane = program.lanes[n];
    out += fmt::format("  lane {} ({})\n", n, lane.kind == LaneKind::memory ? "memory" : "net");
    int depth = 2;
    for (std::uint32_t pc = lane.begin; pc < lane.end; ++pc) {
      const Instr& in = program.instrs[pc];
      if (in.op == OpCode::loop_end) --depth;
      out += fmt::format("{:{}}{}\n", "", depth * 2, text(program, in));
      if (in.op == OpCode::loop_begin) ++depth;
    }
  }
  return out;
}

}  // namespace umbel
