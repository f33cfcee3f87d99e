// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/one_step.hpp"

#include <atomic>
#include <cstring>
#include <exception>

#include "kernels/host/copy.hpp"
#include "kernels/host/reduce.hpp"
#include "kernels/host/user_fold.hpp"

namespace umbel::runtime {
namespace {

constexpr int kMaxRanks = 64;
constexpr std::size_t kMostShown = 16U << 10U;  ///< bytes of a rank; beyond, programs share the work
constexpr std::size_t kMostRead = 64U << 10U;   ///< shown by all ranks together
constexpr int kQuickLooks = 100;                ///< at a node-mate's line before anything else is looked after

bool comes_from_root(Collective collective) {
  return collective == Collective::broadcast || collective == Collective::scatter;
}

bool goes_to_root(Collective collective) {
  return collective == Collective::reduce || collective == Collective::gather;
}

/// What a rank shows at the most, whatever its place.
std::size_t most_shown(const CallArgs& args, std::size_t ranks) {
  const bool share = input_part(args.collective, true) == Part::share || !ranked(args.collective);
  return args.count * size_of(args.dtype) * (share ? 1 : ranks);
}

}  // namespace

OneStepCalls::OneStepCalls(Members& members, Health& health, bool crowded)
    : members_(members),
      health_(health),
      crowded_(crowded),
      allowed_(members.shape.nodes() == 1 && members.size() > 1 && members.size() <= kMaxRanks),
      sources_(members.all.size()) {}

bool OneStepCalls::serves(const CallArgs& args, bool by_slots) const {
  if (!allowed_ || args.collective != plain(args.collective) || args.count > kMostShown) return false;
  const std::size_t ranks = members_.all.size(), shown = most_shown(args, ranks);
  return shown <= (by_slots ? kMostShown : kInlineBytes) && shown * ranks <= kMostRead;
}

void OneStepCalls::start(const Call& call, const CallArgs& args) {
  call_ = &call;
  args_ = &args;
  in_line_ = most_shown(args, members_.all.size()) <= kInlineBytes;
  const bool is_root = members_.me == args.root;
  const bool from_root = comes_from_root(args.collective), to_root = goes_to_root(args.collective);
  next_ = from_root ? args.root : 0;
  end_ = from_root ? args.root + 1 : to_root && !is_root ? 0 : members_.size();
  publish(buffer_bytes(args, members_.me, members_.size()).input);
}

bool OneStepCalls::poll() {
  for (; next_ < end_; ++next_)
    if (!met(next_)) return false;
  try {
    finish();
  } catch (const std::exception& error) {  // a caller's operator
    health_.fail_after(error, [this] { return health_.loss(); });
  }
  return true;
}

/// What a rank has to give: this rank's own where it is, which in-place is where it belongs.
const std::byte* OneStepCalls::given_by(Rank rank) const { return rank == members_.me ? call_->input : shown_by(rank); }

const std::byte* OneStepCalls::shown_by(Rank rank) const {
  const Arena& arena = members_.at(rank).arena;
  return in_line_ ? arena.line(call_->seq).payload : arena.slots(static_cast<int>(call_->seq % kBanks));
}

void OneStepCalls::finish() {
  const CallArgs& args = *args_;
  const Rank me = members_.me;
  if (output_part(args.collective, me == args.root) == Part::none || args.count == 0) return;
  const std::size_t share = args.count * size_of(args.dtype);
  const std::size_t own = static_cast<std::size_t>(me) * share;
  std::byte* const output = call_->output;
  switch (args.collective) {
    case Collective::broadcast:
      kernels::copy(output, given_by(args.root), share);
      break;
    case Collective::scatter:
      kernels::copy(output, given_by(args.root) + own, share);
      break;
    case Collective::all_gather:
    case Collective::gather:
      for (Rank rank = 0; rank < members_.size(); ++rank)
        kernels::copy(output + static_cast<std::size_t>(rank) * share, given_by(rank), share);
      break;
    case Collective::all_to_all:
      for (Rank rank = 0; rank < members_.size(); ++rank)
        kernels::copy(output + static_cast<std::size_t>(rank) * share, shown_by(rank) + own, share);
      break;
    default:  // the reductions
      for (Rank rank = 0; rank < members_.size(); ++rank)
        sources_[static_cast<std::size_t>(rank)] =
            shown_by(rank) + (args.collective == Collective::reduce_scatter ? own : std::size_t{0});
      fold(args.count);
      break;
  }
}

void OneStepCalls::publish(std::size_t bytes) {
  const Arena& arena = members_.own();
  ControlLine& own = arena.line(call_->seq);
  own.summary = call_->summary;
  own.previous = call_->previous;
  std::byte* const into = in_line_ ? own.payload : arena.slots(static_cast<int>(call_->seq % kBanks));
  if (bytes != 0) kernels::copy(into, call_->input, bytes);
  own.seq.store(call_->seq, std::memory_order_release);
  ring_who_waits_for_this();
}

/// Who waits for all ranks is rung by the last of them alone: woken before, it would only find that it must sleep on.
/// Of several that come at the same time one at least sees, after its fence, the lines of all; a rank that slept by
/// then had announced it before it missed one of these.
void OneStepCalls::ring_who_waits_for_this() const {
  const bool from_root = comes_from_root(args_->collective), to_root = goes_to_root(args_->collective);
  if (from_root && members_.me != args_->root) return;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!from_root)
    for (const Member& member : members_.all)
      if (member.arena.line(call_->seq).seq.load(std::memory_order_relaxed) != call_->seq) return;
  if (to_root) return members_.at(args_->root).ring_bell_fenced();
  for (const Member& member : members_.all) member.ring_bell_fenced();
}

