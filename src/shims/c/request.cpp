// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The C ABI's operations that return at once, and the communicators made of communicators.
#include <cstddef>
#include <exception>
#include <memory>
#include <string_view>
#include <utility>

#include "arguments.hpp"
#include "base/error.hpp"
#include "comm.hpp"
#include "shares.hpp"
#include "umbel/umbel.h"

/// What a umbel_request_t points to.
struct umbel_request {
  umbel_comm_t comm = nullptr;      ///< that the operation runs on
  std::unique_ptr<umbel_comm> own;  ///< of a prepared call: this one
  umbel::runtime::CallArgs args;
  umbel::runtime::OperationRef operation;  ///< nullptr: never started

  bool under_way() const { return operation && !operation->done; }
};

namespace umbel::shim {
namespace {

runtime::CallArgs to_args(const umbel_args_t* given, const runtime::Communicator& communicator) {
  require(given, "args");
  const umbel_args_t args = copy_in(*given, "umbel_args_t", offsetof(umbel_args_t, send_counts));
  runtime::CallArgs call{.collective = to_collective(args.collective),
                         .send = args.send,
                         .recv = args.recv,
                         .count = args.count,
                         .dtype = to_dtype(args.dtype),
                         .root = args.root};
  take_op(call, args.op);
  take_shares(call,
              {.send_counts = args.send_counts,
               .send_displs = args.send_displs,
               .recv_counts = args.recv_counts,
               .recv_displs = args.recv_displs},
              communicator);
  return call;
}

umbel_request& request_of(umbel_request_t request) {
  require(request, "request");
  return *request;
}

void wait_for(umbel_request& request) {
  if (request.operation) request.comm->communicator->wait(request.operation);
}

umbel_result_t make_comm(std::string_view function, umbel_comm_t comm, int color, int key, umbel_comm_t* made) {
  return guarded_call(function, comm, [&] {
    runtime::Communicator& communicator = communicator_of(comm);
    require(made, "made");
    auto fresh = std::make_unique<umbel_comm>();
    fresh->communicator = communicator.split(color, key);
    *made = fresh->communicator ? fresh.release() : nullptr;
  });
}

}  // namespace
}  // namespace umbel::shim

using namespace umbel;
using namespace umbel::shim;

extern "C" umbel_result_t umbel_start(const umbel_args_t* args, umbel_comm_t comm, umbel_request_t* request) {
  return guarded_call("umbel_start", comm, [&] {
    runtime::Communicator& communicator = communicator_of(comm);
    require(request, "request");
    auto made = std::make_unique<umbel_request>();
    made->comm = comm;
    made->args = to_args(args, communicator);
    made->operation = communicator.start(made->args);
    *request = made.release();
  });
}

extern "C" umbel_result_t umbel_group_end_start(umbel_comm_t comm, umbel_request_t* request) {
  return guarded_call("umbel_group_end_start", comm, [&] {
    runtime::Communicator& communicator = communicator_of(comm);
    require(request, "request");
    auto made = std::make_unique<umbel_request>();
    made->comm = comm;
    made->operation = communicator.group_end_start();
    *request = made.release();
  });
}

extern "C" umbel_result_t umbel_prepare(const umbel_args_t* args, umbel_comm_t comm, umbel_request_t* request) {
  return guarded_call("umbel_prepare", comm, [&] {
    runtime::Communicator& communicator = communicator_of(comm);
    require(request, "request");
    auto made = std::make_unique<umbel_request>();
    made->args = to_args(args, communicator);
    communicator.check(made->args);
    made->own = std::make_unique<umbel_comm>();
    made->own->communicator = communicator.split(0, communicator.info().rank);
    made->comm = made->own.get();
    *request = made.release();
  });
}

extern "C" umbel_result_t umbel_request_start(umbel_request_t request) {
  return guarded_call("umbel_request_start", nullptr, [&] {
    umbel_request& prepared = request_of(request);
    if (!prepared.own) throw InvalidArgument("the request was not made by umbel_prepare");
    if (prepared.under_way()) throw InvalidArgument("the operation is under way: wait for it first");
    prepared.operation = prepared.comm->communicator->start(prepared.args);
  });
}

extern "C" umbel_result_t umbel_request_test(umbel_request_t request, int* done) {
  return guarded_call("umbel_request_test", nullptr, [&] {
    umbel_request& tested = request_of(request);
    require(done, "done");
    *done = tested.operation == nullptr || tested.comm->communicator->test(tested.operation) ? 1 : 0;
  });
}

extern "C" umbel_result_t umbel_request_wait(umbel_request_t request) {
  return guarded_call("umbel_request_wait", nullptr, [&] { wait_for(request_of(request)); });
}

extern "C" umbel_result_t umbel_wait_all(size_t count, const umbel_request_t* requests) {
  return guarded_call("umbel_wait_all", nullptr, [&] {
    if (count != 0) require(requests, "requests");
    std::exception_ptr first;
    for (size_t n = 0; n < count; ++n) {
      if (requests[n] == nullptr) continue;
      try {
        wait_for(*requests[n]);
      } catch (const Error&) {
        if (!first) first = std::current_exception();
      }
    }
    if (first) std::rethrow_exception(first);
  });
}

extern "C" umbel_result_t umbel_request_free(umbel_request_t request) {
  return guarded_call("umbel_request_free", nullptr, [&] {
    if (request == nullptr) return;
    const std::unique_ptr<umbel_request> owned(request);
    if (!owned->under_way()) return;
    try {
      wait_for(*owned);
    } catch (const Error&) {  // it was for the wait that nobody made
    }
  });
}

extern "C" umbel_result_t umbel_comm_split(umbel_comm_t comm, int color, int key, umbel_comm_t* made) {
  return make_comm("umbel_comm_split", comm, color, key, made);
}

extern "C" umbel_result_t umbel_comm_dup(umbel_comm_t comm, umbel_comm_t* made) {
  const int rank = comm != nullptr ? comm->communicator->info().rank : 0;
  return make_comm("umbel_comm_dup", comm, 0, rank, made);
}
