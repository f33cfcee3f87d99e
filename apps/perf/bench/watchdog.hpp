// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Looks after calls that may never return and cannot be asked: a peer's blocking collective, when another rank is dead.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace umbel::bench {

/// A thread of its own, asleep but for two looks a second, so that nothing is added to what is timed.
///
///   const Watchdog::Guard guard = watchdog.guard("MPI_Allreduce");   // before the clock starts
///   MPI_Allreduce(…);
class Watchdog {
 public:
  using Seconds = std::chrono::duration<double>;
  /// Why the call must be given up, after so long; empty while it may go on. Called by the watchdog's thread.
  using Judge = std::function<std::string(const char* what, Seconds lasted)>;
  /// Ends the process. Called by the watchdog's thread, while the guarded call has not returned and never will.
  using End = std::function<void(const std::string& reason)>;

  Watchdog(Judge judge, End end);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  /// A call is under way for as long as this lives.
  class Guard {
   public:
    Guard(Watchdog& watchdog, const char* what) : watchdog_(watchdog) { watchdog_.arm(what); }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    ~Guard() { watchdog_.disarm(); }

   private:
    Watchdog& watchdog_;
  };
  /// One at a time. @param what  a static string
  Guard guard(const char* what) { return {*this, what}; }

 private:
  using Clock = std::chrono::steady_clock;

  void arm(const char* what);
  void disarm();
  void run();

  Judge judge_;
  End end_;
  std::mutex mutex_;  // held while a call is judged: one that returns after all must not go on in a process that ends
  std::condition_variable stop_asked_;
  bool stopping_ = false;
  const char* what_ = nullptr;  // the call under way
  Clock::time_point since_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace umbel::bench
