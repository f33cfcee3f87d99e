// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "traits.hpp"

#include <algorithm>
#include <bit>

namespace umbel::bench {
namespace {

std::vector<Origin> reduction(const Extent& e) { return {{0, e.count, kReduction, 0}}; }
std::vector<Origin> share_of_reduction(const Extent& e) {
  return {{0, e.count, kReduction, static_cast<std::size_t>(e.rank) * e.count}};
}
std::vector<Origin> whole_of_root(const Extent& e) { return {{0, e.count, e.root, 0}}; }
std::vector<Origin> share_of_root(const Extent& e) {
  return {{0, e.count, e.root, static_cast<std::size_t>(e.rank) * e.count}};
}

/// One stretch from each rank, which begins `from` elements into its input.
std::vector<Origin> of_each_rank(const Extent& e, std::size_t from) {
  std::vector<Origin> origins;
  for (int rank = 0; rank < e.ranks; ++rank) {
    origins.push_back({static_cast<std::size_t>(rank) * e.count, e.count, rank, from});
  }
  return origins;
}
std::vector<Origin> of_all(const Extent& e) { return of_each_rank(e, 0); }
std::vector<Origin> share_of_all(const Extent& e) {
  return of_each_rank(e, static_cast<std::size_t>(e.rank) * e.count);
}

std::vector<Origin> uneven_share_of_all(const Extent& e) {
  std::vector<Origin> origins;
  std::size_t at = 0;
  for (int rank = 0; rank < e.ranks; ++rank) {
    std::size_t from = 0;
    for (int lower = 0; lower < e.rank; ++lower) from += share_between(rank, lower, e);
    origins.push_back({at, share_between(rank, e.rank, e), rank, from});
    at += origins.back().count;
  }
  return origins;
}

std::vector<Origin> whole_of_the_rank_before(const Extent& e) {
  return {{0, e.count, (e.rank + e.ranks - 1) % e.ranks, 0}};
}

std::string_view no_hypercube(int ranks) {
  return std::has_single_bit(static_cast<unsigned>(ranks)) ? "" : "a hypercube has a power of two of ranks";
}

double twice_the_rest(int ranks) { return 2.0 * (ranks - 1) / ranks; }
double the_rest(int ranks) { return static_cast<double>(ranks - 1) / ranks; }
double one(int /*ranks*/) { return 1.0; }

constexpr std::string_view kTheRest = "(p-1)/p";
/// As nccl-tests has it for these two; its other collectives round to elements.
constexpr std::size_t kSharesAlignment = 16;

}  // namespace

Part send_part(const Traits& traits, const Extent& extent) {
  return extent.rank == extent.root ? traits.send.root : traits.send.other;
}

Part recv_part(const Traits& traits, const Extent& extent) {
  return extent.rank == extent.root ? traits.recv.root : traits.recv.other;
}

std::size_t elements(const Traits& traits, Part part, const Extent& extent) {
  switch (part) {
    case Part::none:
      return 0;
    case Part::share:
      return extent.count;
    case Part::whole:
      return traits.shares ? extent.count * static_cast<std::size_t>(extent.ranks) : extent.count;
  }
  return 0;
}

std::size_t share_between(int from, int to, const Extent& extent) {
  // By the distance, so that all ranks have the same; two distances share what an even call gives them.
  const int distance = (to - from + extent.ranks) % extent.ranks;
  const bool first = distance % 2 == 1;
  if (distance == 0 || (first && distance + 1 == extent.ranks)) return extent.count;
  const bool all_or_none = (distance - 1) / 2 % 2 == 0;
  const std::size_t moved = all_or_none ? extent.count : extent.count / 2;
  return first ? extent.count + moved : extent.count - moved;
}

std::vector<std::uint64_t> counts_of(const Traits& traits, const std::vector<std::uint64_t>& bytes,
                                     std::size_t type_size, int ranks) {
  const std::uint64_t multiple = std::max<std::uint64_t>(traits.alignment / type_size, 1);
  std::vector<std::uint64_t> counts;
  for (const std::uint64_t b : bytes) {
    std::uint64_t count = b / type_size;
    if (traits.shares) count /= static_cast<std::uint64_t>(ranks);
    count -= count % multiple;
    if (counts.empty() || counts.back() != count) counts.push_back(count);
  }
  return counts;
}

Capacity capacity_of(const Traits& traits, std::uint64_t bytes, const std::vector<int>& roots, int rank, int ranks) {
  const auto bytes_of = [&](Part part) {
    if (part == Part::none) return std::uint64_t{0};
    return part == Part::share ? bytes / static_cast<std::uint64_t>(ranks) : bytes;
  };
  Capacity capacity;
  for (const int root : roots) {
    const Extent extent{.root = root, .rank = rank, .ranks = ranks};
    capacity.send = std::max(capacity.send, bytes_of(send_part(traits, extent)));
    capacity.recv = std::max(capacity.recv, bytes_of(recv_part(traits, extent)));
  }
  return capacity;
}

Buffers buffers_of(const Traits& traits, const Extent& extent, bool in_place) {
  const Part send = send_part(traits, extent);
  const Part recv = recv_part(traits, extent);
  Buffers buffers{.send = elements(traits, send, extent), .recv = elements(traits, recv, extent)};
  buffers.joined = in_place && send != Part::none && recv != Part::none;
  if (!buffers.joined || send == recv) return buffers;
  // a share and the whole: the share lies at its place
  (send == Part::share ? buffers.send_at : buffers.recv_at) = static_cast<std::size_t>(extent.rank) * extent.count;
  return buffers;
}

std::vector<Origin> origins_of(const Traits& traits, const Extent& extent) {
  if (!moves_data(traits) || recv_part(traits, extent) == Part::none) return {};
  return traits.origins(extent);
}

namespace collectives {

const Traits kAllReduce{.name = "all_reduce",
                        .program = "all_reduce_perf",
                        .collective = UMBEL_ALL_REDUCE,
                        .send = everywhere(Part::whole),
                        .recv = everywhere(Part::whole),
                        .reduces = true,
                        .origins = reduction,
                        .bus_factor = "2(p-1)/p",
                        .bus_factor_of = twice_the_rest,
                        .limit_of = limit_of_all_reduce};

const Traits kBroadcast{.name = "broadcast",
                        .program = "broadcast_perf",
                        .collective = UMBEL_BROADCAST,
                        .send = {Part::whole, Part::none},
                        .recv = everywhere(Part::whole),
                        .has_root = true,
                        .origins = whole_of_root,
                        .bus_factor = "1",
                        .bus_factor_of = one,
                        .limit_of = limit_of_broadcast};

const Traits kReduce{.name = "reduce",
                     .program = "reduce_perf",
                     .collective = UMBEL_REDUCE,
                     .send = everywhere(Part::whole),
                     .recv = {Part::whole, Part::none},
                     .reduces = true,
                     .has_root = true,
                     .origins = reduction,
                     .bus_factor = "1",
                     .bus_factor_of = one,
                     .limit_of = limit_of_broadcast};

const Traits kAllGather{.name = "all_gather",
                        .program = "all_gather_perf",
                        .collective = UMBEL_ALL_GATHER,
                        .send = everywhere(Part::share),
                        .recv = everywhere(Part::whole),
                        .shares = true,
                        .alignment = kSharesAlignment,
                        .origins = of_all,
                        .bus_factor = kTheRest,
                        .bus_factor_of = the_rest,
                        .limit_of = limit_of_all_gather};

const Traits kReduceScatter{.name = "reduce_scatter",
                            .program = "reduce_scatter_perf",
                            .collective = UMBEL_REDUCE_SCATTER,
                            .send = everywhere(Part::whole),
                            .recv = everywhere(Part::share),
                            .shares = true,
                            .alignment = kSharesAlignment,
                            .reduces = true,
                            .origins = share_of_reduction,
                            .bus_factor = kTheRest,
                            .bus_factor_of = the_rest,
                            .limit_of = limit_of_all_gather};

const Traits kAllToAll{.name = "all_to_all",
                       .program = "alltoall_perf",
                       .collective = UMBEL_ALL_TO_ALL,
                       .send = everywhere(Part::whole),
                       .recv = everywhere(Part::whole),
                       .shares = true,
                       .origins = share_of_all,
                       .bus_factor = kTheRest,
                       .bus_factor_of = the_rest,
                       .limit_of = limit_of_all_to_all};

const Traits kGather{.name = "gather",
                     .program = "gather_perf",
                     .collective = UMBEL_GATHER,
                     .send = everywhere(Part::share),
                     .recv = {Part::whole, Part::none},
                     .shares = true,
                     .has_root = true,
                     .origins = of_all,
                     .bus_factor = kTheRest,
                     .bus_factor_of = the_rest,
                     .limit_of = limit_of_gather};

const Traits kScatter{.name = "scatter",
                      .program = "scatter_perf",
                      .collective = UMBEL_SCATTER,
                      .send = {Part::whole, Part::none},
                      .recv = everywhere(Part::share),
                      .shares = true,
                      .has_root = true,
                      .origins = share_of_root,
                      .bus_factor = kTheRest,
                      .bus_factor_of = the_rest,
                      .limit_of = limit_of_gather};

const Traits kBarrier{.name = "barrier", .program = "barrier_perf", .collective = UMBEL_BARRIER, .in_place = false};

const Traits kAllToAllV{.name = "all_to_allv",
                        .program = "alltoallv_perf",
                        .collective = UMBEL_ALL_TO_ALLV,
                        .send = everywhere(Part::whole),
                        .recv = everywhere(Part::whole),
                        .shares = true,
                        .in_place = false,
                        .uneven = true,
                        .origins = uneven_share_of_all,
                        .bus_factor = kTheRest,
                        .bus_factor_of = the_rest,
                        .limit_of = limit_of_all_to_allv};

const Traits kSendRecv{.name = "sendrecv",
                       .program = "sendrecv_perf",
                       .send = everywhere(Part::whole),
                       .recv = everywhere(Part::whole),
                       .in_place = false,
                       .origins = whole_of_the_rank_before,
                       .bus_factor = "1",
                       .bus_factor_of = one,
                       .limit_of = limit_of_sendrecv};

const Traits kHypercube{.name = "hypercube",
                        .program = "hypercube_perf",
                        .send = everywhere(Part::share),
                        .recv = everywhere(Part::whole),
                        .shares = true,
                        .alignment = kSharesAlignment,
                        .refusal = no_hypercube,
                        .origins = of_all,
                        .bus_factor = kTheRest,
                        .bus_factor_of = the_rest,
                        .limit_of = limit_of_all_gather};

}  // namespace collectives
}  // namespace umbel::bench