/// Is the rank's line of this call there?
bool OneStepCalls::met(Rank rank) {
  const ControlLine& line = members_.at(rank).arena.line(call_->seq);
  for (int looks = crowded_ ? kQuickLooks : 0; line.seq.load(std::memory_order_acquire) != call_->seq; ++looks)
    if (looks >= kQuickLooks) return false;
  if (line.summary == call_->summary) return true;
  health_.note_mismatch(rank, line.summary);
  health_.mismatch();
}

void OneStepCalls::fold(std::size_t count) {
  if (call_->in_order) return fold_as_tree(count);
  combine(call_->output, sources_.data(), static_cast<int>(sources_.size()), count, true);
}

/// The canonical tree over the ranks: lower ones on the left, left parts powers of two.
void OneStepCalls::fold_as_tree(std::size_t count) {
  const std::size_t ranks = sources_.size();
  const std::size_t bytes = count * size_of(call_->dtype);
  if (partials_.size() < ranks * bytes) partials_.resize(ranks * bytes);
  for (std::size_t step = 1; step < ranks; step *= 2) {
    const bool last = 2 * step >= ranks;
    for (std::size_t left = 0; left + step < ranks; left += 2 * step) {
      const void* pair[] = {sources_[left], sources_[left + step]};
      std::byte* into = last ? call_->output : partials_.data() + left * bytes;
      combine(into, pair, 2, count, last);
      sources_[left] = into;
    }
  }
}

void OneStepCalls::combine(std::byte* into, const void* const* sources, int source_count, std::size_t count,
                           bool last) {
  if (call_->op != RedOp::user) {
    kernels::reduce(call_->dtype, call_->op, into, sources, source_count, count,
                    last ? static_cast<std::uint32_t>(sources_.size()) : 0);
    return;
  }
  user_scratch_.resize(2 * kMostShown);
  const std::size_t size = size_of(call_->dtype);
  kernels::fold_by_user(*call_->user, call_->dtype, into, source_count, count, user_scratch_,
                        [&](int k, std::size_t first, std::size_t some, std::byte* to) {
                          std::memcpy(to, static_cast<const std::byte*>(sources[k]) + first * size, some * size);
                        });
}

}  // namespace umbel::runtime
