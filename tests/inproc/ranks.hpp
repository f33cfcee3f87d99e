// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Ranks as threads: an all-gather among the threads of a test, and a runner that gives each a communicator.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "runtime/communicator.hpp"

namespace umbel::test {

/// A barrier and an all-gather for `size` threads. A thread that leaves for good makes the others' waits throw.
class Gathering {
 public:
  explicit Gathering(int size) : size_(size) {}

  void barrier() {
    std::unique_lock lock(mutex_);
    arrive(lock);
  }

  void allgather(int rank, const void* send, void* recv, std::size_t bytes) {
    std::unique_lock lock(mutex_);
    if (bytes_.size() < bytes * static_cast<std::size_t>(size_)) bytes_.resize(bytes * static_cast<std::size_t>(size_));
    if (bytes != 0) std::memcpy(bytes_.data() + bytes * static_cast<std::size_t>(rank), send, bytes);
    arrive(lock);
    if (bytes != 0) std::memcpy(recv, bytes_.data(), bytes * static_cast<std::size_t>(size_));
    arrive(lock);
  }

  void leave() {
    const std::lock_guard lock(mutex_);
    left_ = true;
    changed_.notify_all();
  }

  net::Bootstrap bootstrap(int rank) {
    return {.rank = rank,
            .size = size_,
            .allgather = [this, rank](const void* send, void* recv,
                                      std::size_t bytes) { allgather(rank, send, recv, bytes); },
            .barrier = [this] { barrier(); }};
  }

 private:
  void arrive(std::unique_lock<std::mutex>& lock) {
    const unsigned round = round_;
    if (++arrived_ == size_) {
      arrived_ = 0;
      ++round_;
      changed_.notify_all();
      return;
    }
    changed_.wait(lock, [&] { return round_ != round || left_; });
    if (round_ == round) throw std::runtime_error("a rank of the test has left");
  }

  int size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::byte> bytes_;
  int arrived_ = 0;
  unsigned round_ = 0;
  bool left_ = false;
};

/// What became of each rank: "" or the text of what it threw, with the class in front: "Timeout: …".
using Outcome = std::vector<std::string>;

inline std::string outcome_of(const std::function<void()>& work) {
  try {
    work();
    return "";
  } catch (const MismatchError& error) {
    return std::string("Mismatch: ") + error.what();
  } catch (const TimeoutError& error) {
    return std::string("Timeout: ") + error.what();
  } catch (const PeerFailure& error) {
    return std::string("Peer: ") + error.what();
  } catch (const InvalidArgument& error) {
    return std::string("Invalid: ") + error.what();
  } catch (const Unsupported& error) {
    return std::string("Unsupported: ") + error.what();
  } catch (const std::exception& error) {
    return std::string("Other: ") + error.what();
  }
}

/// Runs `work` on `ranks` threads.
inline Outcome run_threads(int ranks, const std::function<void(int rank, Gathering&)>& work) {
  Gathering gathering(ranks);
  Outcome outcome(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      std::string& text = outcome[static_cast<std::size_t>(rank)];
      text = outcome_of([&] { work(rank, gathering); });
      if (!text.empty()) gathering.leave();
    });
  for (std::thread& thread : threads) thread.join();
  return outcome;
}

/// Small windows, a short deadline; never the environment's configuration.
inline runtime::CommOptions test_options(const std::string& placement = "",
                                         std::chrono::milliseconds timeout = std::chrono::seconds(60)) {
  runtime::CommOptions options;
  options.config.emplace();
  options.config->timeout = timeout;
  options.config->window_bytes = 2U << 20U;
  options.config->tuning = "off";
  options.placement = placement;
  return options;
}

inline Outcome run_ranks(int ranks, const runtime::CommOptions& options,
                         const std::function<void(runtime::Communicator&, Gathering&)>& work) {
  return run_threads(ranks, [&](int rank, Gathering& gathering) {
    const auto communicator = runtime::Communicator::create(gathering.bootstrap(rank), options);
    work(*communicator, gathering);
  });
}

}  // namespace umbel::test
