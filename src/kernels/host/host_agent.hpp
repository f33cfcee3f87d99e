// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/program.hpp"
#include "base/types.hpp"
#include "base/user_op.hpp"
#include "kernels/interpreter.hpp"
#include "kernels/semaphore.hpp"

namespace umbel::kernels {

/// Reads `bytes` of rank `rank`'s `buffer` (input or output), from byte `offset` on, into `into`. Throws on failure.
using PeerReader =
    std::function<void(Rank rank, Buffer buffer, std::uint64_t offset, std::byte* into, std::size_t bytes)>;

/// Where things are for one call, from the point of view of one rank. All spans are the caller's and outlive the agent.
struct HostContext {
  DType dtype = DType::fp32;
  RedOp op = RedOp::sum;
  const UserOp* user = nullptr;  ///< the operator where `op` is RedOp::user
  std::uint32_t divisor = 0;     ///< avg: the number of ranks
  std::uint32_t epoch = 0;
  bool past_cache = false;                  ///< the output is too large for the caches: copies to it leave them alone
  std::span<std::byte* const> input;        ///< by rank; nullptr: not mapped (read through `reader`, or never used)
  std::span<std::byte* const> output;       ///< by rank; nullptr as above
  std::span<std::byte* const> window;       ///< by rank: start of the arena that Binding::region_offset counts from
  std::span<SemaphoreCell* const> own;      ///< by Program::semaphores: the cell to wait on
  std::span<SemaphoreCell* const> targets;  ///< by Program::signals: the cell to store to
  PeerReader reader;                        ///< may be empty when all memory is mapped
};

/// What a memory lane runs on: one host thread. All memory lanes of a rank may share an agent when they share a thread.
/// `step` calls it statically: to add a wake-up after a signal, derive and hide `signal`.
class HostAgent {
 public:
  static constexpr LaneKind kKind = LaneKind::memory;

  /// `mapped` is nullptr where memory must be read through the reader.
  struct Operand {
    std::byte* mapped = nullptr;
    std::uint64_t offset = 0;  ///< bytes into the rank's buffer
    Rank rank = 0;
    Buffer buffer = Buffer::input;
  };

  explicit HostAgent(HostContext context);

  /// Starts another run: the same places, other numbers.
  HostContext& context() noexcept { return context_; }

  bool arrived(std::int32_t sem, std::uint32_t count) const {
    return kernels::arrived(*context_.own[static_cast<std::size_t>(sem)], context_.epoch, count);
  }
  void signal(std::int32_t signal, std::uint32_t count) {
    kernels::signal(*context_.targets[static_cast<std::size_t>(signal)], context_.epoch, count);
  }
  Operand resolve(const Slice& slice, std::uint64_t offset) const;
  Operand* operands() noexcept { return operands_.data(); }

  void copy(const Operand& dst, const Operand& src, std::uint64_t first, std::uint64_t count);
  void reduce(const Operand& dst, const Operand* sources, int source_count, std::uint64_t first, std::uint64_t count,
              bool final);

 private:
  /// Elements [first, first + count) of an operand, wherever they are, as bytes at `into`.
  void fetch(const Operand& src, std::uint64_t first, std::uint64_t count, std::byte* into);
  void reduce_by_user(const Operand& dst, const Operand* sources, int source_count, std::uint64_t first,
                      std::uint64_t count);
  void reduce_through_bounce(const Operand& dst, const Operand* sources, int source_count, int unmapped,
                             std::uint64_t first, std::uint64_t count, std::uint32_t divisor);

  HostContext context_;
  std::array<Operand, kMaxSources> operands_{};
  std::array<const void*, kMaxSources> addresses_{};
  std::vector<std::byte> bounce_;  // allocated at the first use
};

}  // namespace umbel::kernels
