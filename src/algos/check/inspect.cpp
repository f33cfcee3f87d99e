// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// What can be said about programs without running them.
#include <algorithm>

#include <fmt/format.h>

#include "algos/check/checker.hpp"
#include "algos/check/machine.hpp"

namespace umbel::algos::check {
namespace {

/// Who signals a semaphore, or who waits on it: a lane's instructions, or a lane's transfers.
struct Side {
  Rank rank = -1;
  int lane = -1;
  bool transfers = false;
  bool operator==(const Side&) const = default;
};

struct Sides {
  Side signals, waits;
};

class Inspector {
 public:
  Inspector(const Setting& setting, std::span<const Program> programs) : setting_(setting), programs_(programs) {}

  void inspect() {
    if (programs_.size() != static_cast<std::size_t>(setting_.shape.ranks()))
      fail(Fault::malformed,
           [&] { return fmt::format("{} programs for {} ranks", programs_.size(), setting_.shape.ranks()); });
    for (const Program& p : programs_) {
      rank_ = p.rank;
      agreement(p);
      tables(p);
      sides_.emplace_back(p.semaphores.size());
    }
    for (const Program& p : programs_) {
      rank_ = p.rank;
      std::uint32_t free_from = 0;
      for (std::size_t n = 0; n < p.lanes.size(); ++n) {
        lane_ = static_cast<int>(n);
        if (p.lanes[n].begin < free_from || p.lanes[n].begin > p.lanes[n].end || p.lanes[n].end > p.instrs.size())
          fail(Fault::malformed, [&] { return here() + ": lanes overlap or leave the program"; });
        free_from = p.lanes[n].end;
        lane(p, p.lanes[n]);
      }
    }
  }

 private:
  template <class Text>
  [[noreturn]] void fail(Fault fault, Text&& text) const {
    throw Stop{{fault, setting_.explain ? text() : std::string()}};
  }
  template <class Text>
  void demand(bool holds, Fault fault, Text&& text) const {
    if (!holds) fail(fault, [&] { return here() + ": " + text; });
  }
  std::string here() const { return fmt::format("rank {}, lane {}, instruction {}", rank_, lane_, pc_); }

  /// What all ranks have in common, since sizes are bound from it.
  void agreement(const Program& p) const {
    const Program& first = programs_.front();
    const auto same = [](const Region& a, const Region& b) {
      return a.slots == b.slots && a.blocks == b.blocks && a.image == b.image;
    };
    const bool agree = p.ranks == first.ranks && p.blocks == first.blocks && p.chunk_blocks == first.chunk_blocks &&
                       p.uses_pieces == first.uses_pieces && p.uses_chunks == first.uses_chunks &&
                       p.collective == first.collective && p.root == first.root && p.shares == first.shares &&
                       p.order == first.order && std::ranges::equal(p.regions, first.regions, same);
    const auto position = static_cast<std::size_t>(&p - programs_.data());
    if (!agree || p.ranks != setting_.shape.ranks() || static_cast<std::size_t>(p.rank) != position)
      fail(Fault::malformed, [&] {
        return fmt::format(
            "rank {}: collective, root, ranks, blocks, order, chunk_blocks, loops or regions differ from rank 0's",
            position);
      });
  }

