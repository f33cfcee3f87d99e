// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/progress.hpp"

namespace umbel::runtime {

void Progress::run(const CallArgs& args, InPlace in_place) {
  if (runner_.must_meet()) {
    runner_.begin({.collective = Collective::barrier}, InPlace::no);
    run_round_by_round();
  }
  runner_.begin(args, in_place);
  run_round_by_round();
}

void Progress::run_round_by_round() {
  waiter_.reset();
  for (Round round = runner_.advance(); round != Round::finished; round = runner_.advance())
    settle(round, runner_.networked() ? Awaited::moved_network : Awaited::node_mates);
}

void Progress::complete(const Operation& operation) {
  waiter_.reset();
  try {
    while (!operation.done) settle(started_.advance(), Awaited::network, operation.exchange != nullptr);
  } catch (...) {
    started_.fail(std::current_exception());
  }
  throw_error(operation);
}

void Progress::step() {
  try {
    started_.advance();
  } catch (...) {
    started_.fail(std::current_exception());
  }
}

std::exception_ptr Progress::advance() {
  try {
    advance_some();
    return nullptr;
  } catch (...) {
    started_.fail(std::current_exception());
    return std::current_exception();
  }
}

void Progress::advance_some() {
  constexpr int kRounds = 64;
  Round round = started_.advance();
  for (int n = 1; n < kRounds && round == Round::moved; ++n) round = started_.advance();
  if (round != Round::idle || started_.empty()) {
    idle_since_ = Clock::time_point{};
    if (health_.failed()) health_.look(std::chrono::nanoseconds{0});
    return;
  }
  const Clock::time_point now = Clock::now();
  if (idle_since_ == Clock::time_point{}) idle_since_ = now;
  look(now - idle_since_, started_.exchanges_alone());
}

/// Between two rounds of a wait.
void Progress::settle(Round round, Awaited awaited, bool for_an_exchange) {
  if (round == Round::moved) waiter_.reset();
  if (round == Round::idle)
    look(waiter_.idle(awaited), for_an_exchange);
  else if (health_.failed())
    health_.look(std::chrono::nanoseconds{0});
}

void Progress::look(std::chrono::nanoseconds waited, bool for_an_exchange) {
  if (for_an_exchange)
    point_to_point_.look(waited);
  else
    health_.look(waited);
}

}  // namespace umbel::runtime
