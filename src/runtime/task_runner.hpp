// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "net/bootstrap.hpp"
#include "runtime/executor.hpp"
#include "runtime/founding.hpp"
#include "runtime/health.hpp"
#include "runtime/waiter.hpp"

namespace umbel::runtime {

/// Runs programs that no algorithm has written, on all ranks of a communicator of its own, as calls are run: by the
/// executor, waiting as a call waits, with failures found as in a call. Not thread-safe; every member is collective
/// unless it says otherwise.
class TaskRunner final : private Participant {
 public:
  /// No tuning file is used. On failure every rank throws.
  static std::unique_ptr<TaskRunner> create(const net::Bootstrap& bootstrap, CommOptions options);
  ~TaskRunner() override;
  TaskRunner(const TaskRunner&) = delete;
  TaskRunner& operator=(const TaskRunner&) = delete;

  /// Local.
  const Founded& founded() const { return founded_; }
  const net::Bootstrap& bootstrap() const { return bootstrap_; }
  /// Takes this rank's program, for good. Local. @throws InvalidArgument, Unsupported where it cannot be run
  Built& keep(Program program);

  /// Runs a program bound to a call of `bytes` bytes of fp32, kTaskBytes · kTaskInput at most; ranks begin together.
  /// @return this rank's seconds, from its beginning to its own end
  double run(Built& built, std::uint64_t bytes);

 private:
  struct Free {
    void operator()(float* memory) const noexcept { std::free(memory); }
  };

  TaskRunner(const net::Bootstrap& bootstrap, Founded founded);
  void publish();
  void finish_rounds();

  // Nobody else uses this communicator: there is nothing to serve for others.
  bool has_mail() const noexcept override { return false; }
  bool has_news() const noexcept override { return members().transport && members().transport->has_news(); }
  void serve_mail() noexcept override {}
  bool go_on() noexcept override { return false; }
  void tell_awaited() noexcept override;
  const Members& members() const { return founded_.members; }

  net::Bootstrap bootstrap_;
  Founded founded_;
  Health health_;
  Waiter waiter_;
  Executor executor_;
  std::vector<std::unique_ptr<Built>> built_;
  std::unique_ptr<float, Free> input_, output_;  ///< as a program's own buffers
  Plan plan_{};                                  ///< of the present run
  Call call_{};
};

}  // namespace umbel::runtime