  void tables(const Program& p) const {
    const auto ranks = setting_.shape.ranks();
    const auto local = [&](Rank r) { return r >= 0 && r < ranks && setting_.shape.same_node(r, p.rank); };
    const auto bad = [&](const char* what) {
      fail(Fault::malformed, [&] { return fmt::format("rank {}: {}", p.rank, what); });
    };
    if (p.blocks < 1 || p.chunk_blocks < 1 || p.chunk_blocks > p.blocks) bad("blocks or chunk_blocks out of range");
    if (ranked(p.collective) ? p.shares < 1 || p.blocks != p.shares * ranks || p.uses_pieces : p.shares != 0)
      bad("shares that do not fit the collective");
    bundles(p, bad);
    if (p.root < 0 || p.root >= ranks || (p.root != 0 && !rooted(p.collective))) bad("a root that cannot be");
    if (!p.order.empty()) permutation(p, bad);
    if (p.regions.size() > static_cast<std::size_t>(kMaxRegions)) bad("too many regions");
    for (const Region& region : p.regions)
      if (region.slots < 0 || region.blocks < 1 || (region.blocks > p.blocks && p.shares == 0))
        bad("a region's slots or blocks out of range");
    for (const Semaphore& s : p.semaphores) {
      if (s.initial < 0) bad("a semaphore with negative credit");
      if (!local(s.signaller))
        fail(Fault::ownership, [&] {
          return fmt::format("rank {}: a semaphore that rank {} signals from outside the node", p.rank, s.signaller);
        });
    }
    for (const SignalTarget& t : p.signals) {
      if (!local(t.peer))
        fail(Fault::ownership,
             [&] { return fmt::format("rank {}: signals rank {} outside its node", p.rank, t.peer); });
      const auto& theirs = programs_[static_cast<std::size_t>(t.peer)].semaphores;
      if (t.sem < 0 || static_cast<std::size_t>(t.sem) >= theirs.size()) bad("signals a semaphore that is not there");
      if (theirs[static_cast<std::size_t>(t.sem)].signaller != p.rank)
        fail(Fault::ownership, [&] {
          return fmt::format("rank {}: signals s{} of rank {}, which is rank {}'s to signal", p.rank, t.sem, t.peer,
                             theirs[static_cast<std::size_t>(t.sem)].signaller);
        });
    }
  }

  /// Lengths of shares are heard from node-mates only.
  template <class Bad>
  void bundles(const Program& p, const Bad& bad) const {
    if (p.bundles.empty()) return;
    if (p.shares != 1 || !p.uses_chunks || !p.order.empty() || p.bundles.back().owner >= 0)
      bad("bundles of something else than chunks of whole shares, or one without its end");
    for (const BundleItem& item : p.bundles) {
      if (item.owner < 0) continue;
      if (item.owner >= p.ranks || item.share < 0 || item.share >= p.ranks || item.buffer == Buffer::window)
        bad("a bundle of shares that are not there");
      if (!setting_.shape.same_node(item.owner, p.rank))
        fail(Fault::ownership, [&] {
          return fmt::format("rank {}: a bundle with a length that only rank {} outside the node knows", p.rank,
                             item.owner);
        });
    }
  }

  /// The shares that a slice names are there, in a user buffer the one at its place.
  void bundled(const Program& p, const Slice& s) const {
    const auto items = static_cast<std::int64_t>(p.bundles.size());
    demand(s.item >= 0 && s.items >= 1 && std::int64_t{s.bundle} + s.item + s.items < items, Fault::malformed,
           "shares that are not in a bundle");
    const auto* const first = p.bundles.data() + s.bundle;
    demand(s.bundle == 0 || first[-1].owner < 0, Fault::malformed, "a bundle without its beginning");
    for (std::int32_t k = 0; k < s.item + s.items; ++k)
      demand(first[k].owner >= 0, Fault::malformed, "shares beyond a bundle's end");
    if (s.buffer == Buffer::window) return;
    const BundleItem& item = first[s.item];
    demand(s.items == 1 && s.rank == rank_ && item.owner == rank_ && item.buffer == s.buffer &&
               item.share == s.block.base && s.block.offset == 0,
           Fault::malformed, "a bundle's share in the place of another");
  }

  template <class Bad>
  void permutation(const Program& p, const Bad& bad) const {
    std::vector<Rank> sorted = p.order;
    std::ranges::sort(sorted);
    for (std::size_t r = 0; r < sorted.size(); ++r)
      if (sorted[r] != static_cast<Rank>(r)) bad("an order that is no permutation of the ranks");
    if (!ranked(p.collective) || sorted.size() != static_cast<std::size_t>(p.ranks)) bad("an order of something else");
  }

