// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/arguments.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"

namespace umbel::runtime {
namespace {

constexpr std::uint64_t kMaxCount = (std::uint64_t{1} << 48U) - 1;

std::size_t bytes_of(Part part, std::size_t share_bytes, std::size_t shares) {
  switch (part) {
    case Part::none:
      return 0;
    case Part::share:
      return share_bytes;
    case Part::whole:
      return share_bytes * shares;
  }
  return 0;
}

std::size_t bytes_of(Part part, const ShareLists::List& list, Rank me, std::size_t elem) {
  if (part == Part::none) return 0;
  if (part == Part::share) return list.count[static_cast<std::size_t>(me)] * elem;
  std::size_t end = 0;
  for (std::size_t r = 0; r < list.count.size(); ++r)
    if (list.count[r] != 0) end = std::max(end, (list.first[r] + list.count[r]) * elem);
  return end;
}

std::string_view rule_of(Collective collective) {
  switch (collective) {
    case Collective::all_gatherv:
    case Collective::gatherv:
      return "disjoint, or send == recv + the own displacement (in-place)";
    case Collective::scatterv:
      return "disjoint, or recv == send + the own displacement (in-place)";
    case Collective::reduce_scatterv:
      return "disjoint, or recv == send, or recv == send + the own share's place (in-place)";
    case Collective::all_to_allv:
      return "disjoint, or equal with the same counts and displacements (in-place)";
    case Collective::all_gather:
    case Collective::gather:
      return "disjoint, or send == recv + rank x count elements (in-place)";
    case Collective::scatter:
      return "disjoint, or recv == send + rank x count elements (in-place)";
    case Collective::reduce_scatter:
      return "disjoint, or recv == send, or recv == send + rank x count elements (in-place)";
    default:
      return "equal (in-place) or disjoint";
  }
}

/// A buffer of `bytes` bytes that is there, and does not reach past the end of memory.
std::uintptr_t address_of(std::string_view name, const void* buffer, std::size_t bytes, std::size_t count) {
  const auto address = reinterpret_cast<std::uintptr_t>(buffer);
  if (bytes != 0 && buffer == nullptr) throw InvalidArgument(fmt::format("{} is NULL while count is {}", name, count));
  if (bytes > std::numeric_limits<std::uintptr_t>::max() - address)
    throw InvalidArgument(fmt::format("{} bytes from {} {} reach past the end of memory", bytes, name, buffer));
  return address;
}

/// Where the output begins when equal elements of in- and output lie at equal places.
std::uintptr_t aligned_output(const CallArgs& args, Rank me) {
  const bool is_root = me == args.root;
  const Part input = input_part(args.collective, is_root), output = output_part(args.collective, is_root);
  std::uintptr_t at = static_cast<std::uintptr_t>(me) * args.count * size_of(args.dtype);
  if (args.shares != nullptr) {
    const ShareLists::List& whole = input == Part::whole ? args.shares->input : args.shares->output;
    at = whole.first[static_cast<std::size_t>(me)] * size_of(args.dtype);
  }
  const auto send = reinterpret_cast<std::uintptr_t>(args.send);
  if (input == output) return send;
  return input == Part::share ? send - at : send + at;
}

}  // namespace

BufferBytes buffer_bytes(const CallArgs& args, Rank me, int ranks) {
  const bool is_root = me == args.root;
  const std::size_t elem = size_of(args.dtype), share = args.count * elem;
  if (args.shares != nullptr)
    return {.input = bytes_of(input_part(args.collective, is_root), args.shares->input, me, elem),
            .output = bytes_of(output_part(args.collective, is_root), args.shares->output, me, elem)};
  const std::size_t shares = ranked(args.collective) ? static_cast<std::size_t>(ranks) : 1;
  return {.input = bytes_of(input_part(args.collective, is_root), share, shares),
          .output = bytes_of(output_part(args.collective, is_root), share, shares)};
}

PairCounts pair_counts(const CallArgs& args, Rank me, Rank peer) {
  const auto own = static_cast<std::size_t>(me), other = static_cast<std::size_t>(peer);
  const ShareLists& lists = *args.shares;
  switch (args.collective) {
    case Collective::all_to_allv:
      return {.gives = lists.input.count[other], .takes = lists.output.count[other]};
    case Collective::gatherv:
      return {.gives = peer == args.root ? lists.input.count[own] : 0,
              .takes = me == args.root ? lists.output.count[other] : 0};
    case Collective::scatterv:
      return {.gives = me == args.root ? lists.input.count[other] : 0,
              .takes = peer == args.root ? lists.output.count[own] : 0};
    default:
      return {};
  }
}

namespace {

/// Memory that one share takes.
struct Place {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::size_t share = 0;
};

/// Where the shares that a buffer holds lie, those without elements aside, in ascending order.
std::vector<Place> places_of(std::string_view name, const void* buffer, Part part, const ShareLists::List& list,
                             Rank me, std::size_t elem) {
  std::vector<Place> places;
  if (part == Part::none) return places;
  const std::size_t from = part == Part::share ? static_cast<std::size_t>(me) : 0;
  const std::size_t to = part == Part::share ? from + 1 : list.count.size();
  for (std::size_t r = from; r < to; ++r) {
    const std::uint64_t first = part == Part::share ? 0 : list.first[r];
    if (list.count[r] > kMaxCount / elem || first > kMaxCount / elem)
      throw InvalidArgument(fmt::format("{}: {} elements of {} bytes at {} for rank {} are more than fit in memory",
                                        name, list.count[r], elem, first, r));
    if (list.count[r] == 0) continue;
    const std::uintptr_t base = address_of(name, buffer, (first + list.count[r]) * elem, list.count[r]);
    places.push_back({base + first * elem, base + (first + list.count[r]) * elem, r});
  }
  if (!std::ranges::is_sorted(places, {}, &Place::begin)) std::ranges::sort(places, {}, &Place::begin);
  return places;
}

bool any_overlap(const std::vector<Place>& a, const std::vector<Place>& b) {
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size(); a[i].end < b[j].end ? ++i : ++j)
    if (a[i].begin < b[j].end && b[j].begin < a[i].end) return true;
  return false;
}

/// What this rank says twice of its own share.
void check_own_share(const CallArgs& args, Rank me) {
  const ShareLists& lists = *args.shares;
  const auto own = static_cast<std::size_t>(me);
  const std::uint64_t given = lists.input.count[own], taken = lists.output.count[own];
  const bool in_both =
      args.collective == Collective::all_to_allv || !counted_by_pairs(args.collective) || me == args.root;
  if (in_both && given != taken)
    throw InvalidArgument(fmt::format("this rank sends itself {} elements and receives {} from itself", given, taken));
  if (in_both && args.collective != Collective::all_to_allv && args.count != given)
    throw InvalidArgument(
        fmt::format("the count of this rank's own share is {}, but counts[{}] is {}", args.count, me, given));
}

InPlace check_shares(const CallArgs& args, Rank me) {
  const ShareLists& lists = *args.shares;
  const std::size_t elem = size_of(args.dtype);
  check_own_share(args, me);
  const bool is_root = me == args.root;
  const auto in = places_of("send", args.send, input_part(args.collective, is_root), lists.input, me, elem);
  const auto out = places_of("recv", args.recv, output_part(args.collective, is_root), lists.output, me, elem);
  for (std::size_t k = 1; k < out.size(); ++k)
    if (out[k].begin < out[k - 1].end)
      throw InvalidArgument(fmt::format("recv: the shares of ranks {} and {} overlap", out[k - 1].share, out[k].share));
  if (!any_overlap(in, out)) return InPlace::no;
  const Collective form = plain(args.collective);
  if (form == Collective::all_to_all) {
    if (args.send == args.recv && lists.input.count == lists.output.count && lists.input.first == lists.output.first)
      return InPlace::exchanged;
  } else if (reinterpret_cast<std::uintptr_t>(args.recv) == aligned_output(args, me)) {
    return InPlace::aligned;
  } else if (form == Collective::reduce_scatter && args.send == args.recv) {
    return InPlace::at_start;
  }
  throw InvalidArgument(fmt::format("send {} and recv {} overlap; for {} they must be {}", args.send, args.recv,
                                    name_of(args.collective), rule_of(args.collective)));
}

void check_root(const CallArgs& args, int ranks) {
  if (args.root < 0 || args.root >= ranks)
    throw InvalidArgument(fmt::format("root {} is none of the ranks 0 … {}", args.root, ranks - 1));
}

}  // namespace

