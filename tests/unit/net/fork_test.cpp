// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "net/fork.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>

#include "base/error.hpp"
#include "net/window/window.hpp"
#include "transport_ranks.hpp"

namespace umbel::net {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

template <class Call>
bool refused(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return std::string(error.what()).find("forked") != std::string::npos;
  }
  return false;
}

bool has_window() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("umbel-window") != std::string::npos) return true;
  }
  return false;
}

/// Runs in the child; returns the number of the first thing that is wrong, 0 if nothing is.
int check_child(Window& window, std::unique_ptr<Transport>& transport) {
  if (!forked()) return 1;
  if (has_window()) return 2;
  if (!refused([] { (void)Window::create(4096); })) return 3;
  if (!refused([&] { (void)attach(window.descriptor()); })) return 4;
  if (!refused([&] { transport->progress(); })) return 5;
  if (!refused([] { make_transport(0, 2); })) return 6;
  if (!refused([&] { (void)transport->post_send(1, key_of(0, 1), call_of(1), nullptr, 0); })) return 7;
  if (!refused([] { const Worker worker(""); })) return 8;
  if (!refused([] { worker_of(0).progress(); })) return 9;
  if (!refused([] { (void)worker_of(0).arm(); })) return 10;
  if (!refused([&] { transport->dispatch(); })) return 11;
  // Questions do not hang, though the lock may have been held by another thread at the fork.
  if (transport->failures() != 0 || transport->peer_state(1) != PeerState::connected) return 12;
  { const Window gone = std::move(window); }  // unmaps nothing, says nothing
  transport.reset();
  return 0;
}

TEST(Fork, ChildIsRefusedAndTheParentGoesOn) {
  EXPECT_FALSE(forked());
  Window window = Window::create(1 << 16);
  std::memset(window.data(), 1, 1 << 16);
  auto first = make_transport(0, 2);
  auto second = make_transport(1, 2);
  first->connect(1, second->address());
  second->connect(0, first->address());
  ASSERT_TRUE(has_window());
  std::atomic<bool> stop{false};
  Worker& worker = worker_of(0);  // by its name it would hold the lock of this test's own table
  std::thread busy([&] {
    while (!stop) worker.progress();
  });
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(20);
    const int wrong = check_child(window, first);
    _exit(wrong);
  }
  stop = true;
  busy.join();
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "number of the check in check_child";
  EXPECT_FALSE(forked());
  EXPECT_EQ(window.data()[5], std::byte{1});
  std::uint64_t out = 8;
  std::uint64_t in = 0;
  const RequestId recv = second->post_recv(key_of(0, 1), call_of(1), &in, 8);
  const RequestId send = first->post_send(1, key_of(0, 1), call_of(1), &out, 8);
  RequestState state = RequestState::pending;
  EXPECT_TRUE(progress_until(*second, [&] {
    first->progress();
    return (state = second->test(recv)) != RequestState::pending;
  }));
  EXPECT_EQ(state, RequestState::done);
  EXPECT_EQ(finish(*first, send), RequestState::done);
  EXPECT_EQ(in, 8U);
}

}  // namespace
}  // namespace umbel::net
