// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// MPI as the perf apps use it: to start, to line ranks up, and to bring numbers together. Every wait looks after the
// Umbel communicator meanwhile, so that a dead rank ends in an error here too, not in a wait for ever inside MPI.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "options.hpp"
#include "watchdog.hpp"

namespace umbel::bench {

struct RankPlace {
  std::string host;
  int pid = 0;
  std::uint64_t pid_namespace = 0;  ///< pids mean the same where host and this are the same
};

class Session {
 public:
  /// MPI_Init.
  Session(int* argc, char*** argv);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() = default;  // finalize() is called where all is well, and only there

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  bool is_root() const noexcept { return rank_ == 0; }
  MPI_Comm comm() const noexcept { return comm_; }
  const std::vector<RankPlace>& places() const noexcept { return places_; }
  /// "Open MPI v4.1.4".
  const std::string& mpi_version() const noexcept { return mpi_version_; }

  /// Called about ten times a second during waits; throws when the run cannot go on.
  void set_health_check(std::function<void()> check) { check_ = std::move(check); }
  /// Deadline of the waits below, and of guarded calls.
  void set_timeout(std::chrono::duration<double> timeout) { timeout_ = timeout; }
  /// Called by die(), to save what there is.
  void set_last_words(std::function<void()> words) { last_words_ = std::move(words); }

  /// For a call of MPI's that blocks: when it lasts longer than the deadline, or a rank of this host is found dead, the
  /// process ends as by die(). @param what  a static string
  Watchdog::Guard guard(const char* what);

  void barrier();
  /// Element by element over the ranks; on all ranks.
  void combine(std::vector<double>& values, Across across);
  std::uint64_t sum(std::uint64_t value);
  /// Rank 0's value.
  int broadcast(int value);

  /// Every rank's value, on all ranks.
  std::vector<int> gather(int value);

  /// Why the memory of a host does not hold the buffers of its ranks; "" when all hosts' does, or when one does not
  /// say. Collective, and before any of them is made; the same text on all ranks.
  /// @param buffer_bytes  of this rank  @param max_bytes  the size of a call that they are for
  std::string memory_problem(double buffer_bytes, std::uint64_t max_bytes);

  /// MPI_Finalize. All ranks.
  void finalize();
  /// Says on stderr what went wrong on this rank, gives the others a moment to say it too (mpirun ends them when the
  /// first is gone), and exits without another word to MPI, which may never answer.
  [[noreturn]] void die(const std::string& message, int status) const noexcept;

 private:
  static constexpr std::chrono::seconds kStartTimeout{300};  // until the options or the communicator say
  void wait(MPI_Request& request, const char* what);
  std::string overdue(const char* what) const;
  std::string suspects(bool only_dead = false) const;

  int rank_ = 0;
  int size_ = 1;
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::vector<RankPlace> places_;
  std::string mpi_version_;
  std::function<void()> check_;
  std::function<void()> last_words_;
  std::chrono::duration<double> timeout_{kStartTimeout};
  std::optional<Watchdog> watchdog_;  // once there is a call to guard
};

}  // namespace umbel::bench
