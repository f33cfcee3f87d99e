// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// What the tests of known failures share: every algorithm that serves a call, one after another.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "algos/algorithm.hpp"
#include "inproc/ranks.hpp"
#include "support/cases.hpp"
#include "support/sanitized.hpp"

namespace umbel::test {

inline void expect_all_right(const Outcome& outcome) {
  for (std::size_t rank = 0; rank < outcome.size(); ++rank) EXPECT_EQ(outcome[rank], "") << "rank " << rank;
}

inline void demand(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

inline std::vector<Collective> plain_collectives() {
  std::vector<Collective> all;
  for (const Collective c : all_collectives())
    if (plain(c) == c) all.push_back(c);
  return all;
}

inline runtime::CallArgs call_of(const Case& c, const void* send, void* recv) {
  return {.collective = c.collective,
          .send = send,
          .recv = recv,
          .count = c.count,
          .dtype = c.dtype,
          .op = c.op,
          .root = c.root};
}

/// Does `work` by each algorithm that serves calls like `c`, and once by choice; under a sanitizer by every third,
/// another third for each number of ranks and elements. @throws when there is none
inline void by_each_algorithm(runtime::Communicator& comm, const Case& c, const std::function<void()>& work) {
  int served = 0;
  for (const algos::Algorithm& algorithm : algos::catalog(c.collective)) {
    if (!comm.refuses(algorithm.name, call_of(c, nullptr, nullptr)).empty()) continue;
    const std::size_t turn = static_cast<std::size_t>(++served + comm.info().ranks) + c.count;
    if (kSanitized && turn % 3 != 0) continue;
    comm.set_algorithm(fmt::format("{}:{}", name_of(c.collective), algorithm.name));
    try {
      work();
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(fmt::format("{}: {}", algorithm.name, error.what()));
    }
  }
  if (served == 0) throw std::runtime_error("nothing serves " + text_of(c));
  comm.set_algorithm("auto");
  work();
}

/// A sum of all ranks' numbers: the communicator still works.
inline void expect_usable(runtime::Communicator& comm) {
  std::int32_t value = comm.info().rank;
  comm.all_reduce(&value, &value, 1, DType::int32, RedOp::sum);
  const Rank p = comm.info().ranks;
  demand(value == p * (p - 1) / 2, "a wrong sum afterwards");
}

}  // namespace umbel::test
