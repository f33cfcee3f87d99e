// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "kernels/interpreter.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <initializer_list>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "kernels/host/host_agent.hpp"
#include "kernels/host/reduce.hpp"
#include "kernels/semaphore.hpp"
#include "kernels/validate.hpp"
#include "unit/kernels/data.hpp"
#include "unit/kernels/job.hpp"

namespace umbel::kernels {
namespace {

using test::Job;
using test::Random;

/// Fills all inputs and returns the fold of them that every rank should get.
std::vector<std::uint8_t> fill(Job& job, const Job::Options& options, Random& random) {
  std::vector<const void*> inputs;
  const std::size_t size = size_of(options.dtype);
  for (Rank rank = 0; rank < job.ranks(); ++rank) {
    for (std::size_t i = 0; i < options.count; ++i) {
      const test::Word word = test::tame_word(options.dtype, random);
      std::memcpy(job.input(rank) + i * size, &word, size);
    }
    std::memset(job.output(rank), 0xee, options.count * size);
    inputs.push_back(job.input(rank));
  }
  std::vector<std::uint8_t> expected(options.count * size);
  reduce(options.dtype, options.op, expected.data(), inputs.data(), job.ranks(), options.count,
         static_cast<std::uint32_t>(job.ranks()));
  return expected;
}

/// Runs all ranks' lanes in turn on this thread. @return whether all lanes came to their end.
bool run_in_turn(Job& job, std::uint32_t epoch) {
  struct Running {
    ProgramView view;
    LaneState state;
    HostAgent* agent;
  };
  std::vector<HostAgent> agents;
  agents.reserve(static_cast<std::size_t>(job.ranks()));
  std::vector<Running> running;
  job.begin_run();
  for (Rank rank = 0; rank < job.ranks(); ++rank) {
    agents.emplace_back(job.context(rank, epoch));
    for (const Lane& lane : job.program(rank).lanes) {
      running.push_back({job.view(rank), start_of(lane), &agents.back()});
    }
  }
  for (;;) {
    bool moved = false;
    bool open = false;
    for (Running& r : running) {
      const Step did = step(r.view, r.state, *r.agent);
      moved = moved || did == Step::advanced;
      open = open || did != Step::done;
    }
    if (!open) return true;
    if (!moved) return false;  // a deadlock
  }
}

std::vector<Program> gather_programs(int ranks, int blocks, int depth) {
  std::vector<Program> programs;
  for (Rank rank = 0; rank < ranks; ++rank) {
    programs.push_back(test::gather_program(rank, ranks, blocks, depth));
    validate(programs.back());
  }
  return programs;
}

void expect_gather(int ranks, int blocks, int depth, const Job::Options& options) {
  Job job(gather_programs(ranks, blocks, depth), options);
  Random random(3);
  for (std::uint32_t epoch = 1; epoch <= 3; ++epoch) {  // nothing is reset between runs but the counters
    const std::vector<std::uint8_t> expected = fill(job, options, random);
    ASSERT_TRUE(run_in_turn(job, epoch));
    for (Rank rank = 0; rank < ranks; ++rank) {
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(), job.output(rank)))
          << "rank " << rank << " of " << ranks << ", count " << options.count << ", depth " << depth << ", epoch "
          << epoch;
    }
  }
}

TEST(Interpreter, LoopsSlotsAndWaits) {
  for (int ranks : {1, 2, 3, 5}) {
    for (int depth : {1, 2, 3}) {
      for (std::uint64_t count : std::initializer_list<std::uint64_t>{0, 1, 2, 5, 127, 1000, 4099}) {
        Job::Options options;
        options.count = count;
        options.cut = {1000, 96};  // 250 elements a piece, 24 a chunk
        expect_gather(ranks, 3, depth, options);
      }
    }
  }
}

TEST(Interpreter, OnePieceOneBlockOneChunk) {
  Job::Options options;
  options.count = 333;
  expect_gather(3, 1, 1, options);
}

TEST(Interpreter, GoesOnInsideAnInstruction) {
  for (std::uint64_t bytes : std::initializer_list<std::uint64_t>{1, 7, 64, 600}) {
    for (std::uint32_t instrs : std::initializer_list<std::uint32_t>{1, 2, 5}) {
      Job::Options options;
      options.dtype = DType::fp16;
      options.op = RedOp::avg;
      options.count = 1501;
      options.cut = {2000, 400};
      options.limits = {bytes, instrs};
      expect_gather(3, 2, 2, options);
    }
  }
}

