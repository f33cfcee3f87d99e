// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The C ABI: arguments checked, exceptions turned into codes, everything else done by the runtime.
#include "umbel/umbel.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "algos/algorithm.hpp"
#include "arguments.hpp"
#include "base/error.hpp"
#include "comm.hpp"
#include "last_error.hpp"
#include "runtime/registered.hpp"

namespace umbel::shim {
namespace {

/// The C callbacks as the runtime's bootstrap; a nonzero return becomes an exception.
net::Bootstrap to_bootstrap(const umbel_bootstrap_t& given) {
  const umbel_bootstrap_t table = copy_in(given, "umbel_bootstrap_t");
  if (table.size < 1 || table.rank < 0 || table.rank >= table.size) {
    throw InvalidArgument(
        fmt::format("bootstrap: rank {} of size {} (needed: 0 ≤ rank < size)", table.rank, table.size));
  }
  if (table.allgather == nullptr || table.barrier == nullptr) {
    throw InvalidArgument("bootstrap: the callbacks allgather and barrier must be given");
  }
  const auto report = [rank = table.rank](const char* callback, int code) {
    if (code != 0) {
      throw SystemError(fmt::format("rank {}: the bootstrap's {} failed with code {}", rank, callback, code));
    }
  };
  return net::Bootstrap{
      .rank = table.rank,
      .size = table.size,
      .allgather = [table, report](
                       const void* send, void* recv,
                       std::size_t bytes) { report("allgather", table.allgather(table.context, send, recv, bytes)); },
      .barrier = [table, report] { report("barrier", table.barrier(table.context)); },
  };
}

runtime::CommOptions to_options(const umbel_config_t* given) {
  runtime::CommOptions options;
  if (given == nullptr) {
    return options;
  }
  const umbel_config_t config = copy_in(*given, "umbel_config_t", offsetof(umbel_config_t, registered));
  constexpr double kLongest = 1e9;  // seconds; more would overflow the nanoseconds
  if (!(config.timeout_s >= 0 && config.timeout_s <= kLongest)) {
    throw InvalidArgument(
        fmt::format("umbel_config_t.timeout_s is {}: 0 (the default) or seconds up to 1e9", config.timeout_s));
  }
  options.algorithm = config.algorithm == nullptr ? "" : config.algorithm;
  options.reproducible = config.reproducible != 0;
  options.registered = config.registered != 0;
  options.timeout = std::chrono::nanoseconds(std::llround(config.timeout_s * 1e9));
  return options;
}

/// Runs one collective on behalf of its C function.
umbel_result_t collective(std::string_view function, umbel_comm_t comm, runtime::CallArgs args, umbel_dtype_t dtype,
                          umbel_op_t op = UMBEL_SUM) {
  return guarded_call(function, comm, [&] {
    runtime::Communicator& communicator = communicator_of(comm);
    args.dtype = to_dtype(dtype);
    take_op(args, op);
    communicator.run(args);
  });
}

}  // namespace
}  // namespace umbel::shim

using namespace umbel;
using namespace umbel::shim;

extern "C" umbel_result_t umbel_comm_create(umbel_comm_t* comm, const umbel_bootstrap_t* bootstrap,
                                            const umbel_config_t* config) {
  return guarded([&] {
    const net::Bootstrap usable = checked_call("umbel_comm_create", nullptr, [&] {
      require(bootstrap, "bootstrap");
      return to_bootstrap(*bootstrap);
    });
    // From here on the others hear of an error: were it thrown at once, they would wait in the bootstrap for ever.
    runtime::CommOptions options;
    try {
      checked_call("umbel_comm_create", nullptr, [&] {
        require(comm, "comm");
        options = to_options(config);
      });
    } catch (const Error&) {
      options.refused = std::current_exception();
    }
    auto created = std::make_unique<umbel_comm>();
    created->communicator = runtime::Communicator::create(usable, options);
    *comm = created.release();
  });
}

