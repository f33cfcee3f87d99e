// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// What the lanes of a rank run on: the kernels' host agent, with a look at who is signalling and a bell after each
// signal; and the net lanes over UCX.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/host/host_agent.hpp"
#include "kernels/interpreter.hpp"
#include "runtime/health.hpp"
#include "runtime/members.hpp"
#include "runtime/waiter.hpp"

namespace umbel::runtime {

/// One call, as the executor needs it.
struct Call {
  std::uint64_t seq = 0;
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  std::size_t output_bytes = 0;
  DType dtype = DType::fp32;
  RedOp op = RedOp::sum;
  const UserOp* user = nullptr;  ///< of RedOp::user
  bool in_order = false;         ///< folds must be in the canonical order
  net::CallSummary summary{};
  net::CallSummary previous{};  ///< of the call before
};

/// A program with everything that a run of it touches, so that a run allocates nothing.
struct Loaded {
  const Program* program = nullptr;
  std::vector<std::uint32_t> consumed;
  std::vector<std::uint32_t> signalled;
  std::vector<kernels::LaneState> lanes;
  std::array<std::vector<kernels::SemaphoreCell*>, kBanks> own;      ///< by semaphore
  std::array<std::vector<kernels::SemaphoreCell*>, kBanks> targets;  ///< by signal
  std::vector<const Member*> listeners;                              ///< by signal; nullptr: this rank itself
  std::vector<std::uint32_t> stream_of;                              ///< by instruction: which message stream
  std::vector<std::uint32_t> posted;                                 ///< by stream: messages posted in this run
  std::vector<std::uint32_t> net_agent_of;                           ///< by lane
  std::uint32_t net_lanes = 0;
};

/// Memory lanes. The first signal of each node-mate shows its control line: is it in the same call, and where are its
/// user buffers?
class MemoryAgent : public kernels::HostAgent {
 public:
  MemoryAgent(kernels::HostContext context, Members& members, Health& health);

  void start(const Loaded& loaded, const Call& call);

  bool arrived(std::int32_t sem, std::uint32_t count) {
    if (!HostAgent::arrived(sem, count)) return false;
    const Rank signaller = semaphores_[sem].signaller;
    return met_[static_cast<std::size_t>(signaller)] == seq_ || meet(signaller);
  }
  void signal(std::int32_t signal, std::uint32_t count) {
    HostAgent::signal(signal, count);
    const Member* listener = listeners_[signal];
    if (listener != nullptr) listener->ring_bell(members_.me);
  }

  std::vector<std::byte*> inputs;  ///< by rank; nullptr: not mapped here
  std::vector<std::byte*> outputs;
  std::vector<UserBuffers> buffers;  ///< by rank, as published for this call

 private:
  bool meet(Rank rank);
  void place_buffers(Rank rank);

  std::size_t cached_bytes_;  ///< of the largest output that stays in the caches

  Members& members_;
  Health& health_;
  const Semaphore* semaphores_ = nullptr;
  const Member* const* listeners_ = nullptr;
  std::uint64_t seq_ = 0;
  net::CallSummary summary_;
  std::vector<std::uint64_t> met_;  ///< by rank: the last operation in which its line was seen
};

/// A net lane.
class NetAgent {
 public:
  static constexpr LaneKind kKind = LaneKind::net;
  using Operand = kernels::HostAgent::Operand;

  NetAgent(Members& members, Health& health, MemoryAgent& memory)
      : members_(members), health_(health), memory_(memory) {}

  /// @param binding  stays where it is for as long as the call runs
  void start(Loaded& loaded, const Call& call, const Binding& binding);
  /// Completes what has arrived or left, in order. True if anything did.
  bool poll(const kernels::ProgramView& view);
  /// Gives up what is under way, after a failure.
  void abandon() noexcept;

  bool arrived(std::int32_t sem, std::uint32_t count) { return memory_.arrived(sem, count); }
  void signal(std::int32_t signal, std::uint32_t count) { memory_.signal(signal, count); }
  Operand resolve(const Slice& slice, std::uint64_t offset) const { return memory_.resolve(slice, offset); }
  bool send(const Instr& instr, const Operand& src, std::uint64_t bytes);
  bool recv(const Instr& instr, const Operand& dst, std::uint64_t bytes);
  bool drained() const { return head_ == tail_; }

 private:
  struct Transfer {
    net::RequestId request = net::RequestId::none;
    const Instr* instr = nullptr;
  };
  static constexpr std::uint32_t kInFlight = 64;  // a power of two

  bool full() const { return tail_ - head_ == kInFlight; }
  net::CallSummary summary_with(Rank peer, const Slice& slice, std::uint64_t PairCounts::*count) const;
  net::MessageKey next_key(const Instr& instr, Rank source);
  [[noreturn]] void mismatch();

  Members& members_;
  Health& health_;
  MemoryAgent& memory_;
  Loaded* loaded_ = nullptr;
  const Call* call_ = nullptr;
  const Binding* binding_ = nullptr;
  std::array<Transfer, kInFlight> transfers_{};
  std::uint32_t head_ = 0;
  std::uint32_t tail_ = 0;
};

}  // namespace umbel::runtime