TEST(HostAgentTest, ReadsWhatIsNotMapped) {
  constexpr int kRanks = 3;
  for (std::uint64_t limit : std::initializer_list<std::uint64_t>{1000, 1 << 20}) {
    Job::Options options;
    options.dtype = DType::bf16;
    options.count = 300001;  // more than the bounce buffer holds
    options.peers_unmapped = true;
    options.limits.bytes = limit;
    Job job(std::vector<Program>(kRanks, test::direct_program(kRanks)), options);
    validate(job.program(0));
    Random random(17);
    const std::vector<std::uint8_t> expected = fill(job, options, random);
    HostAgent agent(job.context(0, 1));
    LaneState fold = start_of(job.program(0).lanes[0]);
    while (step(job.view(0), fold, agent) != Step::done) {
    }
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), job.output(0)));
    LaneState copy = start_of(job.program(0).lanes[1]);
    while (step(job.view(0), copy, agent) != Step::done) {
    }
    EXPECT_EQ(std::memcmp(job.output(0), job.input(kRanks - 1), expected.size()), 0);
  }
}

TEST(Interpreter, AStepIsBounded) {
  Job::Options options;
  options.dtype = DType::uint8;
  options.count = 1 << 20;
  options.limits.bytes = 64 << 10;
  Job job({test::direct_program(1)}, options);
  HostAgent agent(job.context(0, 1));
  LaneState lane = start_of(job.program(0).lanes[0]);
  int steps = 0;
  while (step(job.view(0), lane, agent) != Step::done) ++steps;
  EXPECT_EQ(steps, 16);
}

TEST(Interpreter, BlockedMeansNothingWasDone) {
  Program p;
  p.semaphores.push_back({0, 1});
  Instr in;
  in.op = OpCode::wait;
  in.sem = 0;
  p.instrs.assign(2, in);
  p.lanes.push_back({LaneKind::memory, 0, 2});
  Job job({p}, {});
  HostAgent agent(job.context(0, 5));
  LaneState lane = start_of(p.lanes[0]);
  EXPECT_EQ(step(job.view(0), lane, agent), Step::advanced);  // the initial credit
  EXPECT_EQ(step(job.view(0), lane, agent), Step::blocked);
  signal(*job.context(0, 5).own[0], 4, 100);  // of an earlier run
  EXPECT_EQ(step(job.view(0), lane, agent), Step::blocked);
  signal(*job.context(0, 5).own[0], 5, 1);
  EXPECT_EQ(step(job.view(0), lane, agent), Step::done);
}

/// Two ranks' net lanes in one process. Refuses to post at first, completes transfers late.
class MailAgent {
 public:
  static constexpr LaneKind kKind = LaneKind::net;
  using Operand = HostAgent::Operand;

  MailAgent(HostAgent& memory, const ProgramView& view, std::deque<std::vector<std::byte>>& mail)
      : memory_(memory), view_(view), mail_(mail) {}

  bool arrived(std::int32_t sem, std::uint32_t count) { return memory_.arrived(sem, count); }
  void signal(std::int32_t signal, std::uint32_t count) { memory_.signal(signal, count); }
  Operand resolve(const Slice& slice, std::uint64_t offset) { return memory_.resolve(slice, offset); }
  bool send(const Instr& in, const Operand& src, std::uint64_t bytes) { return post(in, src, bytes); }
  bool recv(const Instr& in, const Operand& dst, std::uint64_t bytes) { return post(in, dst, bytes); }
  bool drained() const { return posted_.empty(); }

  /// Completes the oldest transfer if its time has come. @return whether it did.
  bool progress() {
    if (posted_.empty()) return false;
    const Posted next = posted_.front();
    if (next.instr->op == OpCode::recv) {
      if (mail_.empty()) return false;
      EXPECT_EQ(mail_.front().size(), next.bytes);
      if (next.bytes != 0) std::memcpy(next.operand.mapped, mail_.front().data(), next.bytes);
      mail_.pop_front();
    } else {
      mail_.emplace_back(next.operand.mapped, next.operand.mapped + next.bytes);
    }
    posted_.pop_front();
    complete_transfer(view_, *next.instr, *this);
    return true;
  }

 private:
  struct Posted {
    const Instr* instr;
    Operand operand;
    std::uint64_t bytes;
  };

  bool post(const Instr& in, const Operand& operand, std::uint64_t bytes) {
    refused_ = !refused_;
    if (refused_) return false;
    posted_.push_back({&in, operand, bytes});
    return true;
  }

  HostAgent& memory_;
  ProgramView view_;
  std::deque<std::vector<std::byte>>& mail_;
  std::deque<Posted> posted_;
  bool refused_ = false;
};

