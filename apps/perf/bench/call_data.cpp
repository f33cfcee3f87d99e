// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "call_data.hpp"

#include <algorithm>
#include <cstring>

namespace umbel::bench {

CallData::CallData(const Traits& traits, const Capacity& capacity, int rank, int ranks, bool registered)
    : traits_(traits), rank_(rank), ranks_(ranks), send_(capacity.send, registered), recv_(capacity.recv, registered) {}

Call CallData::prepare(const Case& c, Placement placement, std::uint64_t iteration) {
  const Extent extent{.count = c.count, .root = c.root, .rank = rank_, .ranks = ranks_};
  const Buffers buffers = buffers_of(traits_, extent, placement == Placement::in_place);
  const std::size_t send_bytes = buffers.send * c.type.size;
  const std::size_t recv_bytes = buffers.recv * c.type.size;
  // in-place, the larger buffer holds both
  const bool in_recv = buffers.joined && buffers.recv >= buffers.send;
  const bool in_send = buffers.joined && !in_recv;
  send_.guard(in_recv ? 0 : send_bytes);
  recv_.guard(in_send ? 0 : recv_bytes);
  std::byte* send = static_cast<std::byte*>((in_recv ? recv_ : send_).data()) + buffers.send_at * c.type.size;
  std::byte* recv = static_cast<std::byte*>((in_send ? send_ : recv_).data()) + buffers.recv_at * c.type.size;

  constexpr std::size_t kPoisoned = 4096;  // results of a former call must not pass for those of this one
  constexpr int kPoison = 0xA5;
  std::memset(recv, kPoison, std::min(recv_bytes, kPoisoned));
  c.pattern.fill(send, buffers.send, iteration);
  if (traits_.uneven) shares_ = shares_of(extent);
  return {.send = send_part(traits_, extent) == Part::none ? nullptr : send,
          .recv = recv_part(traits_, extent) == Part::none ? nullptr : recv,
          .extent = extent,
          .type = &c.type,
          .op = &c.op,
          .shares = &shares_};
}

std::uint64_t CallData::count_wrong(const Case& c, Placement placement, const Call& call,
                                    std::uint64_t iteration) const {
  std::uint64_t wrong = wrong_inputs(c, placement, call, iteration) + send_.broken_canaries() + recv_.broken_canaries();
  for (const Origin& origin : origins_of(traits_, call.extent)) {
    const auto* data = static_cast<const std::byte*>(call.recv) + origin.at * c.type.size;
    wrong += origin.rank == kReduction
                 ? c.pattern.wrong_results(data, origin.count, iteration, origin.from)
                 : c.pattern.wrong_copies(origin.rank, data, origin.count, iteration, origin.from);
  }
  return wrong;
}

/// The input must be as it was, but for what the result took the place of.
std::uint64_t CallData::wrong_inputs(const Case& c, Placement placement, const Call& call,
                                     std::uint64_t iteration) const {
  const Buffers buffers = buffers_of(traits_, call.extent, placement == Placement::in_place);
  const auto* send = static_cast<const std::byte*>(call.send);
  if (!buffers.joined) return c.pattern.wrong_inputs(send, buffers.send, iteration);
  if (buffers.recv >= buffers.send) return 0;
  const std::size_t after = buffers.recv_at + buffers.recv;
  return c.pattern.wrong_inputs(send, buffers.recv_at, iteration) +
         c.pattern.wrong_inputs(send + after * c.type.size, buffers.send - after, iteration, after);
}

}  // namespace umbel::bench
