// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "algos/check/clocks.hpp"
#include "algos/check/expressions.hpp"

namespace umbel::algos::check {

/// What one element of memory holds.
struct Value {
  Expr expr = 0;              ///< 0: nothing that a program may read
  std::uint32_t element = 0;  ///< which element of which operation
  std::uint32_t steps = 0;    ///< transfers between ranks on the longest path to here
};

/// An earlier access that the present one is not ordered with.
struct Conflict {
  Epoch earlier;
  bool earlier_writes = false;
};

/// All elements of all ranks' buffers, with who wrote and who has read each since (as FastTrack keeps it: the last
/// write and the reads that nothing orders).
class Memory {
 public:
  explicit Memory(std::size_t elements) : cells_(elements) {}

  Value& value(std::size_t element) { return cells_[element].value; }

  std::optional<Conflict> read(std::size_t element, const std::uint32_t* clock, Epoch self) {
    Cell& cell = cells_[element];
    if (!known(cell.write, clock)) return Conflict{cell.write, true};
    if (cell.more == 0 && known(cell.read, clock)) {
      cell.read = self;
    } else {
      remember(cell, clock, self);
    }
    return std::nullopt;
  }

  std::optional<Conflict> write(std::size_t element, const std::uint32_t* clock, Epoch self) {
    Cell& cell = cells_[element];
    if (!known(cell.write, clock)) return Conflict{cell.write, true};
    if (!known(cell.read, clock)) return Conflict{cell.read, false};
    for (std::uint32_t at = cell.more; at != 0; at = reads_[at].next)
      if (!known(reads_[at].epoch, clock)) return Conflict{reads_[at].epoch, false};
    while (cell.more != 0) {
      const std::uint32_t next = reads_[cell.more].next;
      free_.push_back(cell.more);
      cell.more = next;
    }
    cell.write = self;
    cell.read = Epoch{};
    return std::nullopt;
  }

 private:
  struct Cell {
    Value value;
    Epoch write;
    Epoch read;
    std::uint32_t more = 0;  ///< further reads, a list in reads_
  };
  struct Read {
    Epoch epoch;
    std::uint32_t next = 0;
  };

  /// Adds a read beside others, replacing one that is ordered before it where there is one.
  void remember(Cell& cell, const std::uint32_t* clock, Epoch self) {
    if (known(cell.read, clock)) {
      cell.read = self;
      return;
    }
    for (std::uint32_t at = cell.more; at != 0; at = reads_[at].next) {
      if (!known(reads_[at].epoch, clock)) continue;
      reads_[at].epoch = self;
      return;
    }
    std::uint32_t fresh = static_cast<std::uint32_t>(reads_.size());
    if (free_.empty()) {
      reads_.emplace_back();
    } else {
      fresh = free_.back();
      free_.pop_back();
    }
    reads_[fresh] = Read{self, cell.more};
    cell.more = fresh;
  }

  std::vector<Cell> cells_;
  std::vector<Read> reads_{1};  // 0 ends a list
  std::vector<std::uint32_t> free_;
};

}  // namespace umbel::algos::check
