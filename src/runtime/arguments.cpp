// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/arguments.hpp"

#include <limits>
#include <string_view>

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

std::string_view rule_of(Collective collective) {
  switch (plain(collective)) {
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
  const std::uintptr_t at = static_cast<std::uintptr_t>(me) * args.count * size_of(args.dtype);
  const bool is_root = me == args.root;
  const Part input = input_part(args.collective, is_root), output = output_part(args.collective, is_root);
  const auto send = reinterpret_cast<std::uintptr_t>(args.send);
  if (input == output) return send;
  return input == Part::share ? send - at : send + at;
}

}  // namespace

BufferBytes buffer_bytes(const CallArgs& args, Rank me, int ranks) {
  const bool is_root = me == args.root;
  const std::size_t share = args.count * size_of(args.dtype);
  const std::size_t shares = ranked(args.collective) ? static_cast<std::size_t>(ranks) : 1;
  return {.input = bytes_of(input_part(args.collective, is_root), share, shares),
          .output = bytes_of(output_part(args.collective, is_root), share, shares)};
}

InPlace check_arguments(const CallArgs& args, Rank me, int ranks) {
  const std::size_t shares = ranked(args.collective) ? static_cast<std::size_t>(ranks) : 1;
  if (args.count > kMaxCount / size_of(args.dtype) / shares)
    throw InvalidArgument(
        fmt::format("count {} of {} is more bytes than fit in memory", args.count, name_of(args.dtype)));
  if (args.root < 0 || args.root >= ranks)
    throw InvalidArgument(fmt::format("root {} is none of the ranks 0 … {}", args.root, ranks - 1));
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
