// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Measures a link as programs see it.
//   link_probe serve PORT                  answers the three others, until it is ended
//   link_probe goodput HOST PORT BYTES     Mbit/s of user data by TCP, past the first fifth (the shaper lets a burst
//   through) link_probe rtt HOST PORT COUNT         mean microseconds of a TCP round trip of one byte link_probe
//   received HOST PORT COUNT    how many of COUNT datagrams arrive
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void must(bool good, const char* what) {
  if (!good) {
    std::perror(what);
    throw std::runtime_error(what);
  }
}

struct Request {
  char mode;
  uint64_t amount;
};

struct Socket {
  int fd;
  explicit Socket(int descriptor) : fd(descriptor) { must(fd >= 0, "socket"); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() { close(fd); }
  void send_all(const void* data, size_t bytes) const {
    const char* at = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t sent = send(fd, at, bytes, MSG_NOSIGNAL);
      must(sent > 0, "send");
      at += sent;
      bytes -= static_cast<size_t>(sent);
    }
  }
  void receive_all(void* data, size_t bytes) const {
    must(recv(fd, data, bytes, MSG_WAITALL) == static_cast<ssize_t>(bytes), "recv");
  }
};

void no_delay(const Socket& socket) {
  const int on = 1;
  must(setsockopt(socket.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0, "TCP_NODELAY");
}

sockaddr_in resolve(const char* host, const char* port) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  addrinfo* found = nullptr;
  must(getaddrinfo(host, port, &hints, &found) == 0, "getaddrinfo");
  sockaddr_in address{};
  std::copy_n(reinterpret_cast<const char*>(found->ai_addr), sizeof address, reinterpret_cast<char*>(&address));
  freeaddrinfo(found);
  return address;
}

const sockaddr* generic(const sockaddr_in& address) { return reinterpret_cast<const sockaddr*>(&address); }

double receive_stream(const Socket& peer, uint64_t bytes) {
  std::vector<char> buffer(1 << 20);
  const uint64_t skipped = bytes / 5;
  uint64_t received = 0;
  uint64_t received_at_start = 0;
  Clock::time_point start{};
  while (received < bytes) {
    const ssize_t some = recv(peer.fd, buffer.data(), buffer.size(), 0);
    must(some > 0, "recv");
    received += static_cast<uint64_t>(some);
    if (received_at_start == 0 && received >= skipped) {
      received_at_start = received;
      start = Clock::now();
    }
  }
  return static_cast<double>(received - received_at_start) * 8e-6 / seconds_since(start);
}

double count_datagrams(const Socket& datagrams) {
  std::array<char, 16> buffer{};
  double count = 0;
  while (recv(datagrams.fd, buffer.data(), buffer.size(), MSG_DONTWAIT) > 0) {
    ++count;
  }
  return count;
}

void answer(const Socket& peer, const Socket& datagrams) {
  Request request{};
  peer.receive_all(&request, sizeof request);
  if (request.mode == 'r') {
    char byte = 0;
    for (uint64_t i = 0; i < request.amount; ++i) {
      peer.receive_all(&byte, 1);
      peer.send_all(&byte, 1);
    }
    return;
  }
  const double result = request.mode == 'g' ? receive_stream(peer, request.amount) : count_datagrams(datagrams);
  peer.send_all(&result, sizeof result);
}

int serve(const char* port) {
  const sockaddr_in address = resolve("0.0.0.0", port);
  const Socket listener(socket(AF_INET, SOCK_STREAM, 0));
  const Socket datagrams(socket(AF_INET, SOCK_DGRAM, 0));
  const int on = 1;
  must(setsockopt(listener.fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0, "SO_REUSEADDR");
  must(bind(datagrams.fd, generic(address), sizeof address) == 0, "bind");
  must(bind(listener.fd, generic(address), sizeof address) == 0 && listen(listener.fd, 4) == 0, "listen");
  while (true) {
    const Socket peer(accept(listener.fd, nullptr, nullptr));
    no_delay(peer);
    answer(peer, datagrams);
  }
}

void send_stream(const Socket& peer, uint64_t bytes) {
  const std::vector<char> buffer(1 << 18, 'x');
  while (bytes > 0) {
    const size_t some = std::min<uint64_t>(bytes, buffer.size());
    peer.send_all(buffer.data(), some);
    bytes -= some;
  }
}

double round_trip(const Socket& peer, uint64_t count) {
  const Clock::time_point start = Clock::now();
  for (uint64_t i = 0; i < count; ++i) {
    char byte = 'p';
    peer.send_all(&byte, 1);
    peer.receive_all(&byte, 1);
  }
  return seconds_since(start) * 1e6 / static_cast<double>(count);
}

void send_datagrams(const sockaddr_in& address, uint64_t count) {
  const Socket datagrams(socket(AF_INET, SOCK_DGRAM, 0));
  for (uint64_t i = 0; i < count; ++i) {
    must(sendto(datagrams.fd, "x", 1, 0, generic(address), sizeof address) == 1, "sendto");
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
}

double measure(char mode, const sockaddr_in& address, uint64_t amount) {
  if (mode == 'd') {
    send_datagrams(address, amount);
  }
  const Socket peer(socket(AF_INET, SOCK_STREAM, 0));
  must(connect(peer.fd, generic(address), sizeof address) == 0, "connect");
  no_delay(peer);
  const Request request{mode, amount};
  peer.send_all(&request, sizeof request);
  if (mode == 'r') {
    return round_trip(peer, amount);
  }
  if (mode == 'g') {
    send_stream(peer, amount);
  }
  double result = 0;
  peer.receive_all(&result, sizeof result);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  try {
    if (mode == "serve" && argc == 3) {
      return serve(argv[2]);
    }
    if ((mode == "goodput" || mode == "rtt" || mode == "received") && argc == 5) {
      const char letter = mode == "received" ? 'd' : mode[0];
      std::printf("%.0f\n", measure(letter, resolve(argv[2], argv[3]), std::strtoull(argv[4], nullptr, 10)));
      return 0;
    }
  } catch (const std::exception&) {
    return 1;
  }
  std::fprintf(
      stderr,
      "usage: link_probe serve PORT | goodput HOST PORT BYTES | rtt HOST PORT COUNT | received HOST PORT COUNT\n");
  return 2;
}
