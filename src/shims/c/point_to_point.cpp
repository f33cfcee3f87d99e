// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The C ABI's sends, receives and groups of them.
#include <array>

#include "arguments.hpp"
#include "umbel/umbel.h"

namespace umbel::shim {
namespace {

runtime::Message send_to(int peer, const void* buffer, size_t count, umbel_dtype_t dtype) {
  return {.direction = runtime::Message::Direction::send,
          .peer = peer,
          .buffer = const_cast<void*>(buffer),  // only read
          .count = count,
          .dtype = to_dtype(dtype)};
}

runtime::Message recv_from(int peer, void* buffer, size_t count, umbel_dtype_t dtype) {
  return {.direction = runtime::Message::Direction::recv,
          .peer = peer,
          .buffer = buffer,
          .count = count,
          .dtype = to_dtype(dtype)};
}

}  // namespace
}  // namespace umbel::shim

using namespace umbel::shim;

extern "C" umbel_result_t umbel_send(const void* buf, size_t count, umbel_dtype_t dtype, int peer, umbel_comm_t comm) {
  return guarded_call("umbel_send", comm,
                      [&] { communicator_of(comm).exchange(std::array{send_to(peer, buf, count, dtype)}); });
}

extern "C" umbel_result_t umbel_recv(void* buf, size_t count, umbel_dtype_t dtype, int peer, umbel_comm_t comm) {
  return guarded_call("umbel_recv", comm,
                      [&] { communicator_of(comm).exchange(std::array{recv_from(peer, buf, count, dtype)}); });
}

extern "C" umbel_result_t umbel_sendrecv(const void* send, size_t send_count, int dest, void* recv, size_t recv_count,
                                         int source, umbel_dtype_t dtype, umbel_comm_t comm) {
  return guarded_call("umbel_sendrecv", comm, [&] {
    communicator_of(comm).exchange(
        std::array{send_to(dest, send, send_count, dtype), recv_from(source, recv, recv_count, dtype)});
  });
}

extern "C" umbel_result_t umbel_group_start(umbel_comm_t comm) {
  return guarded_call("umbel_group_start", comm, [&] { communicator_of(comm).group_start(); });
}

extern "C" umbel_result_t umbel_group_end(umbel_comm_t comm) {
  return guarded_call("umbel_group_end", comm, [&] { communicator_of(comm).group_end(); });
}
