// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/check/mutants.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace umbel::algos::check {
namespace {

constexpr std::int32_t kUnlimited = 1 << 20;

/// Takes instructions [from, to) out; loops and lanes keep what is left.
void erase(Program& p, std::uint32_t from, std::uint32_t to) {
  const std::uint32_t count = to - from;
  p.instrs.erase(p.instrs.begin() + from, p.instrs.begin() + to);
  for (Instr& in : p.instrs)
    if ((in.op == OpCode::loop_begin || in.op == OpCode::loop_end) && in.jump >= to) in.jump -= count;
  for (Lane& lane : p.lanes) {
    if (lane.begin >= to) lane.begin -= count;
    if (lane.end >= to) lane.end -= count;
  }
}

class Factory {
 public:
  Factory(const Program& right, const Shape& shape, const std::function<void(const Mutant&)>& use)
      : right_(right), shape_(shape), use_(use), credited_(right.semaphores.size()) {}

  void make() {
    for (std::size_t n = 0; n < right_.lanes.size(); ++n) {
      lane_ = static_cast<int>(n);
      const Lane& lane = right_.lanes[n];
      for (pc_ = lane.begin; pc_ < lane.end; ++pc_) instruction(right_.instrs[pc_]);
      closing(lane);
    }
    lane_ = 0;
  }

 private:
  /// Gives a changed copy to the user. `change` gets the program and the instruction.
  template <class Change>
  void give(Mutation mutation, std::string text, Change&& change) {
    Mutant mutant{.mutation = mutation, .program = right_, .lane = lane_, .pc = pc_, .text = std::move(text)};
    change(mutant.program, mutant.program.instrs[pc_]);
    mutant.timing =
        !std::ranges::equal(mutant.program.semaphores, right_.semaphores, {}, &Semaphore::initial, &Semaphore::initial);
    use_(mutant);
  }

  /// A changed slice, put in a place of its own at the end of the table: others may share the old one.
  template <class Change>
  void give_slice(Mutation mutation, std::string text, bool destination, std::uint32_t k, Change&& change) {
    give(mutation, std::move(text), [&](Program& p, Instr& in) {
      const auto fresh = static_cast<std::uint32_t>(p.slices.size());
      if (destination) {
        p.slices.push_back(p.slices[in.dst]);
        in.dst = fresh;
        change(p.slices.back());
        return;
      }
      for (std::uint32_t s = 0; s < in.src_count; ++s) p.slices.push_back(Slice(p.slices[in.src + s]));
      in.src = fresh;
      change(p.slices[fresh + k]);
    });
  }

  void instruction(const Instr& in) {
    switch (in.op) {
      case OpCode::loop_begin:
        loop(in);
        return;
      case OpCode::loop_end:
        return;
      case OpCode::signal:
      case OpCode::wait:
        drop();
        semaphores(in);
        return;
      case OpCode::send:
      case OpCode::recv:
        drop();
        transfer(in);
        break;
      case OpCode::copy:
        drop();
        break;
      case OpCode::reduce:
        drop();
        fold(in);
        break;
    }
    if (in.op != OpCode::recv)
      for (std::uint32_t k = 0; k < in.src_count; ++k) slice(right_.slices[in.src + k], false, k);
    if (in.op != OpCode::send) slice(right_.slices[in.dst], true, 0);
  }

  void drop() {
    give(Mutation::drop, "dropped", [&](Program& p, Instr&) { erase(p, pc_, pc_ + 1); });
  }

  void loop(const Instr& in) {
    if (in.trip == Trip::constant) {
      give(Mutation::drop, "one trip less", [](Program&, Instr& changed) { --changed.times; });
      return;
    }
    give(Mutation::drop, "one trip only", [](Program&, Instr& changed) {
      changed.trip = Trip::constant;
      changed.times = 1;
    });
  }

  void semaphores(const Instr& in) {
    if (in.op == OpCode::wait) {
      if (in.times > 1)
        give(Mutation::closing, "waits for one less", [](Program&, Instr& changed) { --changed.times; });
      const auto count = static_cast<std::int32_t>(right_.semaphores.size());
      if (count > 1)
        give(Mutation::peer, "waits on the next semaphore",
             [&](Program&, Instr& changed) { changed.sem = (in.sem + 1) % count; });
      const auto sem = static_cast<std::size_t>(in.sem);
      if (credited_[sem]) return;  // every wait on it would make the same mutants
      credited_[sem] = true;
      if (right_.semaphores[sem].initial > 0)
        give(Mutation::slot, fmt::format("s{} has one credit more", sem),
             [&](Program& p, Instr&) { ++p.semaphores[sem].initial; });
      give(Mutation::closing, fmt::format("s{} never blocks", sem),
           [&](Program& p, Instr&) { p.semaphores[sem].initial += kUnlimited; });
      return;
    }
    const auto count = static_cast<std::int32_t>(right_.signals.size());
    if (count > 1)
      give(Mutation::peer, "signals the next semaphore",
           [&](Program&, Instr& changed) { changed.signal = (in.signal + 1) % count; });
  }

  void transfer(const Instr& in) {
    for (Rank step = 1; step < right_.ranks; ++step) {
      const Rank other = (in.peer + step) % right_.ranks;
      if (shape_.same_node(other, right_.rank)) continue;
      give(Mutation::peer, fmt::format("with rank {}", other), [&](Program&, Instr& changed) { changed.peer = other; });
      break;
    }
    if (in.signal >= 0)
      give(Mutation::drop, "completion not signalled", [](Program&, Instr& changed) { changed.signal = -1; });
  }

