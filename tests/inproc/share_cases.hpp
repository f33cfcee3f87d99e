// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// One call of any v-form against scalar code, as cases.hpp has it for the others: random lengths, many of them 0,
// places in any order with gaps between them, which must stay as they are.
#pragma once

#include <algorithm>
#include <memory>
#include <numeric>

#include "base/shares.hpp"
#include "runtime/arguments.hpp"
#include "support/cases.hpp"

namespace umbel::test {

using Numbers = std::vector<std::uint64_t>;

/// Elements that `from` gives `to`; of a reduce_scatterv, of rank `to`'s share. Every second case is symmetric, so that
/// an all_to_allv can be in-place.
inline std::uint64_t length_between(const Case& c, Rank from, Rank to) {
  const Collective form = c.collective;
  if (form == Collective::all_gatherv || form == Collective::gatherv) to = 0;
  if (form == Collective::scatterv || form == Collective::reduce_scatterv) from = 0;
  if (form == Collective::all_to_allv && c.salt % 2 == 0 && from > to) std::swap(from, to);
  const std::uint64_t bits =
      scrambled(c.salt * 100003 + static_cast<std::uint64_t>(from) * 331 + static_cast<std::uint64_t>(to) * 7 + 1);
  return bits % 3 == 0 ? 0 : bits / 3 % (c.count + 1);
}

inline Numbers lengths_given(const Case& c, Rank me, int ranks) {
  Numbers counts;
  const bool whole = c.collective == Collective::all_to_allv || plain(c.collective) == Collective::scatter ||
                     plain(c.collective) == Collective::reduce_scatter;
  for (Rank r = 0; r < ranks; ++r) counts.push_back(whole ? length_between(c, me, r) : length_between(c, r, 0));
  return counts;
}

inline Numbers lengths_taken(const Case& c, Rank me, int ranks) {
  if (c.collective != Collective::all_to_allv) return lengths_given(c, me, ranks);
  Numbers counts;
  for (Rank r = 0; r < ranks; ++r) counts.push_back(length_between(c, r, me));
  return counts;
}

/// Places in a random order with gaps; of every third case, packed.
inline Numbers scattered(const Numbers& counts, std::uint64_t salt) {
  if (salt % 3 == 0) return packed(counts);
  std::vector<std::size_t> order(counts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t r) { return scrambled(salt * 31 + r); });
  Numbers first(counts.size());
  std::uint64_t next = 0;
  for (const std::size_t r : order) {
    next += scrambled(salt * 17 + r) % 4;
    first[r] = next;
    next += counts[r];
  }
  return first;
}

inline std::uint64_t total(const Numbers& counts) {
  return std::reduce(counts.begin(), counts.end(), std::uint64_t{0});
}

/// Elements [first, first + count) of what `rank` gives.
inline std::vector<std::byte> given_by(const Case& c, Rank rank, int ranks, std::uint64_t first, std::uint64_t count) {
  const Numbers lengths = lengths_given(c, rank, ranks);
  const bool share = input_part(c.collective, rank == c.root) == Part::share;
  const std::uint64_t all = share ? lengths[static_cast<std::size_t>(rank)] : total(lengths);
  const std::size_t elem = size_of(c.dtype);
  return slice_of(make_input(rank, all, c.dtype, c.op, c.salt), first * elem, count * elem);
}

/// The share of `rank`'s output that belongs to `of`.
inline std::vector<std::byte> share_taken(const Case& c, Rank rank, int ranks, Rank of) {
  const std::uint64_t count = lengths_taken(c, rank, ranks)[static_cast<std::size_t>(of)];
  const auto place_of = [&](Rank giver, Rank taker) {
    return packed(lengths_given(c, giver, ranks))[static_cast<std::size_t>(taker)];
  };
  const std::size_t elem = size_of(c.dtype);
  switch (c.collective) {
    case Collective::reduce_scatterv:
      return slice_of(expected_result(ranks, total(lengths_given(c, 0, ranks)), c.dtype, c.op, c.salt),
                      place_of(0, of) * elem, count * elem);
    case Collective::scatterv:
      return given_by(c, c.root, ranks, place_of(c.root, of), count);
    case Collective::all_to_allv:
      return given_by(c, of, ranks, place_of(of, rank), count);
    default:
      return given_by(c, of, ranks, 0, count);
  }
}

/// One rank's side of a case: what it passes, what lies in its buffers before and after.
struct ShareCase {
  ShareLists lists;
  std::vector<std::byte> before_send, before_recv, after_recv;  // whole buffers, gaps included
  std::size_t own_send = 0, own_recv = 0;                       // bytes: where the own share lies in a whole buffer
};

