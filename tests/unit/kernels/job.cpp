// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "unit/kernels/job.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace umbel::test {
namespace {

constexpr int kBlockLoop = 1;  // loops, outermost first: pieces, blocks, chunks
constexpr int kChunkLoop = 2;

/// Builds gather_program. Semaphores of a rank: from each peer q "filled by q", "freed by q", "closed by q".
class Gather {
 public:
  Gather(Rank rank, int ranks, int blocks, int depth) : depth_(depth) {
    program_.rank = rank;
    program_.ranks = ranks;
    program_.blocks = blocks;
    program_.uses_pieces = true;
    program_.uses_chunks = true;
    program_.regions.push_back(Region{depth, 1, false});
  }

  Program build() {
    const Rank self = program_.rank;
    for (Rank q = 0; q < program_.ranks; ++q) {
      if (q == self) continue;
      program_.semaphores.push_back({q, 0});
      program_.semaphores.push_back({q, depth_});
      program_.semaphores.push_back({q, 0});
      for (std::int32_t kind = 0; kind < 3; ++kind) program_.signals.push_back({q, index(q, self, kind)});
    }
    // Between the lanes of a rank: its own slot is filled, and freed.
    program_.semaphores.push_back({self, 0});
    program_.semaphores.push_back({self, depth_});
    filled_self_ = static_cast<std::int32_t>(program_.semaphores.size()) - 2;
    program_.signals.push_back({self, filled_self_});
    program_.signals.push_back({self, filled_self_ + 1});
    signal_self_ = static_cast<std::int32_t>(program_.signals.size()) - 2;
    stage_lane();
    fold_lane();
    return std::move(program_);
  }

 private:
  /// Of the semaphores that `owner` waits on, the one of `kind` for `from`.
  static std::int32_t index(Rank owner, Rank from, std::int32_t kind) {
    return 3 * (from - (from > owner ? 1 : 0)) + kind;
  }

  template <class Body>
  void loop(Trip trip, std::uint32_t times, Body body) {
    const auto begin = static_cast<std::uint32_t>(program_.instrs.size());
    Instr in;
    in.op = OpCode::loop_begin;
    in.trip = trip;
    in.times = times;
    program_.instrs.push_back(in);
    body();
    program_.instrs[begin].jump = static_cast<std::uint32_t>(program_.instrs.size());
    in.op = OpCode::loop_end;
    in.jump = begin;
    program_.instrs.push_back(in);
  }

  template <class Body>
  void all_chunks(Body body) {
    loop(Trip::pieces, 0, [&] {
      loop(Trip::constant, static_cast<std::uint32_t>(program_.blocks), [&] { loop(Trip::chunks, 0, body); });
    });
  }

  template <class Body>
  void lane(Body body) {
    Lane lane;
    lane.begin = static_cast<std::uint32_t>(program_.instrs.size());
    body();
    lane.end = static_cast<std::uint32_t>(program_.instrs.size());
    program_.lanes.push_back(lane);
  }

  template <class Body>
  void each_peer(Body body) {
    for (Rank q = 0; q < program_.ranks; ++q) {
      if (q != program_.rank) body(q);
    }
  }

  void wait(std::int32_t sem, std::uint32_t times = 1) {
    Instr in;
    in.op = OpCode::wait;
    in.sem = sem;
    in.times = times;
    program_.instrs.push_back(in);
  }

  void signal(std::int32_t index) {
    Instr in;
    in.op = OpCode::signal;
    in.signal = index;
    program_.instrs.push_back(in);
  }

  /// The chunk of the loops' counters; in a window, the slot whose turn the semaphore's count says.
  std::uint32_t slice(Buffer buffer, Rank rank, std::int32_t sem) {
    Slice s;
    s.buffer = buffer;
    s.rank = rank;
    s.piece.coef[0] = 1;
    s.block.coef[kBlockLoop] = 1;
    s.chunk.coef[kChunkLoop] = 1;
    s.slot.depth = depth_;
    s.slot.sem = sem;
    program_.slices.push_back(s);
    return static_cast<std::uint32_t>(program_.slices.size()) - 1;
  }

  void stage_lane() {
    const Rank self = program_.rank;
    lane([&] {
      loop(Trip::constant, 0, [&] { wait(filled_self_, 1000); });
      all_chunks([&] {
        each_peer([&](Rank q) { wait(index(self, q, 1)); });
        wait(filled_self_ + 1);
        Instr in;
        in.op = OpCode::copy;
        in.src_count = 1;
        in.src = slice(Buffer::input, self, -1);
        in.dst = slice(Buffer::window, self, filled_self_ + 1);
        program_.instrs.push_back(in);
        each_peer([&](Rank q) { signal(index(self, q, 0)); });
        signal(signal_self_);
      });
    });
  }