InPlace check_arguments(const CallArgs& args, Rank me, int ranks) {
  check_root(args, ranks);
  if (args.shares != nullptr) return check_shares(args, me);
  if (args.collective != plain(args.collective))
    throw InvalidArgument(fmt::format("{} needs the counts of its shares", name_of(args.collective)));
  const std::size_t shares = ranked(args.collective) ? static_cast<std::size_t>(ranks) : 1;
  if (args.count > kMaxCount / size_of(args.dtype) / shares)
    throw InvalidArgument(
        fmt::format("count {} of {} is more bytes than fit in memory", args.count, name_of(args.dtype)));
  const BufferBytes bytes = buffer_bytes(args, me, ranks);
  const std::uintptr_t send = address_of("send", args.send, bytes.input, args.count);
  const std::uintptr_t recv = address_of("recv", args.recv, bytes.output, args.count);
  if (bytes.input == 0 || bytes.output == 0 || send >= recv + bytes.output || recv >= send + bytes.input)
    return InPlace::no;
  const Collective form = plain(args.collective);
  if (form == Collective::all_to_all && send == recv) return InPlace::exchanged;
  if (form != Collective::all_to_all && recv == aligned_output(args, me)) return InPlace::aligned;
  if (form == Collective::reduce_scatter && send == recv) return InPlace::at_start;
  throw InvalidArgument(fmt::format("send {} ({} bytes) and recv {} ({} bytes) overlap; for {} they must be {}",
                                    args.send, bytes.input, args.recv, bytes.output, name_of(args.collective),
                                    rule_of(args.collective)));
}

}  // namespace umbel::runtime
