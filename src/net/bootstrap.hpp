// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace umbel::net {

/// How ranks find each other before Umbel has a network of its own: an all-gather and a barrier that somebody else
/// provides (an MPI communicator, threads in a test). Used while a communicator is made, never in a collective call.
/// The callbacks may throw; the exception passes through whatever called them.
struct Bootstrap {
  int rank = 0;
  int size = 1;
  /// Collective. `recv` gets `bytes` bytes from every rank, in rank order. `bytes` is the same on all ranks, may be 0.
  std::function<void(const void* send, void* recv, std::size_t bytes)> allgather;
  /// Collective. Returns when every rank has called it.
  std::function<void()> barrier;
};

/// Collective. The `mine` of every rank, in rank order.
template <class T>
std::vector<T> all_gather(const Bootstrap& bootstrap, const T& mine) {
  static_assert(std::is_trivially_copyable_v<T>, "only plain data crosses process borders as bytes");
  std::vector<T> all(static_cast<std::size_t>(bootstrap.size));
  bootstrap.allgather(&mine, all.data(), sizeof(T));
  return all;
}

/// Collective. Byte strings whose lengths differ between ranks, in rank order. Two all-gathers: lengths, padded bytes.
std::vector<std::string> all_gather_bytes(const Bootstrap& bootstrap, std::string_view mine);

}  // namespace umbel::net