  void fold_lane() {
    const Rank self = program_.rank;
    lane([&] {
      all_chunks([&] {
        each_peer([&](Rank q) { wait(index(self, q, 0)); });
        wait(filled_self_);
        Instr in;
        in.op = OpCode::reduce;
        in.final = true;
        in.src_count = static_cast<std::uint16_t>(program_.ranks);
        in.dst = slice(Buffer::output, self, -1);
        in.src = static_cast<std::uint32_t>(program_.slices.size());
        for (Rank q = 0; q < program_.ranks; ++q) {
          slice(Buffer::window, q, q == self ? filled_self_ : index(self, q, 0));
        }
        program_.instrs.push_back(in);
        each_peer([&](Rank q) { signal(index(self, q, 1)); });
        signal(signal_self_ + 1);
      });
      each_peer([&](Rank q) {
        signal(index(self, q, 2));
        signal(index(self, q, 2));
      });
      each_peer([&](Rank q) { wait(index(self, q, 2), 2); });
    });
  }

  Program program_;
  int depth_;
  std::int32_t filled_self_ = 0;
  std::int32_t signal_self_ = 0;
};

std::byte* bytes_of(std::vector<std::uint8_t>& memory) { return reinterpret_cast<std::byte*>(memory.data()); }

}  // namespace

Program gather_program(Rank rank, int ranks, int blocks, int depth) {
  return Gather(rank, ranks, blocks, depth).build();
}

Program direct_program(int ranks) {
  Program p;
  p.ranks = ranks;
  for (Rank rank = 0; rank < ranks; ++rank) {
    Slice s;
    s.rank = rank;
    p.slices.push_back(s);
  }
  Slice out;
  out.buffer = Buffer::output;
  p.slices.push_back(out);
  Instr in;
  in.op = OpCode::reduce;
  in.src_count = static_cast<std::uint16_t>(ranks);
  in.dst = static_cast<std::uint32_t>(ranks);
  in.final = true;
  p.instrs.push_back(in);
  in.op = OpCode::copy;
  in.src_count = 1;
  in.src = static_cast<std::uint32_t>(ranks) - 1;
  p.instrs.push_back(in);
  p.lanes.push_back({LaneKind::memory, 0, 1});
  p.lanes.push_back({LaneKind::memory, 1, 2});
  return p;
}

Job::Job(std::vector<Program> programs, const Options& options) : options_(options), programs_(std::move(programs)) {
  binding_ = bind(programs_[0], options.count, size_of(options.dtype), options.cut);
  const std::size_t bytes = options.count * size_of(options.dtype);
  for (const Program& program : programs_) {
    auto place = std::make_unique<Place>();
    place->input.resize(std::max<std::size_t>(bytes, 1));  // never a null pointer
    place->output.resize(std::max<std::size_t>(bytes, 1));
    place->window.resize(binding_.window_bytes);
    place->cells = std::vector<kernels::SemaphoreCell>(program.semaphores.size());
    place->consumed.resize(program.semaphores.size());
    place->signalled.resize(program.signals.size());
    places_.push_back(std::move(place));
  }
  for (Rank rank = 0; rank < ranks(); ++rank) connect(rank);
}

void Job::connect(Rank rank) {
  Place& self = *places_[static_cast<std::size_t>(rank)];
  for (Rank q = 0; q < ranks(); ++q) {
    Place& peer = *places_[static_cast<std::size_t>(q)];
    const bool mapped = q == rank || !options_.peers_unmapped;
    self.inputs.push_back(mapped ? bytes_of(peer.input) : nullptr);
    self.outputs.push_back(mapped ? bytes_of(peer.output) : nullptr);
    self.windows.push_back(bytes_of(peer.window));
  }
  for (kernels::SemaphoreCell& cell : self.cells) self.own.push_back(&cell);
  for (const SignalTarget& target : program(rank).signals) {
    Place& peer = *places_[static_cast<std::size_t>(target.peer)];
    self.targets.push_back(&peer.cells[static_cast<std::size_t>(target.sem)]);
  }
}

void Job::begin_run() {
  for (auto& place : places_) {
    place->consumed.assign(place->consumed.size(), 0);
    place->signalled.assign(place->signalled.size(), 0);
  }
}

kernels::ProgramView Job::view(Rank rank) {
  const Program& p = program(rank);
  Place& place = *places_[static_cast<std::size_t>(rank)];
  return {p.instrs.data(),       p.slices.data(),        p.semaphores.data(), &binding_,
          place.consumed.data(), place.signalled.data(), options_.limits};
}

kernels::HostContext Job::context(Rank rank, std::uint32_t epoch) {
  Place& place = *places_[static_cast<std::size_t>(rank)];
  kernels::HostContext context;
  context.dtype = options_.dtype;
  context.op = options_.op;
  context.divisor = static_cast<std::uint32_t>(ranks());
  context.epoch = epoch;
  context.input = place.inputs;
  context.output = place.outputs;
  context.window = place.windows;
  context.own = place.own;
  context.targets = place.targets;
  context.reader = [this](Rank peer, Buffer buffer, std::uint64_t offset, std::byte* into, std::size_t bytes) {
    std::memcpy(into, (buffer == Buffer::input ? input(peer) : output(peer)) + offset, bytes);
  };
  return context;
}

}  // namespace umbel::test
