// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Do the two ways by which ranks of one node reach each other's memory also reach another node?
//   isolation_probe hold TOKEN               keeps TOKEN in a memfd and in memory; prints "fd address", then waits for
//   the end of stdin isolation_probe probe TOKEN FD ADDRESS   looks for it in every process that can be named; prints
//   "memfd=yes|no cma=yes|no"
// The token is handed over reversed, so that no argument list is a copy of it.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

namespace {

// PID namespaces of a test cluster are young: their pids are far below this.
constexpr pid_t kPidsToTry = 65536;

int hold(const std::string& token) {
  const int fd = memfd_create("isolation_probe", 0);
  if (fd < 0 || write(fd, token.data(), token.size()) != static_cast<ssize_t>(token.size())) {
    std::perror("memfd");
    return 1;
  }
  std::printf("%d %ju\n", fd, static_cast<uintmax_t>(reinterpret_cast<uintptr_t>(token.data())));
  std::fflush(stdout);
  while (std::cin.get() != EOF) {
  }
  return 0;
}

bool memfd_of(pid_t pid, const std::string& token, const std::string& fd) {
  const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + fd;
  const int file = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  if (file < 0) {
    return false;
  }
  std::string found(token.size(), '\0');
  const ssize_t bytes = pread(file, found.data(), found.size(), 0);
  close(file);
  return bytes == static_cast<ssize_t>(token.size()) && found == token;
}

bool memory_of(pid_t pid, const std::string& token, uintptr_t address) {
  std::string found(token.size(), '\0');
  const iovec local{found.data(), found.size()};
  const iovec remote{reinterpret_cast<void*>(address),
                     found.size()};  // NOLINT(performance-no-int-to-ptr): another process's
  return process_vm_readv(pid, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(token.size()) && found == token;
}

int probe(const std::string& token, const std::string& fd, uintptr_t address) {
  bool memfd = false;
  bool cma = false;
  for (pid_t pid = 1; pid < kPidsToTry; ++pid) {
    if (pid != getpid()) {
      memfd = memfd || memfd_of(pid, token, fd);
      cma = cma || memory_of(pid, token, address);
    }
  }
  std::printf("memfd=%s cma=%s\n", memfd ? "yes" : "no", cma ? "yes" : "no");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  std::string token = argc > 2 ? argv[2] : "";
  std::reverse(token.begin(), token.end());
  if (mode == "hold" && argc == 3) {
    return hold(token);
  }
  if (mode == "probe" && argc == 5) {
    return probe(token, argv[3], std::strtoull(argv[4], nullptr, 10));
  }
  std::fprintf(stderr, "usage: isolation_probe hold TOKEN | probe TOKEN FD ADDRESS\n");
  return 2;
}