  void fold(const Instr& in) {
    give(Mutation::final, in.final ? "not final" : "final",
         [](Program&, Instr& changed) { changed.final = !changed.final; });
    for (std::uint32_t k = 0; k + 1 < in.src_count; ++k) {
      give_slice(Mutation::source_order, fmt::format("sources {} and {} swapped", k, k + 1), false, k,
                 [](Slice& s) { std::swap(s, *(&s + 1)); });
    }
    if (in.src_count > 1) {
      give(Mutation::drop, "without its last source", [](Program&, Instr& changed) { --changed.src_count; });
    }
  }

  void slice(const Slice& s, bool destination, std::uint32_t k) {
    const std::string name = destination ? "destination" : fmt::format("source {}", k);
    shift(s, name, destination, k);
    const auto local = shape_.peers_of(right_.rank);
    if (s.rank != right_.rank && local.size() > 2) {
      const auto at = std::ranges::find(local, s.rank) - local.begin();
      auto next = static_cast<std::size_t>(at + 1) % local.size();
      if (local[next] == right_.rank) next = (next + 1) % local.size();
      give_slice(Mutation::peer, fmt::format("{} at rank {}", name, local[next]), destination, k,
                 [&](Slice& changed) { changed.rank = local[next]; });
    }
    if (s.buffer != Buffer::window) return;
    if (s.slot.depth > 1)
      give_slice(Mutation::slot, name + " always in the first slot", destination, k,
                 [](Slice& changed) { changed.slot.depth = 1; });
    const Region& region = right_.regions[static_cast<std::size_t>(s.region)];
    const bool after = s.slot.base + s.slot.depth < region.slots;
    if (after || s.slot.base > 0) {
      give_slice(Mutation::slot, name + " in a neighbouring slot", destination, k,
                 [&](Slice& changed) { changed.slot.base += after ? 1 : -1; });
    } else if (s.slot.depth > 1) {  // all slots are its own: another turn
      give_slice(Mutation::slot, name + " in the slot of the next turn", destination, k, [&](Slice& changed) {
        if (changed.slot.sem < 0)
          ++changed.slot.index.base;
        else
          changed.slot.base = 1, changed.slot.depth = std::max(1, changed.slot.depth - 1);
      });
    }
  }

  /// Other elements: the next block, chunk or piece, whatever there is several of.
  void shift(const Slice& s, const std::string& name, bool destination, std::uint32_t k) {
    // A slot that is no image holds any share alike: they are equally long.
    const bool any_share =
        right_.shares == 1 && s.buffer == Buffer::window && !right_.regions[static_cast<std::size_t>(s.region)].image;
    if (s.bundle >= 0) {
      bundled(s, name, destination, k);
    } else if (right_.blocks > s.blocks && !any_share) {
      give_slice(Mutation::shift, name + " moved by one block", destination, k, [&](Slice& changed) {
        const bool last = changed.block.base + changed.block.offset + changed.blocks >= right_.blocks;
        changed.block.base += last && changed.block.modulus == 0 ? -1 : 1;
      });
    }
    if (right_.uses_chunks)
      give_slice(Mutation::shift, name + " moved by one chunk", destination, k,
                 [](Slice& changed) { ++changed.chunk.base; });
    if (right_.uses_pieces)
      give_slice(Mutation::shift, name + " moved by one piece", destination, k,
                 [](Slice& changed) { ++changed.piece.base; });
    if (s.blocks > 1)
      give_slice(Mutation::shift, name + " one block shorter", destination, k,
                 [](Slice& changed) { --changed.blocks; });
  }

  /// Other shares of the bundle.
  void bundled(const Slice& s, const std::string& name, bool destination, std::uint32_t k) {
    const auto owner_of = [&](int item) {
      return right_.bundles[static_cast<std::size_t>(s.bundle) + static_cast<std::size_t>(item)].owner;
    };
    const bool last = owner_of(s.item + s.items) < 0;
    if (!last || s.item > 0)
      give_slice(Mutation::shift, name + " moved by one share", destination, k,
                 [&](Slice& changed) { changed.item += last ? -1 : 1; });
    if (s.items > 1)
      give_slice(Mutation::shift, name + " one share shorter", destination, k, [](Slice& changed) { --changed.items; });
  }

  /// The lane ends without what it does last to let others go on or to hear that they have: its trailing waits and
  /// signals.
  void closing(const Lane& lane) {
    std::uint32_t from = lane.end;
    const auto synchronizes = [&](std::uint32_t at) {
      return right_.instrs[at].op == OpCode::wait || right_.instrs[at].op == OpCode::signal;
    };
    while (from > lane.begin && synchronizes(from - 1)) --from;
    if (lane.end - from < 2) return;  // one is a drop
    pc_ = from;
    give(Mutation::closing, "all waits and signals from here to the lane's end dropped",
         [&](Program& p, Instr&) { erase(p, from, lane.end); });
  }

  const Program& right_;
  const Shape& shape_;
  const std::function<void(const Mutant&)>& use_;
  std::vector<bool> credited_;  // by semaphore
  int lane_ = 0;
  std::uint32_t pc_ = 0;
};

}  // namespace

void for_each_mutant(const Program& right, const Shape& shape, const std::function<void(const Mutant&)>& use) {
  Factory(right, shape, use).make();
}

std::string_view name_of(Mutation mutation) noexcept {
  switch (mutation) {
    case Mutation::drop:
      return "drop";
    case Mutation::peer:
      return "peer";
    case Mutation::shift:
      return "shift";
    case Mutation::slot:
      return "slot";
    case Mutation::closing:
      return "closing";
    case Mutation::source_order:
      return "source order";
    case Mutation::final:
      return "final";
  }
  return "";
}

}  // namespace umbel::algos::check
