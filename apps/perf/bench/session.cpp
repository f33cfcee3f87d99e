// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "session.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "memory.hpp"

namespace umbel::bench {
namespace {

using Clock = std::chrono::steady_clock;

void mpi_check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw std::runtime_error(fmt::format("{} failed: {}", what, text.data()));
}

struct PlacePod {
  std::array<char, 256> host;
  std::uint64_t pid_namespace;
  int pid;
};

std::uint64_t own_pid_namespace() {
  struct stat status {};
  return ::stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

std::vector<RankPlace> gather_places(MPI_Comm comm, int size) {
  PlacePod mine{};
  ::gethostname(mine.host.data(), mine.host.size() - 1);
  mine.pid = static_cast<int>(::getpid());
  mine.pid_namespace = own_pid_namespace();
  std::vector<PlacePod> all(static_cast<std::size_t>(size));
  mpi_check(MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, all.data(), sizeof(mine), MPI_BYTE, comm), "MPI_Allgather");
  std::vector<RankPlace> places;
  for (const PlacePod& place : all) places.push_back({place.host.data(), place.pid, place.pid_namespace});
  return places;
}

std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING + 1> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  std::string version(text.data(), static_cast<std::size_t>(length));
  version.resize(std::min(version.size(), version.find_first_of(",\n")));
  std::string words;  // MPICH's has tabs in it
  std::istringstream in(version);
  for (std::string word; in >> word;) words += words.empty() ? word : " " + word;
  return words;
}

/// The letter of /proc/PID/stat: R, S, T (stopped), Z (dead, not yet collected); 0 when there is no such process.
char process_state(int pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  return name_end == std::string::npos || name_end + 2 >= text.size() ? '\0' : text[name_end + 2];
}

MPI_Op op_of(Across across) {
  switch (across) {
    case Across::rank0:
    case Across::mean:
      return MPI_SUM;
    case Across::minimum:
      return MPI_MIN;
    case Across::maximum:
      return MPI_MAX;
  }
  return MPI_MAX;
}

}  // namespace

Session::Session(int* argc, char*** argv) {
  int provided = 0;  // the watchdog's thread does not call MPI
  mpi_check(MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  mpi_check(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "MPI_Comm_dup");
  // a failure is ours to report, with the exit status that the tool documents
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
  places_ = gather_places(comm_, size_);
  mpi_version_ = library_version();
}

void Session::wait(MPI_Request& request, const char* what) {
  constexpr auto kCheckInterval = std::chrono::milliseconds(100);
  constexpr unsigned kTestsPerLook = 256;  // at the clock
  const Clock::time_point start = Clock::now();
  Clock::time_point next_check = start + kCheckInterval;
  for (unsigned tests = 1;; ++tests) {
    int done = 0;
    mpi_check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), what);
    if (done != 0) return;
    ::sched_yield();
    if (tests % kTestsPerLook != 0) continue;
    const Clock::time_point now = Clock::now();
    if (now < next_check) continue;
    next_check = now + kCheckInterval;
    if (check_) check_();
    if (now - start > timeout_) {
      throw std::runtime_error(overdue(what));
    }
  }
}

Watchdog::Guard Session::guard(const char* what) {
  if (!watchdog_) {
    const auto judge = [this](const char* call, Watchdog::Seconds lasted) {
      if (lasted > timeout_) return overdue(call);
      const std::string dead = suspects(true);
      return dead.empty() ? dead : call + dead;
    };
    watchdog_.emplace(judge, [this](const std::string& reason) { die(reason, kExitFailure); });
  }
  return watchdog_->guard(what);
}

std::string Session::overdue(const char* what) const {
  return fmt::format("{}: other ranks have not come for {:g} s (the deadline){}", what, timeout_.count(), suspects());
}

/// What can be seen of the other ranks' processes. libumbel knows more, but says it only of its own calls.
std::string Session::suspects(bool only_dead) const {
  const RankPlace& own = places_[static_cast<std::size_t>(rank_)];
  std::string text;
  for (int rank = 0; rank < size_; ++rank) {
    const RankPlace& place = places_[static_cast<std::size_t>(rank)];
    if (place.host != own.host || place.pid_namespace != own.pid_namespace) continue;
    const char state = process_state(place.pid);
    if (state == '\0' || state == 'Z') text += fmt::format("; rank {} (pid {}) is dead", rank, place.pid);
    if (!only_dead && (state == 'T' || state == 't')) {
      text += fmt::format("; rank {} (pid {}) is stopped", rank, place.pid);
    }
  }
  return text;
}

