// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "net/process.hpp"
#include "net/ucx/worker.hpp"
#include "runtime/bell.hpp"
#include "runtime/shared_memory.hpp"

namespace umbel::runtime {

class Context;

/// Memory of this rank that its node-mates map: one communicator's. Once the communicator is gone, the memory is used
/// again only when every node-mate has let go of it or is dead: each holds on by a nonzero token.
class ArenaLease {
 public:
  ArenaLease(ArenaLease&&) noexcept = default;
  ArenaLease& operator=(ArenaLease&&) = delete;
  ~ArenaLease();

  std::byte* data() const noexcept { return let_->block.data; }
  std::size_t offset() const noexcept { return let_->block.offset; }
  std::size_t bytes() const noexcept { return let_->block.bytes; }
  net::WindowDescriptor window() const;
  std::span<std::atomic<std::uint64_t>> tokens() const noexcept { return let_->tokens; }
  /// Whose tokens they are, in the same order.
  void set_holders(std::vector<net::ProcessId> holders) { let_->holders = std::move(holders); }

 private:
  friend class Context;
  struct Let {
    Context* context = nullptr;
    SharedMemory::Block block;
    std::span<std::atomic<std::uint64_t>> tokens;
    std::vector<net::ProcessId> holders;

    bool held() const;
  };
  explicit ArenaLease(std::unique_ptr<Let> let) : let_(std::move(let)) {}
  std::unique_ptr<Let> let_;
};

/// A communicator, as the other communicators of its context see it.
class Participant {
 public:
  virtual ~Participant() = default;
  /// Has the network brought something that its handlers have not seen? Any thread.
  virtual bool has_mail() const noexcept = 0;
  /// Has anything come for it, by another thread's doing, since its own thread looked? For that thread.
  virtual bool has_news() const noexcept = 0;
  /// Deals with it, unless its own thread is inside a call and so does it itself. Any thread; does not wait.
  virtual void serve_mail() noexcept = 0;
  /// Goes on with operations that were started, unless a thread is inside a call and so does it itself; whether there
  /// are any left. The progress thread; does not wait.
  virtual bool go_on() noexcept = 0;
  /// Its thread is about to sleep: whose signals could end its wait? Signals of others do not ring it then.
  virtual void tell_awaited() noexcept = 0;
};

/// What the communicators of a process share: the memory that node-mates map, one bell, UCX's worker. Where ranks are
/// threads of one process, each has a context of its own. Contexts live to the end of the process.
class Context {
 public:
  /// The context of a rank before which `nth` ranks of its communicator are in this process too.
  static Context& of_process(std::size_t nth);

  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// @param tokens_at  where in the arena the tokens are  @param ranks  how many
  /// @throws SystemError when there is not enough memory
  ArenaLease lease(std::size_t bytes, std::size_t tokens_at, std::size_t ranks);

  struct BellPlace {
    net::WindowDescriptor window;
    std::uint64_t offset = 0;
  };
  /// Where node-mates find the bell. @pre lease() has succeeded once
  BellPlace bell_place() const;

  /// The UCX worker for these devices (UMBEL_NET_DEVICES), made when first asked for, for this `place`. @throws
  /// UcxError, SystemError, InvalidArgument
  net::Worker& worker(const std::string& net_devices, net::HostPlace place);

  void join(Participant& participant);
  void leave(Participant& participant) noexcept;
  /// In a wait of `self`: moves the network (unless it has just been `moved`), and serves the communicators that nobody
  /// is inside.
  void serve_others(const Participant& self, bool moved) noexcept;
  /// Operations were started that the progress thread is to go on with; it is made when first wanted.
  void wake_progress_thread();
  /// This thread has moved the network: what came may be what another thread sleeps for.
  void note_events() noexcept;

  /// Look at everything once more between the two, or withdraw.
  std::uint32_t announce_sleep() noexcept { return sleeper_->announce(); }
  void withdraw_sleep() noexcept { sleeper_->withdraw(); }
  /// @param networked  to be woken by the network too
  void sleep(const Participant& self, std::uint32_t announced, std::chrono::nanoseconds longest,
             bool networked) noexcept;

 private:
  friend class ArenaLease;
  Context() = default;
  void run_progress_thread() noexcept;
  void retire(std::unique_ptr<ArenaLease::Let> let) noexcept;
  void reclaim();

  std::span<const std::atomic<net::Worker*>> all_workers() const noexcept {
    return std::span(all_workers_).first(worker_count_.load(std::memory_order_acquire));
  }

  mutable std::mutex mutex_;  ///< of the memory
  SharedMemory memory_;
  std::vector<std::unique_ptr<ArenaLease::Let>> retired_;  ///< node-mates may still look at these
  SharedMemory::Block bell_block_;
  std::unique_ptr<Sleeper> sleeper_;
  std::atomic<Bell*> bell_{nullptr};

  std::mutex workers_mutex_;
  std::map<std::string, std::unique_ptr<net::Worker>> workers_;
  std::array<std::atomic<net::Worker*>, Sleeper::kMostDescriptors> all_workers_{};  ///< of workers_, for any thread
  std::atomic<std::size_t> worker_count_{0};

  std::mutex progress_mutex_;
  std::condition_variable progress_wanted_;
  bool progress_asked_ = false;
  bool progress_started_ = false;

  std::mutex participants_mutex_;
  std::vector<Participant*> participants_;
  std::atomic<std::size_t> participant_count_{0};
};

}  // namespace umbel::runtime
