// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// small_calls CALLS: so many all-reduces of 8 bytes on one host × 2 ranks, for tools that count what a call costs. No
// call has to wait: the ranks are two communicators of this process, and one thread makes both ranks' calls by turns:
// rank 1 starts its own, which tells rank 0 all that it waits for, rank 0 then calls umbel_all_reduce, and rank 1 ends.
// Nothing is counted, then, that depends on what else the machine does. "begin" and "end" are written, each by one
// system call, around the calls, after a few others.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

#include "umbel/umbel.hpp"

namespace {

constexpr int kRanks = 2;
constexpr std::size_t kCount = 2;  ///< floats: 8 bytes
constexpr int kFirstCalls = 10;    ///< before "begin", in which what is made once is made

void say(std::string_view text) {
  if (::write(STDOUT_FILENO, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw std::runtime_error("cannot write to stdout");
}

/// All-gathers and barriers of the ranks, each in a thread of its own.
struct Meeting {
  std::barrier<> arrival{kRanks};
  std::array<const void*, kRanks> sent{};
};

struct Side {
  Meeting* meeting;
  int rank;
};

int allgather(void* context, const void* send, void* recv, std::size_t bytes) {
  const auto& [meeting, rank] = *static_cast<Side*>(context);
  meeting->sent[static_cast<std::size_t>(rank)] = send;
  meeting->arrival.arrive_and_wait();
  auto* to = static_cast<std::byte*>(recv);
  for (const void* from : meeting->sent) to = std::copy_n(static_cast<const std::byte*>(from), bytes, to);
  meeting->arrival.arrive_and_wait();
  return 0;
}

int meet(void* context) {
  static_cast<Side*>(context)->meeting->arrival.arrive_and_wait();
  return 0;
}

std::array<umbel::Comm, kRanks> communicators() {
  Meeting meeting;
  std::array<Side, kRanks> sides;
  std::array<umbel::Comm, kRanks> comms;
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < kRanks; ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    sides[index] = {&meeting, rank};
    threads.emplace_back([&side = sides[index], &comm = comms[index]] {
      try {
        comm = umbel::Comm({sizeof(umbel_bootstrap_t), side.rank, kRanks, &side, &allgather, &meet});
      } catch (const std::exception& error) {
        std::fprintf(stderr, "small_calls: rank %d: %s\n", side.rank, error.what());
        std::_Exit(EXIT_FAILURE);  // the other rank waits
      }
    });
  }
  threads.clear();
  return comms;
}

using Vector = std::array<float, kCount>;

void one_call(umbel::Comm& first, umbel::Comm& second, float value) {
  const Vector mine{value, 1.0F};
  const Vector theirs{2.0F, value};
  Vector my_sum{};
  Vector their_sum{};
  umbel_args_t args = UMBEL_ARGS_INIT;
  args.send = theirs.data();
  args.recv = their_sum.data();
  args.count = kCount;
  umbel_request_t request = nullptr;
  umbel::check(umbel_start(&args, second.native(), &request));
  umbel::check(umbel_all_reduce(mine.data(), my_sum.data(), kCount, UMBEL_FP32, UMBEL_SUM, first.native()));
  umbel::check(umbel_request_wait(request));
  umbel::check(umbel_request_free(request));
  if (my_sum != Vector{value + 2.0F, value + 1.0F} || my_sum != their_sum) throw std::runtime_error("a wrong sum");
}

void run(int calls) {
  std::array<umbel::Comm, kRanks> comms = communicators();
  for (int call = 0; call < kFirstCalls; ++call) one_call(comms[0], comms[1], 0);
  say("begin\n");
  for (int call = 0; call < calls; ++call) one_call(comms[0], comms[1], static_cast<float>(call));
  say("end\n");
}

}  // namespace

int main(int argc, char** argv) {
  int calls = 0;
  const char* const text = argc == 2 ? argv[1] : "";
  if (std::from_chars(text, text + std::strlen(text), calls).ec != std::errc() || calls < 1) {
    std::fputs("usage: small_calls CALLS\n", stderr);
    return 2;
  }
  try {
    run(calls);
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "small_calls: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