inline ShareCase make_share_case(const Case& c, Rank me, int ranks) {
  const bool is_root = me == c.root;
  const auto own = static_cast<std::size_t>(me);
  const std::size_t elem = size_of(c.dtype);
  const Part in = input_part(c.collective, is_root), out = output_part(c.collective, is_root);
  const Numbers given = lengths_given(c, me, ranks), taken = lengths_taken(c, me, ranks);
  ShareCase made;
  const std::uint64_t salt = c.salt + (c.collective == Collective::reduce_scatterv ? 0 : own * 5);
  made.lists.input = {given, in == Part::whole && plain(c.collective) != Collective::reduce_scatter
                                 ? scattered(given, salt)
                                 : packed(given)};
  made.lists.output = {taken, out == Part::whole ? scattered(taken, salt + (given == taken ? 0 : 1)) : packed(taken)};
  const auto image = [&](Part part, const ShareLists::List& list, std::byte mark) {
    std::uint64_t end = 0;
    for (std::size_t r = 0; r < list.count.size(); ++r) end = std::max(end, list.first[r] + list.count[r]);
    if (part == Part::share) end = list.count[own];
    return std::vector<std::byte>(part == Part::none ? 0 : end * elem, mark);
  };
  made.before_send = image(in, made.lists.input, std::byte{0xa5});
  made.before_recv = made.after_recv = image(out, made.lists.output, std::byte{0x5a});
  for (Rank r = 0; r < ranks; ++r) {
    const auto at = static_cast<std::size_t>(r);
    const auto put = [&](Part part, const ShareLists::List& list, std::vector<std::byte>& buffer,
                         const std::function<std::vector<std::byte>()>& share) {
      if (part == Part::none || (part == Part::share && r != me)) return;
      const std::vector<std::byte> bytes = share();
      std::ranges::copy(bytes,
                        buffer.begin() + static_cast<std::ptrdiff_t>(part == Part::share ? 0 : list.first[at] * elem));
    };
    put(in, made.lists.input, made.before_send,
        [&] { return given_by(c, me, ranks, in == Part::share ? 0 : packed(given)[at], given[at]); });
    put(out, made.lists.output, made.after_recv, [&] { return share_taken(c, me, ranks, r); });
  }
  made.own_send = made.lists.input.first[own] * elem;
  made.own_recv = made.lists.output.first[own] * elem;
  // What only the root knows.
  if ((plain(c.collective) == Collective::gather || plain(c.collective) == Collective::scatter) && !is_root)
    for (ShareLists::List* list : {&made.lists.input, &made.lists.output})
      for (std::size_t r = 0; r < list->count.size(); ++r)
        if (r != own) list->count[r] = list->first[r] = 0;
  return made;
}

using RunShares = std::function<void(const runtime::CallArgs&)>;

/// Calls and checks. In-place where the case allows it. @throws std::runtime_error
/// @param take  as check_case has it
inline void check_share_case(const Case& c, Rank me, int ranks, Placed placed, std::size_t shift, const RunShares& run,
                             const TakeMemory& take = from_heap) {
  const ShareCase made = make_share_case(c, me, ranks);
  const auto wrong = [&](const std::string& what) {
    return std::runtime_error(fmt::format("rank {} of {}: {}: {} (placed {}, shift {})", me, ranks, what, text_of(c),
                                          static_cast<int>(placed), shift));
  };
  const auto own = static_cast<std::size_t>(me);
  runtime::CallArgs args{.collective = c.collective, .dtype = c.dtype, .op = c.op, .root = c.root};
  args.count = c.collective == Collective::all_to_allv                 ? 0
               : input_part(c.collective, me == c.root) == Part::share ? made.lists.input.count[own]
                                                                       : made.lists.output.count[own];
  args.shares = std::make_shared<const ShareLists>(made.lists);
  const bool exchanged = c.collective == Collective::all_to_allv;
  const bool same =
      made.lists.input.count == made.lists.output.count && made.lists.input.first == made.lists.output.first;
  if (placed == Placed::apart || made.before_send.empty() || made.before_recv.empty() || (exchanged && !same)) {
    Guarded send(made.before_send, 0, shift, take), recv(made.before_recv, 0, shift / 2, take);
    args.send = made.before_send.empty() ? nullptr : send.data();
    args.recv = made.before_recv.empty() ? nullptr : recv.data();
    run(args);
    if (!std::ranges::equal(made.after_recv, std::span(recv.data(), made.after_recv.size())))
      throw wrong("a wrong result, or a gap was written");
    if (!std::ranges::equal(made.before_send, std::span(send.data(), made.before_send.size())))
      throw wrong("the input was written");
    if (!send.intact() || !recv.intact()) throw wrong("wrote outside of the buffers");
    return;
  }
  // One buffer for both: the longer one holds the other.
  const bool share_in = input_part(c.collective, me == c.root) == Part::share;
  const bool share_out = output_part(c.collective, me == c.root) == Part::share;
  const std::size_t in = share_in ? made.own_recv : 0;
  const std::size_t out = share_out && placed != Placed::at_start ? made.own_send : 0;
  std::vector<std::byte> before = share_in ? made.before_recv : made.before_send;
  std::ranges::copy(made.before_send, before.begin() + static_cast<std::ptrdiff_t>(in));
  std::vector<std::byte> after = before;
  const auto& result = made.after_recv;
  if (share_in || share_out) {
    std::ranges::copy(result, after.begin() + static_cast<std::ptrdiff_t>(out));
  } else {  // exchanged: shares alone
    const std::size_t elem = size_of(c.dtype);
    for (std::size_t r = 0; r < made.lists.output.count.size(); ++r)
      std::copy_n(result.begin() + static_cast<std::ptrdiff_t>(made.lists.output.first[r] * elem),
                  made.lists.output.count[r] * elem,
                  after.begin() + static_cast<std::ptrdiff_t>(made.lists.output.first[r] * elem));
  }
  Guarded both(before, 0, shift, take);
  args.send = both.data() + in;
  args.recv = both.data() + out;
  run(args);
  if (!std::ranges::equal(after, std::span(both.data(), after.size())))
    throw wrong("a wrong result, or more was written");
  if (!both.intact()) throw wrong("wrote outside of the buffers");
}

}  // namespace umbel::test
