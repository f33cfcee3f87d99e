// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/agents.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "runtime/topology.hpp"

namespace umbel::runtime {
namespace {

/// Of the lengths of a bundle's shares. Never 0: that says that a message is no bundle's.
std::uint32_t hash_of_lengths(const Binding& binding, const Slice& bundle) {
  std::uint64_t hash = kHashOfNothing;
  for (std::int32_t item = 1; item <= bundle.items; ++item) hash = hashed(hash, bundle_start(binding, bundle, item));
  return folded32(hash) | 1U;
}

/// Half of a rank's part of the node's last caches: the other half is for what is read meanwhile.
std::size_t cached_output_bytes(const Members& members) {
  const HostTopology& host = host_topology();
  const std::size_t all =
      host.l3_bytes * static_cast<std::size_t>(std::max(1, host.cores / std::max(1, host.l3_sharers)));
  constexpr std::size_t kUnknown = std::size_t{16} << 20U;
  return (all == 0 ? kUnknown : all) / members.shape.peers_of(members.me).size() / 2;
}

}  // namespace

MemoryAgent::MemoryAgent(kernels::HostContext context, Members& members, Health& health)
    : HostAgent(std::move(context)),
      inputs(members.all.size()),
      outputs(members.all.size()),
      buffers(members.all.size()),
      cached_bytes_(cached_output_bytes(members)),
      members_(members),
      health_(health),
      met_(members.all.size()) {
  this->context().input = inputs;
  this->context().output = outputs;
}

void MemoryAgent::start(const Loaded& loaded, const Call& call) {
  const auto me = static_cast<std::size_t>(members_.me);
  const auto bank = static_cast<std::size_t>(call.seq % kBanks);
  seq_ = call.seq;
  summary_ = call.summary;
  semaphores_ = loaded.program->semaphores.data();
  listeners_ = loaded.listeners.data();
  met_[me] = seq_;
  inputs[me] = const_cast<std::byte*>(call.input);  // programs never write an input: the checker has proved it
  outputs[me] = call.output;
  kernels::HostContext& context = this->context();
  context.dtype = call.dtype;
  context.op = call.op;
  context.user = call.user;
  context.past_cache = call.output_bytes >= cached_bytes_;
  context.divisor = static_cast<std::uint32_t>(members_.size());
  context.epoch = static_cast<std::uint32_t>(call.seq / kBanks + 1);
  context.own = loaded.own[bank];
  context.targets = loaded.targets[bank];
}

bool MemoryAgent::meet(Rank rank) {
  const auto at = static_cast<std::size_t>(rank);
  const Member& member = members_.all[at];
  const ControlLine& line = member.arena.line(seq_);
  // A signal in a cell of this program by a rank that is not in this call comes from another program: not for us.
  if (line.seq.load(std::memory_order_acquire) != seq_) return false;
  if (line.summary != summary_) {
    health_.note_mismatch(rank, line.summary);
    return false;
  }
  std::memcpy(&buffers[at], line.payload, sizeof(UserBuffers));
  place_buffers(rank);
  met_[at] = seq_;
  return true;
}

/// Where a node-mate's buffers are in this process, as far as they are.
void MemoryAgent::place_buffers(Rank rank) {
  const auto at = static_cast<std::size_t>(rank);
  const UserBuffers& told = buffers[at];
  const Member& member = members_.all[at];
  const auto place = [&](std::uint64_t address, std::uint32_t window) {
    if (member.same_process) return reinterpret_cast<std::byte*>(address);
    if (window == 0) return static_cast<std::byte*>(nullptr);
    return members_.mapped.in_window(rank, member.arena.header().registered, window, address);
  };
  inputs[at] = place(told.input, told.input_window);
  outputs[at] = place(told.output, told.output_window);
}

void NetAgent::start(Loaded& loaded, const Call& call, const Binding& binding) {
  loaded_ = &loaded;
  call_ = &call;
  binding_ = &binding;
  head_ = tail_ = 0;
}

net::MessageKey NetAgent::next_key(const Instr& instr, Rank source) {
  const auto at = static_cast<std::size_t>(&instr - loaded_->program->instrs.data());
  return {.source = source,
          .sequence = call_->seq,
          .channel = instr.channel,
          .index = loaded_->posted[loaded_->stream_of[at]]++};
}

/// What goes with a message from or to `peer`. Of calls that are counted by pairs also how much these two have for each
/// other, as this rank has it: the pair's count, where a share goes straight to who takes it, or the counts of a
/// bundle.
net::CallSummary NetAgent::summary_with(Rank peer, const Slice& slice, std::uint64_t PairCounts::*count) const {
  net::CallSummary summary = call_->summary;
  if (!counted_by_pairs(summary.collective)) return summary;
  if (slice.bundle >= 0) {
    summary.count = bundle_run(*binding_, slice).count;
    summary.counts = hash_of_lengths(*binding_, slice);
  } else {
    summary.count = members_.own().pairs(call_->seq)[peer].*count;
  }
  return summary;
}

bool NetAgent::send(const Instr& instr, const Operand& src, std::uint64_t bytes) {
  if (full()) return false;
  const net::CallSummary summary = summary_with(instr.peer, loaded_->program->slices[instr.src], &PairCounts::gives);
  const net::RequestId request =
      members_.transport->post_send(instr.peer, next_key(instr, members_.me), summary, src.mapped, bytes);
  transfers_[tail_++ % kInFlight] = {request, &instr};
  return true;
}

bool NetAgent::recv(const Instr& instr, const Operand& dst, std::uint64_t bytes) {
  if (full()) return false;
  const net::CallSummary summary = summary_with(instr.peer, loaded_->program->slices[instr.dst], &PairCounts::takes);
  const net::RequestId request = members_.transport->post_recv(next_key(instr, instr.peer), summary, dst.mapped, bytes);
  transfers_[tail_++ % kInFlight] = {request, &instr};
  return true;
}

bool NetAgent::poll(const kernels::ProgramView& view) {
  bool moved = false;
  while (head_ != tail_) {
    const Transfer transfer = transfers_[head_ % kInFlight];
    const net::RequestState state = members_.transport->test(transfer.request);
    if (state == net::RequestState::pending) return moved;
    ++head_;
    switch (state) {
      case net::RequestState::pending:
      case net::RequestState::done:
        break;
      case net::RequestState::mismatch:
        mismatch();
      case net::RequestState::failed:
        health_.fail(FailureKind::peer, fmt::format("{} is lost to {}: {}", members_.name(transfer.instr->peer),
                                                    members_.name(members_.me), members_.transport->last_failure()));
    }
    kernels::complete_transfer(view, *transfer.instr, *this);
    moved = true;
  }
  return moved;
}

void NetAgent::mismatch() {
  const net::Mismatch found = members_.transport->last_mismatch().value();
  if (found.only_length())
    health_.fail(FailureKind::system, fmt::format("a defect of Umbel: message of {} bytes where {} were expected ({})",
                                                  found.found_bytes, found.expected_bytes, net::to_text(found)));
  if (net::same_call(found.found, found.expected) && found.found.counts != 0)
    health_.fail_bundle(found.key.source, {.gives = found.found.count, .takes = found.expected.count});
  if (net::same_call(found.found, found.expected))
    health_.fail_pair(found.key.source, members_.me, {.gives = found.found.count, .takes = found.expected.count});
  health_.note_mismatch(found.key.source, found.found);
  health_.mismatch();
}

void NetAgent::abandon() noexcept {
  for (; head_ != tail_; ++head_) members_.transport->abandon(transfers_[head_ % kInFlight].request);
}

}  // namespace umbel::runtime
