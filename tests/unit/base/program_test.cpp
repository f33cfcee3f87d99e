// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The partition of a call into pieces, blocks and chunks, as properties over many counts and cuts: whatever the
// numbers, the parts tile the call, fit their slots and stay inside the window.
#include "base/program.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace umbel {
namespace {

using ::testing::HasSubstr;

/// One way to cut a call.
struct Case {
  std::uint64_t count;
  std::size_t elem_bytes;
  int blocks;
  int chunk_blocks;
  bool uses_pieces;
  bool uses_chunks;
  Cut cut;
  std::uint32_t granule;
};

Program program_of(const Case& c) {
  Program program;
  program.blocks = c.blocks;
  program.chunk_blocks = c.chunk_blocks;
  program.uses_pieces = c.uses_pieces;
  program.uses_chunks = c.uses_chunks;
  program.regions = {{.slots = 3, .blocks = 1, .image = false},
                     {.slots = 2, .blocks = c.chunk_blocks, .image = false},
                     {.slots = 1, .blocks = 1, .image = true}};
  return program;
}

std::string describe(const Case& c) {
  return "count " + std::to_string(c.count) + " × " + std::to_string(c.elem_bytes) + " B, " + std::to_string(c.blocks) +
         " blocks, runs of " + std::to_string(c.chunk_blocks) + (c.uses_pieces ? ", pieces" : "") +
         (c.uses_chunks ? ", chunks" : "") + ", cut " + std::to_string(c.cut.piece_bytes) + "/" +
         std::to_string(c.cut.chunk_bytes) + ", granule " + std::to_string(c.granule);
}

std::vector<Case> cases() {
  std::vector<Case> all;
  std::mt19937 random(4711);
  const std::uint64_t counts[] = {0, 1, 2, 3, 5, 7, 8, 63, 64, 65, 1000, 1024, 4097, 12345};
  const std::size_t sizes[] = {1, 2, 4, 8};
  for (const std::uint64_t count : counts) {
    for (int round = 0; round < 24; ++round) {
      Case c{};
      c.count = count;
      c.elem_bytes = sizes[random() % 4];
      c.blocks = 1 + static_cast<int>(random() % 17);
      c.chunk_blocks = 1 + static_cast<int>(random() % static_cast<unsigned>(c.blocks));
      c.uses_pieces = random() % 2 == 0;
      c.uses_chunks = random() % 2 == 0;
      c.cut = {.piece_bytes = 64 + random() % 20000, .chunk_bytes = 8 + random() % 3000};
      c.granule = random() % 2 == 0 ? 0 : 1 + static_cast<std::uint32_t>(random() % 64);
      all.push_back(c);
    }
  }
  return all;
}

Binding bind_case(const Case& c) { return bind(program_of(c), c.count, c.elem_bytes, c.cut, c.granule); }

Slice block_slice(int block, int run, int chunk_loop, int piece_loop) {
  Slice slice;
  slice.blocks = run;
  slice.block.base = block;
  slice.chunk.coef[chunk_loop] = 1;
  slice.piece.coef[piece_loop] = 1;
  return slice;
}

TEST(Binding, BlocksTileEveryPieceAndAreNearlyEqual) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(describe(c));
    const Binding b = bind_case(c);
    for (std::uint64_t length : {std::uint64_t{0}, std::uint64_t{1}, b.piece / 2, b.piece}) {
      EXPECT_EQ(block_start(b, length, 0), 0U);
      EXPECT_EQ(block_start(b, length, b.blocks), length);
      std::uint64_t shortest = length, longest = 0;
      for (std::uint32_t block = 0; block < b.blocks; ++block) {
        const std::uint64_t low = block_start(b, length, block), high = block_start(b, length, block + 1);
        ASSERT_LE(low, high);
        if (high != length) EXPECT_EQ(high % b.granule, 0U);
        shortest = std::min(shortest, high - low);
        longest = std::max(longest, high - low);
      }
      EXPECT_LE(longest - shortest, 2ULL * b.granule);
      if (length % b.granule == 0) EXPECT_LE(longest - shortest, b.granule);
    }
  }
}

TEST(Binding, PiecesTileTheCall) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(describe(c));
    const Binding b = bind_case(c);
    ASSERT_GE(b.pieces, 1U);
    std::uint64_t next = 0;
    for (std::uint32_t piece = 0; piece < b.pieces; ++piece) {
      const Extent extent = piece_extent(b, piece);
      EXPECT_EQ(extent.first, next);
      if (c.count > 0) EXPECT_GT(extent.count, 0U);
      next += extent.count;
    }
    EXPECT_EQ(next, c.count);
    EXPECT_EQ(piece_extent(b, b.pieces).count, 0U) << "past the end there is nothing";
    if (!c.uses_pieces) EXPECT_EQ(b.pieces, 1U);
  }
}

