// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// What the doors (the C ABI, later others) see of the runtime: a communicator and facts about it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/config.hpp"
#include "base/shape.hpp"
#include "base/types.hpp"
#include "net/bootstrap.hpp"
#include "runtime/arguments.hpp"

namespace umbel::algos {
struct Model;
}

namespace umbel::runtime {

/// What UMBEL_TUNING means to a communicator.
enum class TuningUse : std::uint8_t {
  as_set,
  where_readable,  ///< of one that is split off: its rank 0 may be on a host without the file
  never,
};

/// Options of one communicator; equal on all ranks. Environment variables give the defaults of what is left unset.
struct CommOptions {
  std::string algorithm;                ///< as set_algorithm() takes it; "" or "auto": chosen per call
  bool reproducible = false;            ///< only algorithms that qualify run
  bool registered = false;              ///< as UMBEL_REGISTERED
  std::chrono::nanoseconds timeout{0};  ///< deadline of every wait; 0: UMBEL_TIMEOUT_S
  std::string placement;                ///< as UMBEL_NODES, which it overrides when not empty
  TuningUse tuning = TuningUse::as_set;
  std::exception_ptr refused;    ///< why this rank's options are no good: told when all ranks can hear it
  std::optional<Config> config;  ///< instead of the environment's (tests)
};

/// Facts of the last collective on this rank. The names are static strings.
struct CallInfo {
  const char* algorithm = nullptr;  ///< that ran; nullptr before the first call
  double predicted_s = 0;           ///< by the cost model
};

/// Facts of a communicator.
struct CommInfo {
  Rank rank = 0;
  int ranks = 1;
  int nodes = 1;
  int node = 0;  ///< of this rank
  double busbw_limit_gbs =
      0;  ///< highest all-reduce bus bandwidth that the measured memory or links allow, GB/s (10^9)
  std::chrono::nanoseconds timeout{0};  ///< deadline of every wait
};

/// What umbel_info prints: one (name, value) line each, grouped by section, as this rank sees it.
struct Fact {
  std::string section;  ///< "node", "memory", "network", "communicator"
  std::string name;
  std::string value;
};

struct Exchange;  // point_to_point.hpp

/// A call that was started and need not be waited for at once.
struct Operation {
  CallArgs args;
  InPlace in_place = InPlace::no;
  std::shared_ptr<Exchange> exchange{};  ///< of sends and receives: these, and `args` is nothing
  std::atomic<bool> done{false};         ///< whatever became of it; stored last, and read by any thread
  std::exception_ptr error;              ///< what it failed with
  CallInfo info{};                       ///< once it is done
};
using OperationRef = std::shared_ptr<Operation>;

/// One send to, or receive from, another rank, or this one.
struct Message {
  enum class Direction : std::uint8_t { send, recv };
  Direction direction = Direction::send;
  Rank peer = 0;
  void* buffer = nullptr;  ///< [count] elements; of a send only read
  std::size_t count = 0;
  DType dtype = DType::int8;

  bool sends() const { return direction == Direction::send; }
};

/// A group of ranks that reduce together. Calls on one communicator come from one thread at a time, in the same order
/// on all ranks. Every member throws the classes of base/error.hpp.
class Communicator {
 public:
  /// Collective. On failure every rank throws; the message names the rank that could not go on.
  static std::unique_ptr<Communicator> create(const net::Bootstrap& bootstrap, const CommOptions& options);
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  /// Whether such a call could be made: its arguments on this rank. Local. @throws InvalidArgument
  virtual void check(const CallArgs& args) const = 0;

  /// Collective, blocking. What is allowed of the buffers: arguments.hpp.
  /// @throws InvalidArgument, Unsupported (usable afterwards), MismatchError, TimeoutError, PeerFailure (failed
  /// afterwards).
  virtual void run(const CallArgs& args) = 0;
  void all_reduce(const void* send, void* recv, std::size_t count, DType dtype, RedOp op) {
    run({.collective = Collective::all_reduce, .send = send, .recv = recv, .count = count, .dtype = dtype, .op = op});
  }

  /// Starts a call and returns. Started calls run one after another in the order of their starts, the same on all
  /// ranks, while anybody waits for or tests one of them, is in another call, or the progress thread
  /// (UMBEL_PROGRESS_THREAD) runs; they may be waited for in any order. The buffers belong to the call until it is
  /// done.
  /// @throws as run() does for what is wrong with the arguments
  virtual OperationRef start(const CallArgs& args) = 0;
  /// Goes on with what was started; whether `operation` is done. Does not wait. @throws what the operation failed with
  virtual bool test(const OperationRef& operation) = 0;
  /// Returns when `operation` is done. @throws what it failed with
  virtual void wait(const OperationRef& operation) = 0;

  /// Sends and receives that are started together; returns when all are done. Between two ranks the first send meets
  /// the first receive, and so on; with different partners there is no order. A send may be done before its receive is
  /// called. Started operations go on meanwhile.
  /// @throws InvalidArgument (nothing has begun), MismatchError when the elements of a receive are not those of its
  /// send, TimeoutError, PeerFailure (failed afterwards)
  virtual void exchange(std::span<const Message> messages) = 0;
  /// Between the two exchange() only collects, and collectives are refused; group_end() runs what was collected, as one
  /// exchange. @throws InvalidArgument where a group is open already, or none is
  virtual void group_start() = 0;
  virtual void group_end() = 0;
  /// Begins what group_end() runs, and returns. It goes on as started calls do, but beside them; exchanges follow one
  /// another only between the same two ranks.
  virtual OperationRef group_end_start() = 0;

  /// Collective over this communicator: makes one of the ranks with the same `color`, in the order of `key`, then of
  /// rank; none (nullptr) for a negative color. It has this one's options.
  virtual std::unique_ptr<Communicator> split(int color, int key) = 0;

  /// Forces algorithms for the calls that follow, as ForcedAlgorithms takes them (forced.hpp); "" or "auto": none.
  /// Every rank must set the same. @throws InvalidArgument when there is no such algorithm.
  virtual void set_algorithm(std::string_view name) = 0;

  /// Why `algorithm` of the call's collective cannot serve such a call here; "" when it can. Buffers are not looked at.
  /// Local. @throws InvalidArgument when there is no such algorithm.
  virtual std::string refuses(std::string_view algorithm, const CallArgs& args) const = 0;

  /// Health (umbel_comm_check): throws what the communicator failed with; else looks once, without blocking, for dead
  /// or cut-off peers and for aborts by others (local liveness, the abort flag, one round of progress), and throws
  /// PeerFailure when it finds any. For callers that wait elsewhere (the perf app between its calls).
  virtual void check_health() = 0;

  virtual CallInfo last_call() const noexcept = 0;
  virtual const CommInfo& info() const noexcept = 0;
  virtual const Shape& shape() const noexcept = 0;
  /// Whether the nodes are those that the user asked for (UMBEL_NODES), not those found.
  virtual bool placed_by_user() const noexcept = 0;
  virtual std::vector<Fact> facts() const = 0;
  /// What the cost model predicts from: measured when the communicator was made, and equal on all ranks.
  virtual const algos::Model& model() const noexcept = 0;
  /// Whether ranks of a node read each other's buffers.
  virtual bool direct() const noexcept = 0;

 protected:
  Communicator() = default;
};

/// Facts of this host that need no communicator (hwloc, transports, limits).
std::vector<Fact> host_facts();

}  // namespace umbel::runtime
