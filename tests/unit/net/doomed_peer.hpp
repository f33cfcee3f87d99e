// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// A peer that can be stopped and killed: a process of its own. It is forked, so a program that uses it must not have
// made a worker before: every such test runs in a fresh child (in_fresh_process).
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "transport_ranks.hpp"

namespace umbel::net::test {

inline void write_text(int fd, const std::string& text) {
  const std::uint64_t bytes = text.size();
  if (write(fd, &bytes, sizeof bytes) != static_cast<ssize_t>(sizeof bytes) ||
      write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    _exit(4);
  }
}

inline std::string read_text(int fd) {
  std::uint64_t bytes = 0;
  if (read(fd, &bytes, sizeof bytes) != static_cast<ssize_t>(sizeof bytes)) return {};
  std::string text(bytes, '\0');
  std::size_t got = 0;
  while (got < bytes) {
    const ssize_t part = read(fd, text.data() + got, bytes - got);
    if (part <= 0) return {};
    got += static_cast<std::size_t>(part);
  }
  return text;
}

/// A process that holds peer 1 of one or several communicators, all on one worker, and progresses until it is killed.
/// It sends every control message back, its type plus one. To be made before the first worker.
class DoomedPeer {
 public:
  explicit DoomedPeer(std::vector<std::uint64_t> nonces = {kNonce}) : nonces_(std::move(nonces)) {
    if (pipe2(to_.data(), O_CLOEXEC) != 0 || pipe2(from_.data(), O_CLOEXEC) != 0) std::abort();
    pid_ = fork();
    if (pid_ == 0) live();
  }
  DoomedPeer(const DoomedPeer&) = delete;
  DoomedPeer& operator=(const DoomedPeer&) = delete;
  ~DoomedPeer() {
    send_signal(SIGCONT);
    send_signal(SIGKILL);
    waitpid(pid_, nullptr, 0);
    for (const int fd : {to_[0], to_[1], from_[0], from_[1]}) close(fd);
  }

  /// Once for each of its communicators, in their order.
  void connect_with(Transport& transport) {
    write_text(to_[1], transport.address());
    transport.connect(1, read_text(from_[0]));
    std::uint64_t hello = 0;
    const RequestId recv = transport.post_recv(key_of(1, 0), call_of(1), &hello, sizeof hello);
    ASSERT_EQ(finish(transport, recv), RequestState::done);
    ASSERT_EQ(hello, 77U);
  }
  void send_signal(int signal) const { kill(pid_, signal); }

 private:
  [[noreturn]] void live() const {
    std::vector<std::unique_ptr<Transport>> transports;
    const std::uint64_t hello = 77;
    for (const std::uint64_t nonce : nonces_) {
      Transport& transport = *transports.emplace_back(make_transport(1, 2, nonce));
      transport.set_control_handler([&transport](int peer, std::uint32_t type, std::span<const std::byte> bytes) {
        transport.send_control(peer, type + 1, bytes);
      });
      write_text(from_[1], transport.address());
      transport.connect(0, read_text(to_[0]));
      const RequestId send = transport.post_send(0, key_of(1, 0), call_of(1), &hello, sizeof hello);
      if (finish(transport, send) != RequestState::done) _exit(5);
    }
    while (true) {
      for (const auto& transport : transports) transport->progress();
    }
  }

  std::vector<std::uint64_t> nonces_;
  pid_t pid_ = -1;
  std::array<int, 2> to_{};
  std::array<int, 2> from_{};
};

/// Runs `body` in a fresh process, so that it may fork before it makes transports. Its failures fail this test.
inline void in_fresh_process(const std::function<void()>& body) {
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    int result = 2;
    try {
      body();
      result = testing::Test::HasFailure() ? 1 : 0;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "exception: %s\n", error.what());
    }
    std::fflush(nullptr);
    _exit(result);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "see above; wait status " << status;
}

}  // namespace umbel::net::test
