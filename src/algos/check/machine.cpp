// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/check/machine.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/hash.hpp"

namespace umbel::algos::check {
namespace {

/// A checked element is a cache line wide, so that a window slot is as long as its elements, without padding.
constexpr std::size_t kElementBytes = 64;
constexpr std::uint64_t kWhole = std::uint64_t{1} << 40U;

Binding bind(const Operation& op) {
  const Cut cut{.piece_bytes = (op.piece != 0 ? op.piece : kWhole) * kElementBytes,
                .chunk_bytes = (op.chunk != 0 ? op.chunk : kWhole) * kElementBytes};
  return umbel::bind(op.programs.front(), op.count, kElementBytes, cut, op.granule);
}

std::uint64_t total_of(const ShareLists::List& list) {
  return std::reduce(list.count.begin(), list.count.end(), std::uint64_t{0});
}

/// Shares one after the other, that of rank `from` first.
ShareLists::List listed(std::vector<std::uint64_t> count, std::size_t from) {
  ShareLists::List list{.count = std::move(count), .first = {}};
  list.first.resize(list.count.size());
  std::uint64_t next = 0;
  for (std::size_t k = 0; k < list.count.size(); ++k) {
    const std::size_t r = (from + k) % list.count.size();
    list.first[r] = next;
    next += list.count[r];
  }
  return list;
}

/// What `rank` knows of the shares of a v-form: of others' in a gather or scatter it knows only as their root. Where
/// they lie is its own affair, but in what is reduced.
ShareLists lists_for(const Operation& op, Rank rank) {
  const Program& p = op.programs.front();
  const auto ranks = static_cast<std::size_t>(p.ranks), me = static_cast<std::size_t>(rank);
  std::vector<std::uint64_t> given(op.shares.begin(), op.shares.end()), taken = given;
  if (p.collective == Collective::all_to_all) {
    given.assign(op.shares.begin() + static_cast<std::ptrdiff_t>(me * ranks),
                 op.shares.begin() + static_cast<std::ptrdiff_t>((me + 1) * ranks));
    taken.resize(ranks);
    for (std::size_t from = 0; from < ranks; ++from) taken[from] = op.shares[from * ranks + me];
  }
  const std::size_t from = reduces(p.collective) ? 0 : (me + 1) % ranks;
  ShareLists lists{.input = listed(given, from), .output = listed(taken, from)};
  const bool root_alone = p.collective == Collective::gather || p.collective == Collective::scatter;
  if (!root_alone || rank == p.root) return lists;
  for (ShareLists::List* list : {&lists.input, &lists.output})
    for (std::size_t r = 0; r < ranks; ++r)
      if (r != me) list->count[r] = list->first[r] = 0;
  return lists;
}

/// Elements of a buffer that holds all shares.
std::uint64_t whole_of(const Binding& b, Buffer buffer, int ranks) {
  if (b.tables[0].count == nullptr) return b.count;
  std::uint64_t count = 0;
  for (Rank rank = 0; rank < ranks; ++rank) count += share_extent(b, buffer, rank).count;
  return count;
}

}  // namespace

Machine::Machine(const Setting& setting, std::span<const Operation> operations, bool explain)
    : setting_(setting),
      operations_(operations),
      explain_(explain),
      size_(setting.shape.ranks()),
      expressions_(setting.shape.ranks()) {
  const auto operation_count = operations.size();
  for (const Operation& op : operations) {
    const Binding common = bind(op);
    std::uint64_t count = op.shares.empty() ? common.count : 0;
    const std::size_t first = lists_.size();
    for (Rank rank = 0; rank < size_; ++rank) {
      bindings_.push_back(common);
      if (op.shares.empty()) continue;
      const ShareLists& lists = lists_.emplace_back(lists_for(op, rank));
      lists.bind_to(bindings_.back());
      count = std::max({count, total_of(lists.input), total_of(lists.output)});
    }
    for (std::size_t rank = 0; rank < op.programs.size() && !op.shares.empty(); ++rank) {
      // What node-mates say of their shares, whatever the rank itself knows.
      const auto count_of = [&](const BundleItem& item) {
        const ShareLists& said = lists_[first + static_cast<std::size_t>(item.owner)];
        return (item.buffer == Buffer::output ? said.output : said.input).count[static_cast<std::size_t>(item.share)];
      };
      find_starts(op.programs[rank].bundles, starts_.emplace_back(), count_of);
      bindings_[bindings_.size() - op.programs.size() + rank].bundles = starts_.back().data();
    }
    max_count_ = std::max(max_count_, count);
    expected_.emplace_back(count);
    for (const Program& p : op.programs) max_lanes_ = std::max(max_lanes_, static_cast<int>(p.lanes.size()));
  }
  streams_.resize(operation_count);
  ranks_.resize(operation_count * static_cast<std::size_t>(size_));
  sent_.resize(static_cast<std::size_t>(size_));
  report_.canonical = true;
  lay_out();
}

void Machine::lay_out() {
  std::uint64_t window[kBanks] = {};
  for (int n = 0; n < static_cast<int>(operations_.size()); ++n) {
    std::uint64_t& arena = window[n % kBanks];
    arena = std::max(arena, binding(n, 0).window_bytes / kElementBytes);
  }
  std::size_t next = 0;
  for (Rank rank = 0; rank < size_; ++rank) {
    for (const std::uint64_t elements : {max_count_, max_count_, window[0], window[1]}) {
      areas_.push_back(next);
      next += elements;
    }
  }
  areas_.push_back(next);
  memory_.emplace(next);

  std::uint32_t component = 0;
  for (Rank rank = 0; rank < size_; ++rank) {
    callers_.push_back(component++);
    for (int lane = 0; lane < max_lanes_; ++lane) {
      bool net = false;
      for (const Operation& op : operations_) {
        const auto& lanes = op.programs[static_cast<std::size_t>(rank)].lanes;
        net |= static_cast<std::size_t>(lane) < lanes.size() &&
               lanes[static_cast<std::size_t>(lane)].kind == LaneKind::net;
      }
      lane_components_.push_back(component);
      component += net ? 2 : 1;
    }
  }
  hops_ = component++;
  width_ = component;
  clocks_.emplace(width_);
  for (int n = 0; n < static_cast<int>(operations_.size()); ++n)
    for (Rank rank = 0; rank < size_; ++rank) at(n, rank).semaphores.resize(program(n, rank).semaphores.size());
}

Machine::Area Machine::area_of(int n, Rank rank, Buffer buffer) const {
  if (buffer == Buffer::window) return n % kBanks == 0 ? Area::window0 : Area::window1;
  return buffer == Buffer::input || in_place(n, rank) ? Area::first : Area::second;
}

Extent Machine::held(int n, Rank rank, Buffer buffer) const {
  const bool is_root = rank == root(n);
  const Binding& b = binding(n, rank);
  switch (buffer == Buffer::input ? input_part(collective(n), is_root) : output_part(collective(n), is_root)) {
    case Part::none:
      return {};
    case Part::share:
      return share_extent(b, buffer, rank);
    case Part::whole:
      return {0, whole_of(b, buffer, size_)};
  }
  return {};
}

std::uint32_t Machine::tag(int n, std::size_t element) const {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(n) * max_count_ + element);
}

