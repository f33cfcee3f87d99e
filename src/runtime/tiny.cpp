// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/tiny.hpp"

#include <array>
#include <cstring>
#include <exception>

#include "kernels/host/reduce.hpp"
#include "kernels/host/user_fold.hpp"

namespace umbel::runtime {
namespace {

constexpr int kMaxRanks = 64;
constexpr int kQuickLooks = 100;  ///< at a node-mate's line before anything else is looked after

}  // namespace

TinyCalls::TinyCalls(Members& members, Health& health, bool crowded)
    : members_(members),
      health_(health),
      crowded_(crowded),
      allowed_(members.shape.nodes() == 1 && members.size() > 1 && members.size() <= kMaxRanks),
      sources_(members.all.size()) {}

bool TinyCalls::serves(const CallArgs& args) const {
  if (!allowed_ || args.collective != plain(args.collective)) return false;
  // What any rank may have to give, whatever its place.
  const bool share = input_part(args.collective, true) == Part::share || !ranked(args.collective);
  const std::size_t shares = share ? 1 : members_.all.size();
  return args.count <= kInlineBytes / size_of(args.dtype) / shares;
}

void TinyCalls::start(const Call& call, const CallArgs& args) {
  call_ = &call;
  args_ = &args;
  const bool is_root = members_.me == args.root;
  const bool from_root = args.collective == Collective::broadcast || args.collective == Collective::scatter;
  const bool to_root = args.collective == Collective::reduce || args.collective == Collective::gather;
  next_ = from_root ? args.root : 0;
  end_ = from_root ? args.root + 1 : to_root && !is_root ? 0 : members_.size();
  publish(call, buffer_bytes(args, members_.me, members_.size()).input);
}

bool TinyCalls::poll() {
  for (; next_ < end_; ++next_)
    if (!met(next_)) return false;
  try {
    finish();
  } catch (const std::exception& error) {  // a caller's operator
    health_.fail_after(error, [this] { return health_.loss(); });
  }
  return true;
}

void TinyCalls::finish() {
  const CallArgs& args = *args_;
  const Call& call = *call_;
  const Rank me = members_.me;
  if (output_part(args.collective, me == args.root) == Part::none || args.count == 0) return;
  const std::size_t share = args.count * size_of(args.dtype);
  const auto at = [&](Rank rank) { return members_.at(rank).arena.line(call.seq).payload; };
  const std::size_t own = static_cast<std::size_t>(me) * share;
  switch (args.collective) {
    case Collective::broadcast:
      std::memcpy(call.output, at(args.root), share);
      break;
    case Collective::scatter:
      std::memcpy(call.output, at(args.root) + own, share);
      break;
    case Collective::all_gather:
    case Collective::gather:
      for (Rank rank = 0; rank < members_.size(); ++rank)
        std::memcpy(call.output + static_cast<std::size_t>(rank) * share, at(rank), share);
      break;
    case Collective::all_to_all:
      for (Rank rank = 0; rank < members_.size(); ++rank)
        std::memcpy(call.output + static_cast<std::size_t>(rank) * share, at(rank) + own, share);
      break;
    default:  // the reductions
      for (Rank rank = 0; rank < members_.size(); ++rank)
        sources_[static_cast<std::size_t>(rank)] =
            at(rank) + (args.collective == Collective::reduce_scatter ? own : std::size_t{0});
      fold(args.count);
      break;
  }
}

void TinyCalls::publish(const Call& call, std::size_t bytes) {
  ControlLine& own = members_.own().line(call.seq);
  own.summary = call.summary;
  own.previous = call.previous;
  if (bytes != 0) std::memcpy(own.payload, call.input, bytes);
  own.seq.store(call.seq, std::memory_order_release);
  for (const Member& member : members_.all) member.ring_bell();
}

/// Is the rank's line of this call there?
bool TinyCalls::met(Rank rank) {
  const ControlLine& line = members_.at(rank).arena.line(call_->seq);
  for (int looks = crowded_ ? kQuickLooks : 0; line.seq.load(std::memory_order_acquire) != call_->seq; ++looks)
    if (looks >= kQuickLooks) return false;
  if (line.summary == call_->summary) return true;
  health_.note_mismatch(rank, line.summary);
  health_.mismatch();
}

void TinyCalls::fold(std::size_t count) {
  if (call_->in_order) return fold_as_tree(count);
  combine(call_->output, sources_.data(), static_cast<int>(sources_.size()), count, true);
}

/// The canonical tree over the ranks: lower ones on the left, left parts powers of two.
void TinyCalls::fold_as_tree(std::size_t count) {
  const std::size_t ranks = sources_.size();
  partials_.resize(ranks * kInlineBytes);
  for (std::size_t step = 1; step < ranks; step *= 2) {
    const bool last = 2 * step >= ranks;
    for (std::size_t left = 0; left + step < ranks; left += 2 * step) {
      const void* pair[] = {sources_[left], sources_[left + step]};
      std::byte* into = last ? call_->output : partials_.data() + left * kInlineBytes;
      combine(into, pair, 2, count, last);
      sources_[left] = into;
    }
  }
}

void TinyCalls::combine(std::byte* into, const void* const* sources, int source_count, std::size_t count, bool last) {
  if (call_->op != RedOp::user) {
    kernels::reduce(call_->dtype, call_->op, into, sources, source_count, count,
                    last ? static_cast<std::uint32_t>(sources_.size()) : 0);
    return;
  }
  alignas(64) std::array<std::byte, 2 * kInlineBytes> scratch;
  const std::size_t size = size_of(call_->dtype);
  kernels::fold_by_user(*call_->user, call_->dtype, into, source_count, count, scratch,
                        [&](int k, std::size_t first, std::size_t some, std::byte* to) {
                          std::memcpy(to, static_cast<const std::byte*>(sources[k]) + first * size, some * size);
                        });
}

}  // namespace umbel::runtime
