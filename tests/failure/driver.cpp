// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// failure_driver MODE …: programs that go wrong in one way each, run under mpirun by the failure tests.
//   loop COUNT             all-reduce for ever, nothing of MPI in between
//   ring COUNT             send to the next rank and receive from the one before, for ever
//   absent RANK COUNT      RANK never calls
//   differ WHAT COUNT      rank 1 calls with another count, type or op (WHAT) than the others
//   vanish HOW COUNT       rank 1 dies, its buffer a moment before it, while the others read there: in a call (HOW is
//                          "call") or a message ("message")
//   leave RANK COUNT       RANK destroys its communicator while the others call
//   fork COUNT             a forked child calls, then the parent does
//   many N                 N communicators at once
// A failed call is told on stderr as "rank R: CODE: TEXT (after S s)" and ends the process with status 3.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include "umbel/umbel.hpp"
#include "umbel/umbel_mpi.h"

namespace {

using Clock = std::chrono::steady_clock;

int world_rank = 0;
int world_size = 1;

[[noreturn]] void tell_and_exit(const std::string& text, Clock::time_point start) {
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const std::string line = fmt::format("rank {}: {} (after {:.2f} s)\n", world_rank, text, seconds);
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
  ::sleep(1);  // mpirun ends the others with the first
  ::_exit(3);
}

umbel::Comm make_comm() {
  umbel_comm_t handle = nullptr;
  umbel::check(umbel_comm_create_from_mpi(&handle, MPI_COMM_WORLD, nullptr));
  return umbel::Comm(handle);
}

/// One call, which may end the process.
void call(umbel::Comm& comm, std::vector<float>& data) {
  const Clock::time_point start = Clock::now();
  try {
    comm.all_reduce_in_place(data);
  } catch (const umbel::Error& error) {
    tell_and_exit(error.what(), start);
  }
}

/// A first call that everybody makes, so that what follows is no matter of starting up.
void warm_up(umbel::Comm& comm) {
  std::vector<float> data(16, 1.0F);
  call(comm, data);
}

void announce(const char* what) {
  fmt::print("rank {} pid {} {}\n", world_rank, ::getpid(), what);
  std::fflush(stdout);
}

int run_loop(umbel::Comm& comm, std::size_t count) {
  std::vector<float> data(count, 0.0F);
  announce("loops");
  while (true) call(comm, data);
}

int run_ring(umbel::Comm& comm, std::size_t count) {
  const std::vector<float> out(count, 0.0F);
  std::vector<float> in(count);
  const int next = (world_rank + 1) % world_size, before = (world_rank + world_size - 1) % world_size;
  announce("loops");
  while (true) {
    const Clock::time_point start = Clock::now();
    try {
      comm.sendrecv(out, next, in, before);
    } catch (const umbel::Error& error) {
      tell_and_exit(error.what(), start);
    }
  }
}

int run_absent(umbel::Comm& comm, int absent, std::size_t count) {
  std::vector<float> data(count, 0.0F);
  if (world_rank == absent) {
    announce("stays away");
    ::sleep(60);
    return 0;
  }
  call(comm, data);
  return 0;
}

int run_differ(umbel::Comm& comm, const std::string& what, std::size_t count) {
  const bool odd = world_rank == 1;
  std::vector<double> data(count + 8, 0.0);
  const Clock::time_point start = Clock::now();
  const std::size_t mine = odd && what == "count" ? count + 1 : count;
  const umbel_dtype_t dtype = odd && what == "type" ? UMBEL_INT32 : UMBEL_FP32;
  const umbel_op_t op = odd && what == "op" ? UMBEL_MAX : UMBEL_SUM;
  const umbel_result_t result = umbel_all_reduce(data.data(), data.data(), mine, dtype, op, comm.native());
  if (result == UMBEL_SUCCESS) {
    // the others may have noticed only after this rank was through: it hears of it at its next call
    const umbel_result_t next = umbel_all_reduce(data.data(), data.data(), mine, dtype, op, comm.native());
    if (next == UMBEL_SUCCESS) return 0;
    tell_and_exit(std::string(umbel_result_name(next)) + ": " + umbel_last_error(), start);
  }
  tell_and_exit(std::string(umbel_result_name(result)) + ": " + umbel_last_error(), start);
}

/// Does its part up to where the others read its buffer.
void show(umbel::Comm& comm, bool message, float* buffer, std::size_t count) {
  umbel_request_t request = nullptr;
  if (message) {
    umbel::check(umbel_group_start(comm.native()));
    for (int rank = 0; rank < world_size; ++rank)
      if (rank != world_rank) umbel::check(umbel_send(buffer, count, UMBEL_FP32, rank, comm.native()));
    umbel::check(umbel_group_end_start(comm.native(), &request));
    return;
  }
  umbel_args_t args = UMBEL_ARGS_INIT;
  args.send = args.recv = buffer;
  args.count = count;
  umbel::check(umbel_start(&args, comm.native(), &request));
}

int run_vanish(umbel::Comm& comm, bool message, std::size_t count) {
  constexpr int kVictim = 1;
  const std::size_t bytes = count * sizeof(float);
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  auto* const buffer = static_cast<float*>(memory);
  if (world_rank == kVictim) {
    show(comm, message, buffer, count);
    ::munmap(memory, bytes);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == kVictim) {
    announce("has no buffer");
    ::usleep(150000);
    ::raise(SIGKILL);
  }
  const Clock::time_point start = Clock::now();
  const umbel_result_t result = message ? umbel_recv(buffer, count, UMBEL_FP32, kVictim, comm.native())
                                        : umbel_all_reduce(buffer, buffer, count, UMBEL_FP32, UMBEL_SUM, comm.native());
  if (result == UMBEL_SUCCESS) return 1;
  tell_and_exit(std::string(umbel_result_name(result)) + ": " + umbel_last_error(), start);
}

int run_leave(umbel::Comm& comm, int leaver, std::size_t count) {
  std::vector<float> data(count, 0.0F);
  if (world_rank == leaver) {
    comm.close();
    ::sleep(10);
    return 0;
  }
  call(comm, data);
  return 0;
}

int run_fork(umbel::Comm& comm, std::size_t count) {
  std::vector<float> data(count, 1.0F);
  const pid_t child = ::fork();
  if (child == 0) {
    const umbel_result_t result =
        umbel_all_reduce(data.data(), data.data(), count, UMBEL_FP32, UMBEL_SUM, comm.native());
    const std::string line =
        fmt::format("child of rank {}: {}: {}\n", world_rank, umbel_result_name(result), umbel_last_error());
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
    if (umbel_comm_check(comm.native()) != result) ::_exit(1);
    umbel_comm_destroy(comm.release());  // must not disturb the parent
    ::_exit(result == UMBEL_SUCCESS ? 0 : 9);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  call(comm, data);
  if (data[count - 1] != static_cast<float>(world_size)) return 1;
  return WIFEXITED(status) && WEXITSTATUS(status) == 9 ? 0 : 4;
}

int run_many(std::size_t count) {
  const Clock::time_point start = Clock::now();
  std::vector<umbel::Comm> comms;
  try {
    for (std::size_t i = 0; i < count; ++i) comms.push_back(make_comm());
  } catch (const umbel::Error& error) {
    tell_and_exit(fmt::format("communicator {}: {}", comms.size(), error.what()), start);
  }
  std::vector<float> data(1000, 1.0F);
  for (umbel::Comm& comm : comms) {
    comm.all_reduce_in_place(data, UMBEL_MAX);
  }
  announce("made them all");
  for (umbel::Comm& comm : comms) comm.close();
  return data[999] == 1.0F ? 0 : 1;
}

int run(const std::vector<std::string>& words) {
  const auto number = [&words](std::size_t i) {
    return static_cast<std::size_t>(std::strtoull(words.at(i).c_str(), nullptr, 10));
  };
  const std::string& mode = words.at(0);
  if (mode == "many") return run_many(number(1));
  umbel::Comm comm = make_comm();
  warm_up(comm);
  int status = 2;
  if (mode == "loop") status = run_loop(comm, number(1));
  if (mode == "ring") status = run_ring(comm, number(1));
  if (mode == "absent") status = run_absent(comm, static_cast<int>(number(1)), number(2));
  if (mode == "differ") status = run_differ(comm, words.at(1), number(2));
  if (mode == "vanish") status = run_vanish(comm, words.at(1) == "message", number(2));
  if (mode == "leave") status = run_leave(comm, static_cast<int>(number(1)), number(2));
  if (mode == "fork") status = run_fork(comm, number(1));
  if (comm) comm.close();
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  const Clock::time_point start = Clock::now();
  try {
    const int status = run({argv + 1, argv + argc});
    if (status != 0) ::_exit(status);
    MPI_Finalize();
    return 0;
  } catch (const std::exception& error) {
    tell_and_exit(error.what(), start);
  }
}
