// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// What each collective is: which elements a call is about, and which of them a rank's two buffers hold. Everybody who
// must know reads it here: the binding of programs, the checker, the runtime, the doors.
//
// A call is about a range of elements. For most collectives these are the `count` elements of a buffer. For the others,
// the ranked ones, they are p shares of `count` elements, share r belonging to rank r; a buffer holds all of them, in
// the order of ranks, or its own rank's share alone.
//
//                    input              output                              elements
//   all_reduce       whole              whole                               count
//   broadcast        root: whole        whole                               count
//   reduce           whole              root: whole                         count
//   all_gather       share              whole                               p · count
//   reduce_scatter   whole              share                               p · count
//   all_to_all       whole (to rank r)  whole (from rank r)                 p · count
//   gather           share              root: whole                         p · count
//   scatter          root: whole        share                               p · count
//   barrier          none               none                                0
//
// The v-forms are the same with shares of different lengths.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/types.hpp"

namespace umbel {

/// The order is part of the C ABI (`umbel_collective_t`).
enum class Collective : std::uint8_t {
  all_reduce,
  broadcast,
  reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  gather,
  scatter,
  barrier,
  all_gatherv,
  reduce_scatterv,
  all_to_allv,
  gatherv,
  scatterv,
};
inline constexpr int kCollectiveCount = 14;

std::string_view name_of(Collective collective) noexcept;
/// Our names, with and without underscores ("alltoall"), in any case.
std::optional<Collective> parse_collective(std::string_view name) noexcept;
std::span<const Collective> all_collectives() noexcept;

/// The collective whose algorithms serve it: itself, or of a v-form the one with equal shares.
constexpr Collective plain(Collective c) noexcept {
  switch (c) {
    case Collective::all_gatherv:
      return Collective::all_gather;
    case Collective::reduce_scatterv:
      return Collective::reduce_scatter;
    case Collective::all_to_allv:
      return Collective::all_to_all;
    case Collective::gatherv:
      return Collective::gather;
    case Collective::scatterv:
      return Collective::scatter;
    default:
      return c;
  }
}

/// The v-forms in which nobody but the two of a pair of ranks knows how much the one gives the other. In the others all
/// ranks know the lengths of all shares.
constexpr bool counted_by_pairs(Collective c) noexcept {
  return c == Collective::all_to_allv || c == Collective::gatherv || c == Collective::scatterv;
}

/// What of a call's elements a buffer of one rank holds.
enum class Part : std::uint8_t { none, share, whole };

/// Whether the call's elements are one share per rank.
constexpr bool ranked(Collective c) noexcept {
  c = plain(c);
  return c == Collective::all_gather || c == Collective::reduce_scatter || c == Collective::all_to_all ||
         c == Collective::gather || c == Collective::scatter;
}

constexpr bool rooted(Collective c) noexcept {
  c = plain(c);
  return c == Collective::broadcast || c == Collective::reduce || c == Collective::gather || c == Collective::scatter;
}

constexpr bool reduces(Collective c) noexcept {
  c = plain(c);
  return c == Collective::all_reduce || c == Collective::reduce || c == Collective::reduce_scatter;
}

/// Whether a rank that has finished knows that every rank has begun: what the bank rule may build on. Of the v-forms
/// none, since they leave out pairs that have nothing to say to each other.
constexpr bool synchronizes(Collective c) noexcept {
  return c == Collective::all_reduce || c == Collective::all_gather || c == Collective::reduce_scatter ||
         c == Collective::all_to_all || c == Collective::barrier;
}

constexpr Part input_part(Collective c, bool is_root) noexcept {
  switch (plain(c)) {
    case Collective::broadcast:
    case Collective::scatter:
      return is_root ? Part::whole : Part::none;
    case Collective::all_gather:
    case Collective::gather:
      return Part::share;
    case Collective::barrier:
      return Part::none;
    default:
      return Part::whole;
  }
}

constexpr Part output_part(Collective c, bool is_root) noexcept {
  switch (plain(c)) {
    case Collective::reduce:
    case Collective::gather:
      return is_root ? Part::whole : Part::none;
    case Collective::reduce_scatter:
    case Collective::scatter:
      return Part::share;
    case Collective::barrier:
      return Part::none;
    default:
      return Part::whole;
  }
}

}  // namespace umbel