Report Machine::run() {
  for (Rank rank = 0; rank < size_; ++rank) begin_call(rank, 0);
  for (int lane = next_lane(); lane >= 0; lane = next_lane()) run_lane(lane);
  if (finished_ != size_) fail_stuck();
  check_semaphores();
  for (std::uint64_t sent : sent_) report_.sent = std::max(report_.sent, sent);
  return report_;
}

void Machine::wake(int lane) {
  const Rank rank = lanes_[static_cast<std::size_t>(lane)].rank;
  runnable_[rank == setting_.ahead ? kAhead : rank == setting_.behind ? kBehind : kNormal].push_back(lane);
}

/// A lane that may be able to go on; −1 when there is none.
int Machine::next_lane() {
  for (const Urgency urgency : {kAhead, kNormal, kBehind}) {
    if (runnable_[urgency].empty()) continue;
    const int lane = runnable_[urgency].back();
    runnable_[urgency].pop_back();
    return lane;
  }
  return -1;
}

/// The caller writes all its user buffers: a new input, and an output that nobody may read. It knows only that its own
/// last operation has returned.
void Machine::begin_call(Rank rank, int operation) {
  const bool last = operation == static_cast<int>(operations_.size());
  Clock clock = operation == 0 ? clocks_->zero() : clocks_->copy(at(operation - 1, rank).end);
  const Epoch self{caller_component(rank), static_cast<std::uint32_t>(operation) + 1};
  const Extent input = last ? Extent{} : held(operation, rank, Buffer::input);
  for (const Area user : {Area::first, Area::second}) {
    const Cells cells{area(rank, user), max_count_};
    if (explain_) log_.push_back({self, cells, true, -1, 0, rank, operation});
    for (std::size_t e = 0; e < cells.count; ++e) {
      if (const auto conflict = memory_->write(cells.first + e, clock, self))
        fail_race(*conflict, cells.first + e, explain_ ? "the caller's next write" : "");
      const bool given = user == Area::first && e >= input.first && e < input.first + input.count;
      memory_->value(cells.first + e) = given ? Value{expressions_.leaf(rank), tag(operation, e), 0} : Value{};
    }
  }
  if (last) {
    clocks_->free(clock);
    ++finished_;
    return;
  }
  clock[self.component] = self.time;
  at(operation, rank).start = clock;
  try_start(rank, operation);
}