  void lane(const Program& p, const Lane& lane) {
    std::vector<std::uint32_t> open;
    waits_.clear();
    for (pc_ = lane.begin; pc_ < lane.end; ++pc_)
      if (p.instrs[pc_].op == OpCode::wait) waits_.push_back(p.instrs[pc_].sem);
    for (pc_ = lane.begin; pc_ < lane.end; ++pc_) {
      const Instr& in = p.instrs[pc_];
      if (in.op == OpCode::loop_begin) {
        depth_ = static_cast<int>(open.size());
        begin_loop(p, lane, in);
        open.push_back(pc_);
        demand(open.size() <= static_cast<std::size_t>(kMaxLoopDepth), Fault::malformed, "loops nested too deep");
      } else if (in.op == OpCode::loop_end) {
        demand(!open.empty() && in.jump == open.back() && p.instrs[open.back()].jump == pc_, Fault::malformed,
               "a loop's end without its beginning");
        open.pop_back();
      } else {
        depth_ = static_cast<int>(open.size());
        instruction(p, lane, in);
      }
    }
    demand(open.empty(), Fault::malformed, "a loop without its end");
  }

  void begin_loop(const Program& p, const Lane& lane, const Instr& in) const {
    const bool ends = in.jump > pc_ && in.jump < lane.end && p.instrs[in.jump].op == OpCode::loop_end;
    demand(ends, Fault::malformed, "a loop without its end");
    demand(in.trip != Trip::pieces || p.uses_pieces, Fault::malformed,
           "a loop over pieces in a program without pieces");
    demand(in.trip != Trip::chunks || p.uses_chunks, Fault::malformed,
           "a loop over chunks in a program without chunks");
    if (in.trip != Trip::slice) return;
    demand(p.uses_chunks && in.src < p.slices.size(), Fault::malformed,
           "a loop over the chunks of a slice that is not there, or in a program without chunks");
    slice(p, p.slices[in.src]);
  }

  void instruction(const Program& p, const Lane& lane, const Instr& in) {
    const bool transfers = in.op == OpCode::send || in.op == OpCode::recv;
    const bool moves = in.op == OpCode::copy || in.op == OpCode::reduce;
    demand(!transfers || lane.kind == LaneKind::net, Fault::malformed, "a transfer in a memory lane");
    demand(!moves || lane.kind == LaneKind::memory, Fault::malformed, "copy or reduce in a net lane");
    if (in.op == OpCode::wait) {
      demand(in.sem >= 0 && static_cast<std::size_t>(in.sem) < p.semaphores.size() && in.times >= 1, Fault::malformed,
             "waits for a semaphore that is not there, or for nothing");
      take_side(sides_[static_cast<std::size_t>(rank_)][static_cast<std::size_t>(in.sem)].waits, {rank_, lane_, false},
                "waiting");
    }
    if (in.op == OpCode::signal || (transfers && in.signal >= 0)) {
      demand(in.signal >= 0 && static_cast<std::size_t>(in.signal) < p.signals.size(), Fault::malformed,
             "a signal that is not in the table");
      const SignalTarget& t = p.signals[static_cast<std::size_t>(in.signal)];
      take_side(sides_[static_cast<std::size_t>(t.peer)][static_cast<std::size_t>(t.sem)].signals,
                {rank_, lane_, transfers}, "signalling");
    }
    if (transfers) {
      demand(in.peer >= 0 && in.peer < setting_.shape.ranks(), Fault::malformed, "a peer that is not there");
      demand(in.channel >= 0, Fault::malformed, "a negative channel");
      demand(!setting_.shape.same_node(in.peer, rank_), Fault::ownership, "a message within a node");
    }
    if (moves || in.op == OpCode::send) {
      demand(in.src_count >= 1 && in.src_count <= kMaxSources && in.src + in.src_count <= p.slices.size(),
             Fault::malformed, "sources that are not in the table");
      demand(in.op == OpCode::reduce || in.src_count == 1, Fault::malformed, "more than one source");
      for (std::uint32_t k = 0; k < in.src_count; ++k) source(p, p.slices[in.src + k], transfers);
    }
    if (moves || in.op == OpCode::recv) {
      demand(in.dst < p.slices.size(), Fault::malformed, "a destination that is not in the table");
      destination(p, p.slices[in.dst], transfers);
    }
  }

  void take_side(Side& side, const Side& now, const char* what) const {
    if (side.rank < 0) side = now;
    if (side != now) demand(false, Fault::ownership, fmt::format("a semaphore with two {} sides", what));
  }