void Session::barrier() {
  MPI_Request request = MPI_REQUEST_NULL;
  mpi_check(MPI_Ibarrier(comm_, &request), "MPI_Ibarrier");
  wait(request, "MPI_Ibarrier");
}

void Session::combine(std::vector<double>& values, Across across) {
  if (values.size() > static_cast<std::size_t>(INT_MAX))
    throw std::runtime_error("too many iterations for MPI's counts");
  if (across == Across::rank0 && !is_root()) std::ranges::fill(values, 0.0);
  MPI_Request request = MPI_REQUEST_NULL;
  mpi_check(MPI_Iallreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, op_of(across),
                           comm_, &request),
            "MPI_Iallreduce");
  wait(request, "MPI_Iallreduce");
  if (across != Across::mean) return;
  for (double& value : values) value /= size_;
}

std::uint64_t Session::sum(std::uint64_t value) {
  MPI_Request request = MPI_REQUEST_NULL;
  mpi_check(MPI_Iallreduce(MPI_IN_PLACE, &value, 1, MPI_UINT64_T, MPI_SUM, comm_, &request), "MPI_Iallreduce");
  wait(request, "MPI_Iallreduce");
  return value;
}

int Session::broadcast(int value) {
  MPI_Request request = MPI_REQUEST_NULL;
  mpi_check(MPI_Ibcast(&value, 1, MPI_INT, 0, comm_, &request), "MPI_Ibcast");
  wait(request, "MPI_Ibcast");
  return value;
}

std::vector<int> Session::gather(int value) {
  std::vector<int> values(static_cast<std::size_t>(size_));
  MPI_Request request = MPI_REQUEST_NULL;
  mpi_check(MPI_Iallgather(&value, 1, MPI_INT, values.data(), 1, MPI_INT, comm_, &request), "MPI_Iallgather");
  wait(request, "MPI_Iallgather");
  return values;
}

void Session::finalize() {
  MPI_Comm_free(&comm_);
  MPI_Finalize();
}

void Session::die(const std::string& message, int status) const noexcept {
  constexpr auto kForOthersToSpeak = std::chrono::milliseconds(1000);
  std::fflush(stdout);
  try {
    const RankPlace& place = places_[static_cast<std::size_t>(rank_)];
    const std::string line = fmt::format("rank {} on {} (pid {}): {}\n", rank_, place.host, place.pid, message);
    [[maybe_unused]] const auto written =
        ::write(STDERR_FILENO, line.data(), line.size());  // one call: lines stay whole
    if (last_words_) last_words_();
  } catch (...) {
    // the failure itself matters more than what could not be saved
  }
  try {
    std::this_thread::sleep_for(kForOthersToSpeak);
  } catch (...) {
  }
  ::_exit(status);
}

std::string Session::memory_problem(double buffer_bytes, std::uint64_t max_bytes) {
  MPI_Comm host = MPI_COMM_NULL;
  mpi_check(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host), "MPI_Comm_split_type");
  int rank_on_host = 0;
  int ranks_on_host = 1;
  MPI_Comm_rank(host, &rank_on_host);
  MPI_Comm_size(host, &ranks_on_host);
  mpi_check(MPI_Allreduce(MPI_IN_PLACE, &buffer_bytes, 1, MPI_DOUBLE, MPI_SUM, host), "MPI_Allreduce");
  mpi_check(MPI_Comm_free(&host), "MPI_Comm_free");
  std::string problem;
  if (rank_on_host == 0) {
    problem = umbel::bench::memory_problem(
        {.bytes = buffer_bytes, .ranks = ranks_on_host, .max_bytes = max_bytes, .available = available_memory()});
  }
  if (!problem.empty()) problem = places_[static_cast<std::size_t>(rank_)].host + ": " + problem;
  // the lowest rank that sees a problem says it to all
  int speaker = problem.empty() ? size_ : rank_;
  mpi_check(MPI_Allreduce(MPI_IN_PLACE, &speaker, 1, MPI_INT, MPI_MIN, comm_), "MPI_Allreduce");
  if (speaker == size_) return {};
  int length = static_cast<int>(problem.size());
  mpi_check(MPI_Bcast(&length, 1, MPI_INT, speaker, comm_), "MPI_Bcast");
  problem.resize(static_cast<std::size_t>(length));
  mpi_check(MPI_Bcast(problem.data(), length, MPI_CHAR, speaker, comm_), "MPI_Bcast");
  return problem;
}

}  // namespace umbel::bench