/// Rank 0 sends its input in chunks, rank 1 receives it as its output; each transfer signals semaphore 0 of its rank,
/// on which a memory lane waits.
Program mail_program(Rank rank) {
  Program p;
  p.rank = rank;
  p.ranks = 2;
  p.uses_chunks = true;
  Slice s;
  s.buffer = rank == 0 ? Buffer::input : Buffer::output;
  s.rank = rank;
  s.chunk.coef[0] = 1;
  p.slices.push_back(s);
  p.semaphores.push_back({rank, 0});
  p.signals.push_back({rank, 0});
  Instr begin;
  begin.op = OpCode::loop_begin;
  begin.trip = Trip::chunks;
  Instr end;
  end.op = OpCode::loop_end;
  Instr transfer;
  transfer.op = rank == 0 ? OpCode::send : OpCode::recv;
  transfer.src_count = 1;
  transfer.peer = 1 - rank;
  transfer.signal = 0;
  Instr wait;
  wait.op = OpCode::wait;
  wait.sem = 0;
  begin.jump = 2;
  end.jump = 0;
  p.instrs = {begin, transfer, end};
  begin.jump = 5;
  end.jump = 3;
  p.instrs.insert(p.instrs.end(), {begin, wait, end});
  p.lanes = {{LaneKind::net, 0, 3}, {LaneKind::memory, 3, 6}};
  return p;
}

TEST(Interpreter, NetLanesPostAndDrain) {
  for (std::uint64_t count : std::initializer_list<std::uint64_t>{0, 1, 100}) {
    Job::Options options;
    options.count = count;
    options.cut.chunk_bytes = 64;
    Job job({mail_program(0), mail_program(1)}, options);
    Random random(1);
    fill(job, options, random);
    std::deque<std::vector<std::byte>> mail;
    HostAgent memory[] = {HostAgent(job.context(0, 1)), HostAgent(job.context(1, 1))};
    MailAgent net[] = {MailAgent(memory[0], job.view(0), mail), MailAgent(memory[1], job.view(1), mail)};
    LaneState lanes[2][2];
    for (Rank rank : {0, 1}) {
      validate(job.program(rank));
      for (std::size_t k : std::initializer_list<std::size_t>{0U, 1U})
        lanes[rank][k] = start_of(job.program(rank).lanes[k]);
    }
    bool open = true;
    for (int turn = 0; open && turn < 1000; ++turn) {
      open = false;
      for (Rank rank : {0, 1}) {
        const Step posting = step(job.view(rank), lanes[rank][0], net[rank]);
        const Step waiting = step(job.view(rank), lanes[rank][1], memory[rank]);
        open = open || posting != Step::done || waiting != Step::done;
        if (turn % 3 == 2) net[rank].progress();
      }
    }
    EXPECT_FALSE(open) << count;
    EXPECT_TRUE(mail.empty());
    EXPECT_EQ(std::memcmp(job.output(1), job.input(0), count * sizeof(std::int32_t)), 0);
  }
}

TEST(Semaphores, EpochsOrderAndWrap) {
  EXPECT_TRUE(semaphore_reached(semaphore_value(3, 2), 3, 2));
  EXPECT_FALSE(semaphore_reached(semaphore_value(3, 1), 3, 2));
  EXPECT_FALSE(semaphore_reached(semaphore_value(2, 0xffffffffU), 3, 1));
  EXPECT_TRUE(semaphore_reached(semaphore_value(4, 0), 3, 100));
  EXPECT_FALSE(semaphore_reached(semaphore_value(0xffffffffU, 9), 0, 1));
  EXPECT_TRUE(semaphore_reached(semaphore_value(0, 1), 0xffffffffU, 9));
}

TEST(Validate, NamesWhatTheInterpreterCannotRun) {
  const Program good = test::gather_program(0, 3, 2, 2);
  EXPECT_NO_THROW(validate(good));
  auto broken = [&](auto change) {
    Program p = good;
    change(p);
    return p;
  };
  const Program bad[] = {
      broken([](Program& p) { p.lanes[0].kind = LaneKind::net; }),
      broken([](Program& p) { p.lanes[0].end = 1000; }),
      broken([](Program& p) { p.instrs[0].jump = 0; }),
      broken([](Program& p) { p.slices.clear(); }),
      broken([](Program& p) { p.slices[1].region = 7; }),
      broken([](Program& p) { p.slices[1].slot.depth = 0; }),
      broken([](Program& p) { p.signals.clear(); }),
      broken([](Program& p) { p.semaphores.resize(2); }),
      broken([](Program& p) { p.instrs[p.lanes[0].end - 1].op = OpCode::wait; }),
  };
  for (const Program& program : bad) EXPECT_THROW(validate(program), InvalidArgument);
}

}  // namespace
}  // namespace umbel::kernels
