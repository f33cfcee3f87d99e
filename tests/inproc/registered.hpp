// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Calls whose buffers are registered memory, or some of them.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "algos/algorithm.hpp"
#include "inproc/share_cases.hpp"
#include "runtime/communicator.hpp"
#include "runtime/forced.hpp"
#include "runtime/planner.hpp"
#include "runtime/registered.hpp"
#include "support/cases.hpp"

namespace umbel::test {

inline std::shared_ptr<std::byte[]> registered_memory(std::size_t bytes) {
  return {static_cast<std::byte*>(runtime::RegisteredMemory::of_process().allocate(bytes)),
          [](std::byte* taken) { runtime::RegisteredMemory::of_process().release(taken); }};
}

/// By bits of `which`, a rank's buffers one after another: 1 is registered.
inline TakeMemory registered_by(std::uint64_t which) {
  return [which](std::size_t bytes) mutable {
    const bool registered = (which & 1U) != 0;
    which >>= 1U;
    return registered ? registered_memory(bytes) : from_heap(bytes);
  };
}

/// Whether such a call by `algorithm` is planned to read user buffers where they are. Of test_options' windows.
inline bool planned_direct(const runtime::Communicator& comm, const Case& c, std::string_view algorithm) {
  if (!comm.direct()) return false;
  runtime::Planner planner({.rank = comm.info().rank,
                            .shape = comm.shape(),
                            .model = comm.model(),
                            .layout = runtime::ArenaLayout::of(2U << 20U, static_cast<std::size_t>(comm.info().ranks)),
                            .direct = true});
  const runtime::PlanKey key{.collective = c.collective,
                             .count = c.count,
                             .elem_bytes = static_cast<std::uint32_t>(size_of(c.dtype)),
                             .root = c.root,
                             .algorithm = runtime::algorithm_index(c.collective, algorithm)};
  return planner.plan(key).built->spec.direct;
}

/// Every collective, v-forms too, by every algorithm, in- and out-of-place; roots, lengths and types by turns. Every
/// rank has a mix of its own of registered and other buffers.
/// @param all_registered  no mix
/// @param every           of the cases that there are only each so many-th is run
/// @return  of the calls that are no v-forms, how many were planned to read user buffers where they are
inline int check_every_algorithm(runtime::Communicator& comm, std::uint64_t every = 1, bool all_registered = false) {
  const Rank me = comm.info().rank;
  const int p = comm.info().ranks;
  std::uint64_t salt = 0;
  int direct = 0;
  for (const Collective collective : all_collectives()) {
    for (const algos::Algorithm& algorithm : algos::catalog(collective)) {
      if (!comm.refuses(algorithm.name, {.collective = collective, .count = 1}).empty()) continue;
      comm.set_algorithm(fmt::format("{}:{}", name_of(collective), algorithm.name));
      for (const std::size_t length : {0U, 700U, 30'001U}) {
        if (++salt % every != 0) continue;
        const DType dtype = salt % 2 == 0 ? DType::fp32 : DType::int16;
        const Case c{collective,
                     collective == Collective::barrier ? 0 : length,
                     dtype,
                     RedOp::sum,
                     rooted(collective) ? static_cast<Rank>(salt % static_cast<unsigned>(p)) : 0,
                     salt};
        if (!comm.refuses(algorithm.name,
                          {.collective = c.collective, .count = c.count, .dtype = dtype, .root = c.root})
                 .empty())
          continue;  // some serve short messages only
        const std::uint64_t bits = scrambled(salt * 64 + static_cast<std::uint64_t>(me));
        const bool to_start = plain(collective) == Collective::reduce_scatter && bits % 3 == 1;
        const Placed placed = bits % 3 == 0 ? Placed::apart : to_start ? Placed::at_start : Placed::in_place;
        const TakeMemory take = all_registered ? TakeMemory(registered_memory) : registered_by(bits / 64);
        if (plain(collective) == collective) {
          direct += planned_direct(comm, c, algorithm.name) ? 1 : 0;
          check_case(
              c, me, p, placed, bits / 3 % 17,
              [&](const Case& one, const void* send, void* recv) {
                comm.run({.collective = one.collective,
                          .send = send,
                          .recv = recv,
                          .count = one.count,
                          .dtype = one.dtype,
                          .op = one.op,
                          .root = one.root});
              },
              take);
        } else {
          check_share_case(
              c, me, p, placed, bits / 3 % 17, [&](const runtime::CallArgs& args) { comm.run(args); }, take);
        }
        if (comm.last_call().algorithm != algorithm.name)
          throw std::runtime_error(fmt::format("asked for {}, ran {}", algorithm.name, comm.last_call().algorithm));
      }
    }
  }
  comm.set_algorithm("auto");
  return direct;
}

}  // namespace umbel::test
