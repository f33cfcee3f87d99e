// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/check/sizes.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace umbel::algos::check {

std::string text_of(const Size& size) {
  std::string out = fmt::format("count {}", size.count);
  if (size.piece != 0) out += fmt::format(", pieces of {}", size.piece);
  if (size.chunk != 0) out += fmt::format(", chunks of {}", size.chunk);
  if (size.granule != 1) out += fmt::format(", granule {}", size.granule);
  return out;
}

namespace {

/// Blocks that a count is cut in.
std::uint64_t blocks_of(const Program& program) {
  return static_cast<std::uint64_t>(program.shares > 0 ? program.shares : program.blocks);
}

}  // namespace

Size size_of(const Program& program, unsigned pieces, unsigned chunks, std::uint64_t short_by) {
  if (program.collective == Collective::barrier) return {};
  constexpr std::uint64_t kElements = 2;  // of one block in one chunk
  const std::uint64_t blocks = blocks_of(program);
  Size size;
  std::uint64_t block = kElements;
  if (program.uses_chunks) {
    size.chunk = kElements * static_cast<std::uint64_t>(program.chunk_blocks);
    block = kElements * chunks;
  }
  size.count = blocks * block;
  if (program.uses_pieces) {
    size.piece = size.count;
    size.count *= pieces;
  }
  size.count -= short_by < size.count ? short_by : 0;
  return size;
}

Size formula_size(const Program& program) {
  Size size = size_of(program, 1, 1, 0);
  size.piece = 0;
  size.chunk = 0;
  return size;
}

unsigned most_credits(std::span<const Program> programs) {
  constexpr int kHuge = 1000;
  int most = 0;
  for (const Program& program : programs)
    for (const Semaphore& semaphore : program.semaphores)
      if (semaphore.initial < kHuge) most = std::max(most, semaphore.initial);
  return static_cast<unsigned>(most);
}

std::vector<Size> sizes_of(std::span<const Program> programs, int depth, Effort effort) {
  const Program& program = programs.front();
  if (program.collective == Collective::barrier) return std::vector<Size>(3);  // one operation after another
  const std::uint64_t blocks = blocks_of(program);
  const auto d = static_cast<unsigned>(depth);
  std::vector<Size> sizes{size_of(program, 2, d + 1, blocks / 2 + 1), size_of(program, d + 1, 1, 0),
                          size_of(program, 1, 2, 1)};
  const Size one = size_of(program, 1, 1, 0);
  const auto tiny = [&](std::uint64_t count) { return Size{count, one.piece, one.chunk, 1}; };
  if (effort == Effort::quick) {
    for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1}, blocks + 1}) sizes.push_back(tiny(count));
    return sizes;
  }
  for (const unsigned pieces : std::set{1U, 2U, d, d + 1}) {
    for (const unsigned chunks : std::set{1U, 2U, d, d + 1}) {
      if ((!program.uses_pieces && pieces > 1) || (!program.uses_chunks && chunks > 1)) continue;
      sizes.push_back(size_of(program, pieces, chunks, 0));
      sizes.push_back(size_of(program, pieces, chunks, blocks / 2 + 1));
    }
  }
  for (const std::uint64_t count : std::set{std::uint64_t{0}, std::uint64_t{1}, blocks - 1, blocks, blocks + 1})
    sizes.push_back(tiny(count));
  const unsigned many = most_credits(programs) + 2;
  if (program.uses_pieces) sizes.push_back(size_of(program, many, 1, 0));
  if (program.uses_chunks) sizes.push_back(size_of(program, 1, many, 0));
  // Chunks that do not end with blocks, and a granule.
  Size odd = size_of(program, 1, d + 1, blocks / 3);
  if (odd.chunk != 0) odd.chunk += 1;
  odd.granule = 2;
  sizes.push_back(odd);
  return sizes;
}

}  // namespace umbel::algos::check