/// Chunk loops over every run of `run` blocks from `first_block`, all pieces: each element once, in order within a run.
void expect_runs_tile(const Case& c, const Binding& b, int run) {
  std::vector<int> touched(c.count, 0);
  LoopCounters loops;
  for (int block = 0; block < c.blocks; block += run) {
    const Slice slice = block_slice(block, std::min(run, c.blocks - block), 1, 0);
    for (loops.i[0] = 0; loops.i[0] < b.pieces; ++loops.i[0]) {
      for (loops.i[1] = 0; loops.i[1] < b.chunks; ++loops.i[1]) {
        const Extent extent = extent_of(b, slice, loops);
        ASSERT_LE(extent.first + extent.count, c.count);
        for (std::uint64_t e = 0; e < extent.count; ++e) ++touched[extent.first + e];
      }
      loops.i[1] = b.chunks;
      EXPECT_EQ(extent_of(b, slice, loops).count, 0U) << "the last chunk was not the last";
    }
  }
  EXPECT_TRUE(std::ranges::all_of(touched, [](int times) { return times == 1; }));
}

TEST(Binding, ChunksOfRunsTouchEveryElementOnce) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(describe(c));
    const Binding b = bind_case(c);
    if (!c.uses_chunks) EXPECT_EQ(b.chunks, 1U);
    for (int run = 1; run <= c.chunk_blocks; ++run) expect_runs_tile(c, b, run);
  }
}

TEST(Binding, WindowSlotsHoldTheirSlicesAndDoNotOverlap) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(describe(c));
    const Program program = program_of(c);
    const Binding b = bind_case(c);
    std::uint64_t end = 0;
    for (std::size_t r = 0; r < program.regions.size(); ++r) {
      EXPECT_EQ(b.region_offset[r], end) << "regions follow one another";
      EXPECT_EQ(b.slot_bytes[r] % 64, 0U) << "slots are cache lines";
      end += b.slot_bytes[r] * static_cast<std::uint64_t>(program.regions[r].slots);
    }
    EXPECT_EQ(b.window_bytes, end);
    LoopCounters loops;
    for (int region = 0; region < 3; ++region) {
      const int run = program.regions[static_cast<std::size_t>(region)].blocks;
      for (int block = 0; block + run <= c.blocks; ++block) {
        Slice slice = block_slice(block, run, 1, 0);
        slice.buffer = Buffer::window;
        slice.region = region;
        slice.slot = {
            .base = 0, .depth = program.regions[static_cast<std::size_t>(region)].slots, .sem = -1, .index = {}};
        slice.slot.index.coef[1] = 1;
        for (loops.i[0] = 0; loops.i[0] < b.pieces; ++loops.i[0]) {
          for (loops.i[1] = 0; loops.i[1] < b.chunks; ++loops.i[1]) {
            const Extent extent = extent_of(b, slice, loops);
            const std::uint64_t low = window_offset(b, slice, loops, extent, 0);
            const std::uint64_t slot = loops.i[1] % static_cast<std::uint32_t>(slice.slot.depth);
            const std::uint64_t start = b.region_offset[region] + slot * b.slot_bytes[region];
            EXPECT_GE(low, start);
            EXPECT_LE(low + extent.count * c.elem_bytes, start + b.slot_bytes[region]);
          }
        }
      }
    }
  }
}

TEST(Binding, ImageSlotsKeepEachSliceAtItsPlaceInThePiece) {
  const Case c{.count = 1000,
               .elem_bytes = 4,
               .blocks = 7,
               .chunk_blocks = 1,
               .uses_pieces = true,
               .uses_chunks = true,
               .cut = {.piece_bytes = 1200, .chunk_bytes = 64},
               .granule = 1};
  const Binding b = bind_case(c);
  LoopCounters loops;
  for (loops.i[0] = 0; loops.i[0] < b.pieces; ++loops.i[0]) {
    for (int block = 0; block < 7; ++block) {
      Slice slice = block_slice(block, 1, 1, 0);
      slice.buffer = Buffer::window;
      slice.region = 2;
      const Extent extent = extent_of(b, slice, loops);
      const std::uint64_t in_piece = extent.first - piece_extent(b, loops.i[0]).first;
      EXPECT_EQ(window_offset(b, slice, loops, extent, 0), b.region_offset[2] + in_piece * 4);
    }
  }
}

