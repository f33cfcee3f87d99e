// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Which sizes stand for all sizes.
//
// That blocks tile a piece for any length needs no runs: block_start(l, b) = min(l, ⌊u·b/B⌋·g) with u = ⌈l/g⌉ does not
// decrease in b, is 0 for b = 0, and is min(l, u·g) = l for b = B; so consecutive blocks share their borders and leave
// nothing out, and two blocks differ by at most one granule because ⌊u·(b+1)/B⌋ − ⌊u·b/B⌋ is ⌊u/B⌋ or ⌈u/B⌉. Pieces and
// chunks are cut at multiples of a fixed length up to the end, so they tile too. tests/unit checks this on many small
// cases.
//
// A program sees a size only through its trip counts and through which slices are empty or shorter than others. Streams
// repeat after `depth` turns, so k ∈ {1, 2, depth, depth + 1} trips show every reuse of a slot. A credit that is lost
// in every trip shows once they are all gone, so there are also runs of more trips than any semaphore has credits.
#pragma once

#include "algos/check/prove.hpp"

namespace umbel::algos::check {

/// What a run binds to programs, in elements.
struct Size {
  std::uint64_t count = 0;
  std::uint64_t piece = 0;
  std::uint64_t chunk = 0;
  std::uint32_t granule = 1;
};

std::string text_of(const Size& size);

/// `pieces` pieces of `chunks` chunks of 2 elements a block, less `short_by` elements.
Size size_of(const Program& program, unsigned pieces, unsigned chunks, std::uint64_t short_by);

/// For n divisible by the number of blocks, in one chunk.
Size formula_size(const Program& program);

/// The most credits that a semaphore of `programs` starts with (huge ones, which only mutants have, aside).
unsigned most_credits(std::span<const Program> programs);

/// The sizes of `effort`, at least three.
std::vector<Size> sizes_of(std::span<const Program> programs, int depth, Effort effort);

}  // namespace umbel::algos::check