extern "C" umbel_result_t umbel_comm_destroy(umbel_comm_t comm) {
  return guarded([&] { delete comm; });
}

extern "C" umbel_result_t umbel_all_reduce(const void* send, void* recv, size_t count, umbel_dtype_t dtype,
                                           umbel_op_t op, umbel_comm_t comm) {
  return collective("umbel_all_reduce", comm,
                    {.collective = Collective::all_reduce, .send = send, .recv = recv, .count = count}, dtype, op);
}

extern "C" umbel_result_t umbel_broadcast(const void* send, void* recv, size_t count, umbel_dtype_t dtype, int root,
                                          umbel_comm_t comm) {
  return collective("umbel_broadcast", comm,
                    {.collective = Collective::broadcast, .send = send, .recv = recv, .count = count, .root = root},
                    dtype);
}

extern "C" umbel_result_t umbel_reduce(const void* send, void* recv, size_t count, umbel_dtype_t dtype, umbel_op_t op,
                                       int root, umbel_comm_t comm) {
  return collective("umbel_reduce", comm,
                    {.collective = Collective::reduce, .send = send, .recv = recv, .count = count, .root = root}, dtype,
                    op);
}

extern "C" umbel_result_t umbel_all_gather(const void* send, void* recv, size_t count, umbel_dtype_t dtype,
                                           umbel_comm_t comm) {
  return collective("umbel_all_gather", comm,
                    {.collective = Collective::all_gather, .send = send, .recv = recv, .count = count}, dtype);
}

extern "C" umbel_result_t umbel_reduce_scatter(const void* send, void* recv, size_t count, umbel_dtype_t dtype,
                                               umbel_op_t op, umbel_comm_t comm) {
  return collective("umbel_reduce_scatter", comm,
                    {.collective = Collective::reduce_scatter, .send = send, .recv = recv, .count = count}, dtype, op);
}

extern "C" umbel_result_t umbel_all_to_all(const void* send, void* recv, size_t count, umbel_dtype_t dtype,
                                           umbel_comm_t comm) {
  return collective("umbel_all_to_all", comm,
                    {.collective = Collective::all_to_all, .send = send, .recv = recv, .count = count}, dtype);
}

extern "C" umbel_result_t umbel_gather(const void* send, void* recv, size_t count, umbel_dtype_t dtype, int root,
                                       umbel_comm_t comm) {
  return collective("umbel_gather", comm,
                    {.collective = Collective::gather, .send = send, .recv = recv, .count = count, .root = root},
                    dtype);
}

extern "C" umbel_result_t umbel_scatter(const void* send, void* recv, size_t count, umbel_dtype_t dtype, int root,
                                        umbel_comm_t comm) {
  return collective("umbel_scatter", comm,
                    {.collective = Collective::scatter, .send = send, .recv = recv, .count = count, .root = root},
                    dtype);
}

extern "C" umbel_result_t umbel_barrier(umbel_comm_t comm) {
  return collective("umbel_barrier", comm, {.collective = Collective::barrier}, UMBEL_INT8);
}

extern "C" umbel_result_t umbel_mem_alloc(void** ptr, size_t bytes) {
  return guarded_call("umbel_mem_alloc", nullptr, [&] {
    require(ptr, "ptr");
    *ptr = runtime::RegisteredMemory::of_process().allocate(bytes);
  });
}

extern "C" umbel_result_t umbel_mem_free(void* ptr) {
  return guarded_call("umbel_mem_free", nullptr, [&] { runtime::RegisteredMemory::of_process().release(ptr); });
}

extern "C" umbel_result_t umbel_comm_set_algorithm(umbel_comm_t comm, const char* algorithm) {
  return guarded_call("umbel_comm_set_algorithm", comm,
                      [&] { communicator_of(comm).set_algorithm(algorithm == nullptr ? "" : algorithm); });
}