/// Starts the operation on `rank` if it is the rank's turn and its bank is free: all local peers are done with the
/// operation that used the bank before.
void Machine::try_start(Rank rank, int operation) {
  if (operation >= static_cast<int>(operations_.size())) return;
  RankRun& run = at(operation, rank);
  if (run.started || run.start == nullptr) return;
  if (operation >= kBanks) {
    for (Rank peer : setting_.shape.peers_of(rank))
      if (!at(operation - kBanks, peer).ended) return;
    for (Rank peer : setting_.shape.peers_of(rank)) clocks_->join(run.start, at(operation - kBanks, peer).end);
  }
  run.started = true;
  run.end = clocks_->copy(run.start);
  run.first_lane = static_cast<int>(lanes_.size());
  const auto& lanes = program(operation, rank).lanes;
  run.lanes_left = static_cast<int>(lanes.size());
  for (std::size_t k = 0; k < lanes.size(); ++k) {
    LaneRun& lane = lanes_.emplace_back();
    lane.operation = operation;
    lane.rank = rank;
    lane.number = static_cast<int>(k);
    lane.pc = lanes[k].begin;
    lane.component = lane_components_[static_cast<std::size_t>(rank * max_lanes_) + k];
    lane.clock = clocks_->copy(run.start);
    ++lane.clock[lane.component];
    if (lanes[k].kind == LaneKind::net) {
      lane.transfers_component = lane.component + 1;
      lane.completed = clocks_->copy(run.start);
      lane.posted = run.start[lane.transfers_component];
    }
    wake(static_cast<int>(lanes_.size()) - 1);
  }
  if (lanes.empty()) finish(rank, operation);
}

void Machine::run_lane(int number) {
  LaneRun& lane = lanes_[static_cast<std::size_t>(number)];
  const Program& p = program(lane.operation, lane.rank);
  const std::uint32_t end = p.lanes[static_cast<std::size_t>(lane.number)].end;
  while (lane.pc < end) {
    const Instr& in = p.instrs[lane.pc];
    if (in.op == OpCode::wait) {
      if (!wait(number, in)) return;
    } else if (in.op == OpCode::send || in.op == OpCode::recv) {
      post(number, in);
    } else {
      execute(lane, in);
    }
    ++report_.instructions;
    ++lane.pc;
  }
  if (!lane.ended && lane.transfers.empty()) end_lane(lane);
}

void Machine::execute(LaneRun& lane, const Instr& in) {
  switch (in.op) {
    case OpCode::copy:
      copy(lane, in);
      break;
    case OpCode::reduce:
      reduce(lane, in);
      break;
    case OpCode::signal:
      signal(lane, in.signal, lane.clock);
      ++lane.clock[lane.component];
      break;
    case OpCode::loop_begin:
      begin_loop(lane, in);
      break;
    case OpCode::loop_end:
      end_loop(lane, in);
      break;
    case OpCode::wait:
    case OpCode::send:
    case OpCode::recv:
      break;
  }
}