TEST(Binding, SlotsByTurnFollowTheSignalsConsumed) {
  const Case c{.count = 64,
               .elem_bytes = 1,
               .blocks = 1,
               .chunk_blocks = 1,
               .uses_pieces = false,
               .uses_chunks = true,
               .cut = {.piece_bytes = 64, .chunk_bytes = 8},
               .granule = 1};
  const Binding b = bind_case(c);
  Slice slice = block_slice(0, 1, 0, 1);
  slice.buffer = Buffer::window;
  slice.slot = {.base = 1, .depth = 2, .sem = 5, .index = {}};
  const LoopCounters loops;
  const Extent extent = extent_of(b, slice, loops);
  EXPECT_EQ(window_offset(b, slice, loops, extent, 1), b.slot_bytes[0]);
  EXPECT_EQ(window_offset(b, slice, loops, extent, 2), 2 * b.slot_bytes[0]);
  EXPECT_EQ(window_offset(b, slice, loops, extent, 3), b.slot_bytes[0]);
}

TEST(Binding, MoreThanFourGibiBytesIsNoSpecialCase) {
  Case c{.count = (1ULL << 33U) + 12345,
         .elem_bytes = 8,
         .blocks = 64,
         .chunk_blocks = 1,
         .uses_pieces = true,
         .uses_chunks = true,
         .cut = {.piece_bytes = 1ULL << 24U, .chunk_bytes = 1ULL << 17U},
         .granule = 0};
  const Binding b = bind_case(c);
  const Extent last = piece_extent(b, b.pieces - 1);
  EXPECT_EQ(last.first + last.count, c.count);
  c.uses_pieces = false;
  const Binding whole = bind_case(c);
  EXPECT_EQ(block_start(whole, c.count, 64), c.count);
  std::uint64_t sum = 0;
  for (std::uint64_t block = 0; block < 64; ++block)
    sum += block_start(whole, c.count, block + 1) - block_start(whole, c.count, block);
  EXPECT_EQ(sum, c.count);
}

TEST(Binding, LargeBlocksStartOnCacheLines) {
  Program program;
  program.blocks = 4;
  EXPECT_EQ(bind(program, 1U << 20U, 4, {}).granule, 16U);
  EXPECT_EQ(bind(program, 1U << 20U, 1, {}).granule, 64U);
  EXPECT_EQ(bind(program, 5, 4, {}).granule, 1U) << "five elements for four ranks: nobody goes without";
}

TEST(Index, ResidueIsNeverNegativeAndTheOffsetComesAfterIt) {
  Index index{.base = 2, .coef = {-1, 3}, .modulus = 5, .offset = 10};
  for (std::uint32_t i = 0; i < 12; ++i) {
    for (std::uint32_t j = 0; j < 4; ++j) {
      LoopCounters loops;
      loops.i[0] = i;
      loops.i[1] = j;
      const int plain = 2 - static_cast<int>(i) + 3 * static_cast<int>(j);
      EXPECT_EQ(index.at(loops), ((plain % 5) + 5) % 5 + 10);
      Index unreduced = index;
      unreduced.modulus = 0;
      EXPECT_EQ(unreduced.at(loops), plain + 10);
    }
  }
}

TEST(Text, AProgramReadsLikeOne) {
  Program program;
  program.rank = 1;
  program.ranks = 2;
  program.blocks = 2;
  program.semaphores = {{.signaller = 0, .initial = 0}};
  program.signals = {{.peer = 0, .sem = 3}};
  Slice mine;
  mine.rank = 1;
  Slice theirs;
  theirs.buffer = Buffer::output;
  theirs.rank = 0;
  program.slices = {mine, theirs};
  program.instrs = {
      {.op = OpCode::loop_begin, .trip = Trip::constant, .times = 3, .jump = 3},
      {.op = OpCode::wait, .sem = 0},
      {.op = OpCode::copy, .src_count = 1, .src = 0, .dst = 1},
      {.op = OpCode::loop_end, .jump = 0},
      {.op = OpCode::signal, .signal = 0},
  };
  program.lanes = {{.kind = LaneKind::memory, .begin = 0, .end = 5}};
  const std::string text = to_text(program);
  EXPECT_THAT(text, HasSubstr("rank 1 of 2: 2 blocks"));
  EXPECT_THAT(text, HasSubstr("loop 3 times\n      wait   s0 (from 0)\n"));
  EXPECT_THAT(text, HasSubstr("copy   output@0[block 0] ← input[block 0]\n"));
  EXPECT_THAT(text, HasSubstr("\n    signal s3@0\n"));
}

