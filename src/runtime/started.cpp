// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/started.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/error.hpp"

namespace umbel::runtime {

OperationRef Started::add(const CallArgs& args, InPlace in_place) {
  OperationRef operation = std::make_shared<Operation>();
  operation->args = args;
  operation->in_place = in_place;
  queue_.push_back(operation);
  count();
  return operation;
}

OperationRef Started::add(std::span<const Message> messages) {
  OperationRef operation = std::make_shared<Operation>();
  exchanges_.push_back(operation);
  try {
    operation->exchange = point_to_point_.start(messages);
  } catch (...) {
    fail(std::current_exception());
  }
  count();
  return operation;
}

Started::Round Started::advance() {
  const Round exchanges = advance_exchanges();
  return std::max(exchanges, advance_collective());
}

Started::Round Started::advance_exchanges() {
  if (exchanges_.empty()) return Round::idle;
  const Round round = point_to_point_.advance();
  // A look at the partners advances them too, so that one may be done although nothing has moved now.
  const auto done = std::erase_if(exchanges_, [](const OperationRef& operation) {
    operation->done = operation->exchange->done;
    return operation->done.load();
  });
  if (done == 0) return round;
  count();
  return Round::moved;
}

Started::Round Started::advance_collective() {
  if (queue_.empty()) return Round::idle;
  if (!runner_.active() && !begin_next()) return Round::moved;
  const Round round = runner_.advance();
  if (round != Round::finished) return round;
  if (!meeting_) {
    queue_.front()->info = runner_.last_call();
    finish_front(nullptr);
  }
  meeting_ = false;
  return Round::moved;
}

/// False when the next operation cannot be served: it is done then.
bool Started::begin_next() {
  if (runner_.must_meet()) {
    runner_.begin({.collective = Collective::barrier}, InPlace::no);
    meeting_ = true;
    return true;
  }
  try {
    runner_.begin(queue_.front()->args, queue_.front()->in_place);
    return true;
  } catch (const Unsupported&) {
    finish_front(std::current_exception());
    return false;
  }
}

void Started::finish_front(std::exception_ptr error) {
  queue_.front()->error = std::move(error);
  queue_.front()->done = true;
  queue_.pop_front();
  count();
}

void Started::fail(const std::exception_ptr& error) {
  point_to_point_.abandon();
  for (const OperationRef& operation : std::exchange(exchanges_, {})) {
    operation->error = error;
    operation->done = true;
  }
  while (!queue_.empty()) finish_front(error);
  count();
}

}  // namespace umbel::runtime