  void source(const Program& p, const Slice& s, bool transfer) const {
    slice(p, s);
    if (s.rank == rank_ || s.buffer == Buffer::window) return;
    demand(setting_.direct, Fault::ownership, "reads a peer's user buffer, and peers' buffers cannot be reached");
    demand(!transfer, Fault::ownership, "sends from a peer's user buffer");
  }

  void destination(const Program& p, const Slice& s, bool transfer) const {
    slice(p, s);
    demand(s.buffer != Buffer::input, Fault::ownership, "writes an input");
    demand(s.rank == rank_ || (s.buffer == Buffer::window && !transfer), Fault::ownership, "writes a peer's memory");
  }

  void slice(const Program& p, const Slice& s) const {
    demand(s.rank >= 0 && s.rank < setting_.shape.ranks(), Fault::malformed, "a slice of a rank that is not there");
    demand(s.rank == rank_ || setting_.shape.same_node(s.rank, rank_), Fault::ownership,
           "reaches memory of another node");
    demand(s.blocks >= 1, Fault::malformed, "a slice of no blocks");
    for (const Index* index : {&s.piece, &s.block, &s.chunk}) this->index(*index);
    if (s.bundle >= 0) bundled(p, s);
    if (s.buffer != Buffer::window) return;
    demand(s.region >= 0 && static_cast<std::size_t>(s.region) < p.regions.size(), Fault::bounds,
           "a region that is not there");
    index(s.slot.index);
    const Region& region = p.regions[static_cast<std::size_t>(s.region)];
    demand(s.slot.base >= 0 && s.slot.depth >= 1 && s.slot.base + s.slot.depth <= region.slots, Fault::bounds,
           "slots outside the region");
    demand(s.slot.sem < 0 || std::ranges::find(waits_, s.slot.sem) != waits_.end(), Fault::malformed,
           "a slot by a semaphore on which this lane does not wait");
  }

  void index(const Index& i) const {
    demand(i.modulus >= 0, Fault::malformed, "a negative modulus");
    for (int l = depth_; l < kMaxLoopDepth; ++l)
      demand(i.coef[l] == 0, Fault::malformed, "an index over a loop that is not around it");
  }

  const Setting& setting_;
  std::span<const Program> programs_;
  std::vector<std::vector<Sides>> sides_;  // by rank and semaphore
  std::vector<std::int32_t> waits_;        // semaphores of the present lane
  Rank rank_ = 0;
  int lane_ = 0;
  int depth_ = 0;
  std::uint32_t pc_ = 0;
};

}  // namespace

std::optional<Finding> inspect(const Setting& setting, std::span<const Program> programs) {
  try {
    Inspector(setting, programs).inspect();
  } catch (const Stop& stop) {
    return stop.finding;
  }
  return std::nullopt;
}

Report run(const Setting& setting, std::span<const Operation> operations) {
  Report report;
  for (std::size_t n = 0; n < operations.size(); ++n) {
    // A sequence often repeats one operation: look at its programs once.
    const bool seen = std::ranges::any_of(operations.first(n), [&](const Operation& earlier) {
      return earlier.programs.data() == operations[n].programs.data();
    });
    if (!seen) report.finding = inspect(setting, operations[n].programs);
    if (report.finding) return report;
  }
  try {
    return Machine(setting, operations, false).run();
  } catch (const Stop& stop) {
    report.finding = stop.finding;
  }
  if (!setting.explain) return report;
  try {
    return Machine(setting, operations, true).run();
  } catch (const Stop& stop) {
    report.finding = stop.finding;
  }
  return report;
}

std::string_view name_of(Fault fault) noexcept {
  switch (fault) {
    case Fault::malformed:
      return "malformed";
    case Fault::bounds:
      return "bounds";
    case Fault::ownership:
      return "ownership";
    case Fault::race:
      return "race";
    case Fault::deadlock:
      return "deadlock";
    case Fault::unmatched:
      return "unmatched";
    case Fault::semaphore:
      return "semaphore";
    case Fault::value:
      return "value";
    case Fault::order:
      return "order";
    case Fault::result:
      return "result";
    case Fault::formula:
      return "formula";
    case Fault::canonical:
      return "canonical";
  }
  return "";
}

}  // namespace umbel::algos::check
