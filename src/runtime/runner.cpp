// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/runner.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "algos/algorithm.hpp"
#include "base/error.hpp"
#include "base/hash.hpp"
#include "runtime/registered.hpp"

namespace umbel::runtime {
namespace {

PlannerInputs planner_inputs(const Founded& founded) {
  return {.rank = founded.members.me,
          .shape = founded.members.shape,
          .model = founded.measured.model,
          .layout = founded.layout,
          .direct = founded.direct,
          .chunk_bytes = founded.config.chunk_bytes,
          .piece_bytes = founded.config.piece_bytes,
          .channels = founded.config.channels};
}

/// The algorithm that a call in one step is an instance of.
std::string_view one_step_name(Collective collective) {
  return collective == Collective::all_reduce ? "one_shot" : "direct";
}

/// Of the call, and so of all before it.
std::uint32_t history_with(const net::CallSummary& summary) {
  std::uint64_t hash = kHashOfNothing;
  for (const std::uint64_t word : std::bit_cast<std::array<std::uint64_t, 3>>(summary)) hash = hashed(hash, word);
  return folded32(hash);
}

/// What all ranks must give alike of the lengths of shares.
void summarize_shares(const ShareLists& lists, net::CallSummary& summary) {
  summary.count = 0;
  if (counted_by_pairs(summary.collective)) return;
  std::uint64_t hash = kHashOfNothing;
  for (const std::uint64_t count : lists.output.count) {
    summary.count += count;
    hash = hashed(hash, count);
  }
  summary.counts = folded32(hash);
}

/// A share's elements that a plan is made for.
std::uint64_t planned_count(const CallArgs& args) {
  if (counted_by_pairs(args.collective)) return kPlannedShareBytes / size_of(args.dtype);
  return args.shares != nullptr ? std::ranges::max(args.shares->output.count) : args.count;
}

/// What else must be equal on all ranks: the choice of an algorithm, and the kind of a caller's operator.
std::uint8_t variant_of(const CallArgs& args, std::int32_t forced) {
  const bool scaled = args.custom && args.op != RedOp::user;
  const bool ordered = args.custom && args.op == RedOp::user && !args.custom->user.commutative;
  return static_cast<std::uint8_t>((forced + 1) | (scaled ? kScaledVariant : 0) | (ordered ? kOrderedVariant : 0));
}

}  // namespace

Runner::Runner(Founded& founded, Health& health, Waiter& waiter)
    : founded_(founded),
      health_(health),
      planner_(planner_inputs(founded)),
      executor_(founded.members, health, waiter),
      reproducible_(founded.config.reproducible && founded.members.size() > 2),
      one_step_(founded.members, health, founded.crowded),
      staging_(founded.members.me, founded.members.size(), reproducible_, founded.registered) {
  for (const Collective collective : all_collectives())
    if (plain(collective) == collective)
      one_step_algorithm_[static_cast<std::size_t>(collective)] =
          algorithm_index(collective, one_step_name(collective));
  set_algorithm(founded.config.algorithm);
}

void Runner::set_algorithm(std::string_view name) { forced_ = ForcedAlgorithms(name); }

std::string Runner::refuses(std::string_view algorithm, const CallArgs& args) {
  return planner_.refuses(key_of(staging_.shape_of(args), algorithm_index(args.collective, algorithm)));
}

void Runner::begin(const CallArgs& args, InPlace in_place) {
  const std::int32_t forced = forced_.of(args.collective);
  const std::int32_t one_step = one_step_algorithm_[static_cast<std::size_t>(plain(args.collective))];
  const CallArgs& shape = staging_.shape_of(args);
  // Who asks for an algorithm by its name gets its program, but for the smallest calls, which the program only slows.
  in_one_step_ = (forced < 0 || forced == one_step) && one_step_.serves(shape, forced < 0);
  if (!in_one_step_) plan_for(key_of(shape, forced));
  staging_.begin(args, in_place);
  const CallArgs& running = staging_.running();
  const net::CallSummary previous = call_.summary;
  call_ = {
      .seq = seq_ + 1,
      .input = static_cast<const std::byte*>(running.send),
      .output = static_cast<std::byte*>(running.recv),
      .output_bytes = in_one_step_ ? 0 : buffer_bytes(running, founded_.members.me, founded_.members.size()).output,
      .dtype = running.dtype,
      .op = running.op,
      .user = running.custom ? &running.custom->user : nullptr,
      .in_order = in_order(running),
      .summary = {.count = args.count,
                  .root = rooted(args.collective) ? static_cast<std::int16_t>(args.root) : std::int16_t{-1},
                  .plan = in_one_step_ ? std::uint16_t{0} : plan_.hash,
                  .collective = args.collective,
                  .dtype = args.dtype,
                  .op = args.op,
                  .extra = variant_of(args, forced),
                  .earlier = history_},
      .previous = previous};
  if (running.shares != nullptr) {
    summarize_shares(*running.shares, call_.summary);
    running.shares->bind_to(plan_.binding);
  }
  health_.enter(call_.seq, call_.summary);
  seq_ = call_.seq;
  history_ = history_with(call_.summary);
  phase_ = Phase::bank;
}

Executor::Round Runner::advance() {
  using Round = Executor::Round;
  switch (phase_) {
    case Phase::none:
      return Round::idle;
    case Phase::bank:
      if (!bank_is_free()) return Round::idle;
      start();
      return advance();
    case Phase::counts:
      if (!counts_are_told()) return executor_.progress() ? Round::events : Round::idle;
      start_program();
      return advance();
    case Phase::lines:
      return one_step_.poll() ? finish() : Round::idle;
    case Phase::program: {
      const Round round = executor_.round();
      return round == Round::finished ? finish() : round;
    }
  }
  return Round::idle;
}

/// The bank rule: this call reuses the bank of call seq − kBanks, which every node-mate must have left.
///
/// With kBanks = 2 that is so anyway when the last call was one that nobody finishes before all have begun: then every
/// rank has begun seq − 1 and thus finished seq − 2. Inside one node that knowledge came through semaphores or lines,
/// and with it the order of memory. Over several nodes it may have come through the network, which orders nothing
/// between two ranks of one node: their `done` is looked at, for the order, and is never waited for.
bool Runner::bank_is_free() {
  const Members& members = founded_.members;
  if (seq_ <= kBanks || (synchronized_ + 1 == seq_ && members.shape.nodes() == 1)) return true;
  for (Rank rank : members.shape.peers_of(members.me))
    if (members.at(rank).arena.header().done.load(std::memory_order_acquire) < seq_ - kBanks) return false;
  return true;
}

void Runner::start() {
  if (in_one_step_) {
    phase_ = Phase::lines;
    one_step_.start(call_, args());
    return;
  }
  publish();
  if (args().shares != nullptr && !plan_.built->program.bundles.empty())
    phase_ = Phase::counts;
  else
    start_program();
}

void Runner::start_program() {
  phase_ = Phase::program;
  executor_.start(plan_, call_);
}

/// The lengths of shares in bundles, of which this rank knows its own: node-mates have told theirs when they have come
/// to this call, each in its table of pairs.
bool Runner::counts_are_told() {
  for (const Rank rank : plan_.built->owners) {
    const ControlLine& line = founded_.members.at(rank).arena.line(seq_);
    if (line.seq.load(std::memory_order_acquire) != seq_) return false;
    if (line.summary == call_.summary) continue;
    health_.note_mismatch(rank, line.summary);
    return false;
  }
  find_starts(plan_.built->program.bundles, bundle_starts_, [&](const BundleItem& item) { return told_count(item); });
  plan_.binding.bundles = bundle_starts_.data();
  return true;
}

/// Of a share that goes from or to a root, the root is the other one of its pair.
std::uint64_t Runner::told_count(const BundleItem& item) const {
  const bool with_root = rooted(args().collective) && item.owner != args().root;
  const PairCounts& told = founded_.members.at(item.owner).arena.pairs(seq_)[with_root ? args().root : item.share];
  return item.buffer == Buffer::input ? told.gives : told.takes;
}

/// The control line of a call whose data goes through the program.
void Runner::publish() {
  const Members& members = founded_.members;
  const bool by_pairs = counted_by_pairs(args().collective);
  if (by_pairs)
    for (Rank peer = 0; peer < members.size(); ++peer)
      members.own().pairs(call_.seq)[peer] = pair_counts(args(), members.me, peer);
  ControlLine& line = members.own().line(call_.seq);
  line.summary = call_.summary;
  line.previous = call_.previous;
  const UserBuffers buffers = told_buffers();
  std::memcpy(line.payload, &buffers, sizeof(buffers));
  line.seq.store(call_.seq, std::memory_order_release);
  if (!by_pairs) return;
  if (!plan_.built->program.bundles.empty())
    for (Rank rank : members.shape.peers_of(members.me))
      if (rank != members.me) members.at(rank).ring_bell();  // who waits for these counts
  // Of two ranks that finish at least one sees the other's line: what compare_at_end() builds on.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  health_.review_unexpected();
}

/// Where this rank's buffers are, for node-mates that read them.
UserBuffers Runner::told_buffers() const {
  UserBuffers told{.input = reinterpret_cast<std::uint64_t>(call_.input),
                   .output = reinterpret_cast<std::uint64_t>(call_.output)};
  if (!plan_.built->spec.direct) return told;
  const BufferBytes bytes = buffer_bytes(args(), founded_.members.me, founded_.members.size());
  const auto window_of = [&](const void* buffer, std::size_t length) {
    const auto window = RegisteredMemory::of_process().find(buffer, length);
    return window ? founded_.members.own().header().registered.tell(*window) : 0U;
  };
  told.input_window = window_of(call_.input, bytes.input);
  told.output_window = window_of(call_.output, bytes.output);
  return told;
}

Executor::Round Runner::finish() {
  if (counted_by_pairs(args().collective)) health_.compare_at_end();
  staging_.finish();
  if (!in_one_step_) {
    last_ = {.algorithm = plan_.built->algorithm->name.data(), .predicted_s = plan_.predicted_s};
  } else {
    const std::int32_t algorithm = one_step_algorithm_[static_cast<std::size_t>(plain(args().collective))];
    last_ = {.algorithm = algos::catalog(args().collective)[static_cast<std::size_t>(algorithm)].name.data(),
             .predicted_s = one_step_prediction(algorithm)};
  }
  phase_ = Phase::none;
  founded_.members.own().header().done.store(seq_, std::memory_order_release);
  if (synchronizes(args().collective)) {
    synchronized_ = seq_;
    one_way_ = 0;
    // What node-mates did before they began is in order before what this rank does next, also where it heard of them
    // through the network alone.
    if (founded_.members.shape.nodes() > 1)
      for (Rank rank : founded_.members.shape.peers_of(founded_.members.me))
        (void)founded_.members.at(rank).arena.line(seq_).seq.load(std::memory_order_acquire);
  } else {
    ++one_way_;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    for (Rank rank : founded_.members.shape.peers_of(founded_.members.me))
      founded_.members.at(rank).ring_bell_fenced(founded_.members.me);  // who waits for this rank's bank
  }
  return Executor::Round::finished;
}

/// Whether only the canonical order of folds will do. Of two ranks' values there is one fold only.
bool Runner::in_order(const CallArgs& args) const {
  if (!reduces(args.collective) || founded_.members.size() <= 2) return false;
  const bool commutes = args.op != RedOp::user || args.custom->user.commutative;
  return !commutes || (reproducible_ && arithmetic_of(args.dtype, args.op) != Arithmetic::exact);
}

PlanKey Runner::key_of(const CallArgs& args, std::int32_t algorithm) const {
  return {.collective = args.collective,
          .count = planned_count(args),
          .elem_bytes = static_cast<std::uint32_t>(size_of(args.dtype)),
          .in_order = in_order(args),
          .root = rooted(args.collective) ? args.root : 0,
          .algorithm = algorithm};
}

void Runner::plan_for(const PlanKey& key) {
  if (planned_ && key == plan_key_) return;
  planned_ = false;
  try {
    plan_ = planner_.plan(key);
  } catch (const Unsupported& error) {
    if (key.algorithm < 0) throw;
    const auto& forced = algos::catalog(key.collective)[static_cast<std::size_t>(key.algorithm)];
    throw Unsupported(fmt::format("algorithm {}: {}", forced.name, error.what()));
  }
  plan_key_ = key;
  planned_ = true;
}

double Runner::one_step_prediction(std::int32_t algorithm) {
  const OneStepKey key{args().collective, args().count * size_of(args().dtype)};
  if (key == last_predicted_.first) return last_predicted_.second;
  const auto [known, fresh] = predicted_.try_emplace(key, 0.0);
  if (fresh)
    known->second =
        algos::catalog(key.first)[static_cast<std::size_t>(algorithm)].cost({.shape = founded_.members.shape,
                                                                             .spec = {},
                                                                             .model = founded_.measured.model,
                                                                             .bytes = key.second,
                                                                             .cut = {}});
  last_predicted_ = *known;
  return known->second;
}

}  // namespace umbel::runtime