bool Machine::wait(int number, const Instr& in) {
  LaneRun& lane = lanes_[static_cast<std::size_t>(number)];
  SemaphoreRun& sem = at(lane.operation, lane.rank).semaphores[static_cast<std::size_t>(in.sem)];
  const auto initial = static_cast<std::uint32_t>(
      program(lane.operation, lane.rank).semaphores[static_cast<std::size_t>(in.sem)].initial);
  if (sem.signals + initial < sem.consumed + in.times) {
    sem.waiter = number;
    return false;
  }
  mark(lane, in.op, static_cast<std::uint64_t>(in.sem), in.times);
  for (std::uint32_t k = 0; k < in.times; ++k, ++sem.consumed) {
    if (sem.consumed < initial) continue;  // a credit: nothing has happened before it
    clocks_->join(lane.clock, sem.made.front());
    clocks_->free(sem.made.front());
    sem.made.pop_front();
  }
  return true;
}

/// Adds one thing that the lane does to the run's behaviour.
void Machine::mark(const LaneRun& lane, OpCode op, std::uint64_t a, std::uint64_t b) {
  const auto who = static_cast<std::uint64_t>(lane.rank) << 16U | static_cast<std::uint64_t>(lane.number);
  std::uint64_t& hash = report_.behaviour;
  hash = hashed(hashed(hashed(hash, who << 8U | static_cast<std::uint64_t>(op)), a), b);
}

void Machine::begin_loop(LaneRun& lane, const Instr& in) {
  const auto& slices = program(lane.operation, lane.rank).slices;
  const std::uint32_t trips = trips_of(in, binding(lane.operation, lane.rank), slices.data(), lane.loops);
  if (trips == 0) {
    lane.pc = in.jump;
    return;
  }
  lane.loops.i[lane.depth] = 0;
  lane.left[lane.depth] = trips;
  ++lane.depth;
}

void Machine::end_loop(LaneRun& lane, const Instr& in) {
  const int l = lane.depth - 1;
  if (--lane.left[l] > 0) {
    ++lane.loops.i[l];
    lane.pc = in.jump;
    return;
  }
  lane.loops.i[l] = 0;
  lane.depth = l;
}

void Machine::signal(const LaneRun& lane, std::int32_t index, const std::uint32_t* clock) {
  const SignalTarget& target = program(lane.operation, lane.rank).signals[static_cast<std::size_t>(index)];
  mark(lane, OpCode::signal, static_cast<std::uint64_t>(target.peer), static_cast<std::uint64_t>(target.sem));
  SemaphoreRun& sem = at(lane.operation, target.peer).semaphores[static_cast<std::size_t>(target.sem)];
  sem.made.push_back(clocks_->copy(clock));
  if (target.peer != lane.rank) ++sem.made.back()[hops_];
  ++sem.signals;
  if (sem.waiter >= 0) {
    wake(sem.waiter);
    sem.waiter = -1;
  }
}

void Machine::end_lane(LaneRun& lane) {
  lane.ended = true;
  RankRun& run = at(lane.operation, lane.rank);
  clocks_->join(run.end, lane.clock);
  clocks_->free(lane.clock);
  if (lane.completed != nullptr) {
    clocks_->join(run.end, lane.completed);
    clocks_->free(lane.completed);
  }
  if (--run.lanes_left == 0) finish(lane.rank, lane.operation);
}

void Machine::finish(Rank rank, int operation) {
  check_result(rank, operation);
  if (synchronizes(collective(operation)) && this->operation(operation).shares.empty()) check_begun(rank, operation);
  RankRun& run = at(operation, rank);
  run.ended = true;
  clocks_->free(run.start);
  begin_call(rank, operation + 1);
  for (Rank peer : setting_.shape.peers_of(rank)) try_start(peer, operation + kBanks);
}

