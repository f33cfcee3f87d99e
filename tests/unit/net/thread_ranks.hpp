// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <barrier>
#include <cstddef>
#include <cstring>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "net/bootstrap.hpp"

namespace umbel::net::test {

/// A bootstrap among threads of this process: a shared board and a barrier.
class ThreadBoard {
 public:
  explicit ThreadBoard(int size) : size_(size), barrier_(size) {}

  Bootstrap bootstrap(int rank) {
    Bootstrap b;
    b.rank = rank;
    b.size = size_;
    b.barrier = [this] { barrier_.arrive_and_wait(); };
    b.allgather = [this, rank](const void* send, void* recv, std::size_t bytes) {
      if (rank == 0) board_.assign(bytes * static_cast<std::size_t>(size_), '\0');
      barrier_.arrive_and_wait();
      if (bytes != 0) std::memcpy(board_.data() + bytes * static_cast<std::size_t>(rank), send, bytes);
      barrier_.arrive_and_wait();
      if (bytes != 0) std::memcpy(recv, board_.data(), board_.size());
      barrier_.arrive_and_wait();
    };
    return b;
  }

 private:
  int size_;
  std::barrier<> barrier_;
  std::string board_;
};

/// Runs `body` once per rank, each in a thread; rethrows the first exception.
inline void run_ranks(int size, const std::function<void(const Bootstrap&)>& body) {
  ThreadBoard board(size);
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        body(board.bootstrap(rank));
      } catch (...) {
        errors[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace umbel::net::test