extern "C" umbel_result_t umbel_comm_supports(umbel_comm_t comm, const char* algorithm, const umbel_call_t* call) {
  return guarded_call("umbel_comm_supports", comm, [&] {
    require(algorithm, "algorithm");
    require(call, "call");
    const umbel_call_t given = copy_in(*call, "umbel_call_t");
    const runtime::Communicator& communicator = communicator_of(comm);
    runtime::CallArgs args{.collective = to_collective(given.collective),
                           .count = given.count,
                           .dtype = to_dtype(given.dtype),
                           .root = given.root};
    take_op(args, given.op);
    const std::string reason = communicator.refuses(algorithm, args);
    if (!reason.empty()) {
      throw Unsupported(reason);
    }
  });
}

extern "C" umbel_result_t umbel_comm_check(umbel_comm_t comm) {
  return guarded_call("umbel_comm_check", comm, [&] { communicator_of(comm).check_health(); });
}

extern "C" umbel_result_t umbel_comm_get_info(umbel_comm_t comm, umbel_comm_info_t* info) {
  return guarded_call("umbel_comm_get_info", comm, [&] {
    require(info, "info");
    const runtime::CommInfo& facts = communicator_of(comm).info();
    const umbel_comm_info_t value{
        .struct_size = 0,
        .rank = facts.rank,
        .ranks = facts.ranks,
        .nodes = facts.nodes,
        .node = facts.node,
        .busbw_limit_gbs = facts.busbw_limit_gbs,
        .timeout_s = std::chrono::duration<double>(facts.timeout).count(),
    };
    copy_out(value, *info, "umbel_comm_info_t", offsetof(umbel_comm_info_t, timeout_s));
  });
}

extern "C" umbel_result_t umbel_comm_last_call(umbel_comm_t comm, umbel_call_info_t* info) {
  return guarded_call("umbel_comm_last_call", comm, [&] {
    require(info, "info");
    const runtime::CallInfo facts = communicator_of(comm).last_call();
    const umbel_call_info_t value{.struct_size = 0, .algorithm = facts.algorithm, .predicted_s = facts.predicted_s};
    copy_out(value, *info, "umbel_call_info_t");
  });
}

// Names are string literals in the catalog and in base: C strings that live as long as the process.

extern "C" const char* umbel_algorithm_name(umbel_collective_t collective, size_t index) {
  const std::optional<Collective> which = known_collective(collective);
  if (!which) return nullptr;
  const auto catalog = algos::catalog(*which);
  return index < catalog.size() ? catalog[index].name.data() : nullptr;
}

extern "C" const char* umbel_algorithm_summary(umbel_collective_t collective, const char* name) {
  const std::optional<Collective> which = known_collective(collective);
  const algos::Algorithm* found = which && name != nullptr ? algos::find(*which, name) : nullptr;
  return found != nullptr ? found->summary.data() : nullptr;
}

extern "C" const char* umbel_collective_name(umbel_collective_t collective) {
  const std::optional<Collective> which = known_collective(collective);
  return which ? name_of(*which).data() : nullptr;
}

extern "C" const char* umbel_last_error(void) { return last_error(); }

extern "C" umbel_result_t umbel_report(umbel_result_t result, const char* message) {
  return fail(result, message == nullptr ? "" : message);
}

extern "C" const char* umbel_result_name(umbel_result_t result) {
  switch (result) {
    case UMBEL_SUCCESS:
      return "success";
    case UMBEL_ERROR_INVALID_ARGUMENT:
      return "invalid argument";
    case UMBEL_ERROR_UNSUPPORTED:
      return "unsupported";
    case UMBEL_ERROR_MISMATCH:
      return "mismatch";
    case UMBEL_ERROR_TIMEOUT:
      return "timeout";
    case UMBEL_ERROR_PEER_FAILURE:
      return "peer failure";
    case UMBEL_ERROR_SYSTEM:
      return "system error";
    case UMBEL_ERROR_INTERNAL:
      return "internal error";
  }
  return "unknown result";
}