TEST(Binding, AnImageOfARankedProgramHoldsAChunkOfEachShare) {
  constexpr int kRanks = 5, kPacked = 7;  // more than there are ranks: what several give to several
  constexpr std::uint64_t kShare = 10, kChunk = 4;
  Program program;
  program.collective = Collective::all_to_all;
  program.ranks = program.blocks = kRanks;
  program.shares = 1;
  program.uses_chunks = true;
  program.regions = {{.slots = 2, .blocks = kPacked, .image = true}};
  const Binding b = bind(program, kShare, 4, {.chunk_bytes = kChunk * 4}, 1);
  EXPECT_GE(b.slot_bytes[0], kPacked * kChunk * 4);
  ASSERT_EQ(b.chunks, 3U);
  const std::uint64_t lengths[] = {4, 4, 2};
  for (std::uint32_t chunk = 0; chunk < b.chunks; ++chunk) {
    const LoopCounters loops{{chunk}};
    Slice all = block_slice(0, kPacked, 0, 1);
    all.buffer = Buffer::window;
    EXPECT_EQ(extent_of(b, all, loops).count, kPacked * lengths[chunk]);
    for (int place = 0; place < kPacked; ++place) {  // side by side, as long as the chunk of a share
      Slice one = block_slice(place, 1, 0, 1);
      one.buffer = Buffer::window;
      one.slot = {.base = 1};
      const Extent extent = extent_of(b, one, loops);
      EXPECT_EQ(extent.count, lengths[chunk]);
      EXPECT_EQ(window_offset(b, one, loops, extent, 0),
                b.slot_bytes[0] + static_cast<std::uint64_t>(place) * lengths[chunk] * 4);
    }
  }
}

TEST(Binding, ABundleIsCutAsIfItsSharesWereOne) {
  const std::vector<std::vector<std::uint64_t>> lengths{{3, 0, 11, 4}, {0, 0, 0, 0}, {1, 1, 1, 1}, {0, 40, 0, 1}};
  for (const auto& length : lengths) {
    for (const std::uint64_t chunk : {1, 2, 4, 5, 64}) {
      constexpr int kRanks = 4;
      Program program;
      program.collective = Collective::gather;
      program.ranks = program.blocks = kRanks;
      program.shares = 1;
      program.uses_chunks = true;
      program.regions = {{.slots = 2, .blocks = kRanks, .image = false}};
      Binding b = bind(program, chunk, 4, {.chunk_bytes = chunk * 4}, 1);
      EXPECT_GE(b.slot_bytes[0], chunk * 4);
      std::vector<std::uint64_t> first, starts{0};
      for (const std::uint64_t n : length) {
        first.push_back(starts.back() + 100);  // a user buffer has its own places
        starts.push_back(starts.back() + n);
      }
      for (Shares& table : b.tables) table = {.count = length.data(), .first = first.data()};
      b.bundles = starts.data();
      Slice all{.buffer = Buffer::window, .bundle = 0, .item = 0, .items = kRanks};
      all.chunk.coef[0] = 1;
      const std::uint32_t trips = trips_over(b, all, {});
      EXPECT_EQ(trips, (starts.back() + chunk - 1) / chunk);
      std::vector<std::uint64_t> seen(kRanks);
      for (std::uint32_t k = 0; k < trips; ++k) {
        const LoopCounters loops{{k}};
        const Extent whole = extent_of(b, all, loops);
        EXPECT_EQ(whole.first, 0U);
        EXPECT_EQ(whole.count, k + 1 < trips ? chunk : starts.back() - k * chunk);
        std::uint64_t next = 0;
        for (int item = 0; item < kRanks; ++item) {
          Slice slot = all, user = all;
          slot.item = user.item = item;
          slot.items = user.items = 1;
          user.buffer = Buffer::output;
          user.block.base = item;
          const Extent in_slot = extent_of(b, slot, loops), in_user = extent_of(b, user, loops);
          EXPECT_EQ(in_slot.count, in_user.count);
          if (in_slot.count == 0) continue;
          EXPECT_EQ(in_slot.first, next);  // side by side, without gaps
          EXPECT_EQ(window_offset(b, slot, loops, in_slot, 0), next * 4);
          EXPECT_EQ(in_user.first, first[static_cast<std::size_t>(item)] + seen[static_cast<std::size_t>(item)]);
          next += in_slot.count;
          seen[static_cast<std::size_t>(item)] += in_slot.count;
        }
        EXPECT_EQ(next, whole.count);
      }
      EXPECT_EQ(seen, length);
    }
  }
}

}  // namespace
}  // namespace umbel
