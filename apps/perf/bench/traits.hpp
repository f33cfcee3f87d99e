// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// What a collective is to the bench, but for the calls: what each buffer holds, what a size of the command line is the
// size of, what the results must be, what busbw means. No MPI here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "limits.hpp"
#include "umbel/umbel.h"

namespace umbel::bench {

/// What a buffer of a rank holds: nothing, its own share of the call's elements, or all of them.
enum class Part { none, share, whole };

struct Parts {
  Part root = Part::none;
  Part other = Part::none;  ///< the same where there is no root
};
constexpr Parts everywhere(Part part) { return {part, part}; }

/// One call as one rank sees it.
struct Extent {
  std::size_t count = 0;  ///< elements, as the call takes it
  int root = 0;
  int rank = 0;
  int ranks = 1;
};

/// Where a stretch of a result comes from.
struct Origin {
  std::size_t at = 0;  ///< in the result
  std::size_t count = 0;
  int rank = 0;          ///< a copy of this rank's input; kReduction: the reduction of all ranks' inputs
  std::size_t from = 0;  ///< in that input
  bool operator==(const Origin&) const = default;
};
inline constexpr int kReduction = -1;

struct Traits {
  std::string_view name;                           ///< in results: all_reduce
  std::string_view program;                        ///< all_reduce_perf
  std::optional<umbel_collective_t> collective{};  ///< whose algorithms there are; none: made of sends and receives
  Parts send{};
  Parts recv{};
  bool shares = false;        ///< a call is about p shares of `count` elements, else about `count` elements
  std::size_t alignment = 1;  ///< bytes: a share is rounded down to a multiple
  bool reduces = false;
  bool has_root = false;
  bool in_place = true;
  bool uneven = false;  ///< the shares are those of share_between()
  /// Why so many ranks cannot make it; empty when they can.
  std::string_view (*refusal)(int ranks) = nullptr;
  std::vector<Origin> (*origins)(const Extent&) = nullptr;  ///< of the result, on a rank that has one
  std::string_view bus_factor{};                            ///< in words; empty: there is no bandwidth
  double (*bus_factor_of)(int ranks) = nullptr;             ///< busbw = algbw × this
  double (*limit_of)(const Speeds&) = nullptr;              ///< of busbw
};

/// A barrier moves none.
constexpr bool moves_data(const Traits& traits) { return traits.origins != nullptr; }

/// What `extent.rank`'s buffers hold.
Part send_part(const Traits& traits, const Extent& extent);
Part recv_part(const Traits& traits, const Extent& extent);
/// Elements of a buffer that holds this part.
std::size_t elements(const Traits& traits, Part part, const Extent& extent);

/// Elements from one rank to another of a call with uneven shares: none, half, one and a half times or twice as many as
/// `count`. Each rank sends, and receives, as many as in a call with even shares, and keeps as many.
std::size_t share_between(int from, int to, const Extent& extent);

/// Element counts of calls about so many bytes, rounded down, without repetitions. The bytes are those of a buffer that
/// holds the whole.
std::vector<std::uint64_t> counts_of(const Traits& traits, const std::vector<std::uint64_t>& bytes,
                                     std::size_t type_size, int ranks);

/// The most bytes of this rank's buffers when no call is about more than `bytes`.
struct Capacity {
  std::uint64_t send = 0;
  std::uint64_t recv = 0;
};
Capacity capacity_of(const Traits& traits, std::uint64_t bytes, const std::vector<int>& roots, int rank, int ranks);

/// One rank's buffers in one call, in elements.
struct Buffers {
  std::size_t send = 0;
  std::size_t recv = 0;
  bool joined = false;  ///< in-place: the smaller one lies in the larger one, from here:
  std::size_t send_at = 0;
  std::size_t recv_at = 0;
};
Buffers buffers_of(const Traits& traits, const Extent& extent, bool in_place);

/// Empty on a rank without a result.
std::vector<Origin> origins_of(const Traits& traits, const Extent& extent);

namespace collectives {
extern const Traits kAllReduce;
extern const Traits kBroadcast;
extern const Traits kReduce;
extern const Traits kAllGather;
extern const Traits kReduceScatter;
extern const Traits kAllToAll;
extern const Traits kGather;
extern const Traits kScatter;
extern const Traits kBarrier;
extern const Traits kAllToAllV;
extern const Traits kSendRecv;
extern const Traits kHypercube;
}  // namespace collectives

}  // namespace umbel::bench