/// Nobody may leave before everybody has come.
void Machine::check_begun(Rank rank, int n) {
  const Clock end = at(n, rank).end;
  for (Rank peer = 0; peer < size_; ++peer) {
    if (known({caller_component(peer), static_cast<std::uint32_t>(n) + 1}, end)) continue;
    fail(Fault::result,
         [&] { return fmt::format("operation {}: rank {} can finish before rank {} has begun", n, rank, peer); });
  }
  if (collective(n) == Collective::barrier) report_.steps = std::max(report_.steps, static_cast<int>(end[hops_]));
}

void Machine::check_result(Rank rank, int n) {
  const std::size_t base = area(rank, area_of(n, rank, Buffer::output));
  const Extent output = held(n, rank, Buffer::output);
  const bool reduced = reduces(collective(n));
  for (std::size_t e = output.first; e < output.first + output.count; ++e) {
    const Value& value = memory_->value(base + e);
    if (reduced)
      check_reduction(rank, n, e, value);
    else
      check_moved(rank, n, e, value);
    report_.steps = std::max(report_.steps, static_cast<int>(value.steps));
    ++report_.elements;
  }
}

/// Every rank's element once, and the same expression wherever it is kept.
void Machine::check_reduction(Rank rank, int n, std::size_t e, const Value& value) {
  Expr& expected = expected_[static_cast<std::size_t>(n)][e];
  if (value.expr == 0 || value.element != tag(n, e)) fail_result(rank, n, e, value);
  if (expected == 0) {
    if (!expressions_.complete(value.expr)) fail_result(rank, n, e, value);
    expected = value.expr;
    if (!expressions_.canonical(value.expr)) report_.canonical = false;
  }
  if (expected != value.expr) fail_result(rank, n, e, value);
}

/// Where output element `e` of `rank` must come from.
Machine::Origin Machine::origin_of(Rank rank, int n, std::size_t e) const {
  const Collective form = collective(n);
  if (form == Collective::broadcast) return {root(n), e};
  const Binding& mine = binding(n, rank);
  const auto lies_in = [&](Rank share) {
    const Extent at = share_extent(mine, Buffer::output, share);
    return e >= at.first && e < at.first + at.count;
  };
  Rank share = mine.tables[1].count == nullptr ? static_cast<Rank>(e / mine.share) : 0;
  while (!lies_in(share)) ++share;
  const std::uint64_t into = e - share_extent(mine, Buffer::output, share).first;
  const Rank source = form == Collective::scatter ? root(n) : share;
  // What rank s gives to rank d of an all-to-all lies at d in its input, and at s in d's output.
  const Rank given = form == Collective::all_to_all ? rank : share;
  return {source, share_extent(binding(n, source), Buffer::input, given).first + into};
}

/// One rank's element as it was given.
void Machine::check_moved(Rank rank, int n, std::size_t e, const Value& value) {
  const auto [source, given] = origin_of(rank, n, e);
  if (value.expr == expressions_.leaf(source) && value.element == tag(n, given)) return;
  fail(Fault::result, [&, source = source, given = given] {
    const std::string output = fmt::format("operation {}, rank {}: output element {}", n, rank, e);
    if (value.expr == 0) return output + " is never written";
    return fmt::format("{} is element {} of {} of operation {}, not element {} of {}", output,
                       value.element % max_count_, expressions_.text(value.expr), value.element / max_count_, given,
                       source);
  });
}

void Machine::check_semaphores() {
  for (int n = 0; n < static_cast<int>(operations_.size()); ++n) {
    for (Rank rank = 0; rank < size_; ++rank) {
      const auto& semaphores = at(n, rank).semaphores;
      for (std::size_t s = 0; s < semaphores.size(); ++s) {
        // Credits may stay; more signals than waits may not.
        if (semaphores[s].signals <= semaphores[s].consumed) continue;
        fail(Fault::semaphore, [&] {
          return fmt::format("operation {}, rank {}: semaphore s{} gets {} signals and consumes {}", n, rank, s,
                             semaphores[s].signals, semaphores[s].consumed);
        });
      }
    }
  }
}

}  // namespace umbel::algos::check
