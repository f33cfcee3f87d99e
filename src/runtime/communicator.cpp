// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/communicator.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "net/fork.hpp"
#include "runtime/agreement.hpp"
#include "runtime/facts.hpp"
#include "runtime/founding.hpp"
#include "runtime/health.hpp"
#include "runtime/point_to_point.hpp"
#include "runtime/progress.hpp"
#include "runtime/runner.hpp"
#include "runtime/splitting.hpp"
#include "runtime/started.hpp"
#include "runtime/waiter.hpp"

namespace umbel::runtime {
namespace {

/// The bus bandwidth that nothing can beat: with one node the speed of copies in the cache, else that of the links.
double busbw_limit_gbs(const Founded& founded) {
  const double ranks = founded.members.size();
  const double nodes = founded.members.shape.nodes();
  if (ranks < 2) return 0;
  const double per_byte = nodes > 1
                              ? founded.measured.model.net_beta / founded.measured.model.rails * 2 * (nodes - 1) / nodes
                              : founded.measured.cache_beta * std::max(1.0, founded.ranks_per_core);
  return 2 * (ranks - 1) / ranks / per_byte / 1e9;
}

class CommunicatorImpl final : public Communicator, private Participant {
 public:
  CommunicatorImpl(Founded founded, CommOptions options)
      : founded_(std::move(founded)),
        options_(std::move(options)),
        health_(founded_.members, founded_.config.timeout),
        waiter_(*founded_.context, *this, founded_.config.wait, founded_.crowded),
        runner_(founded_, health_, waiter_),
        point_to_point_(founded_.members, health_, waiter_, founded_.direct),
        started_(runner_, point_to_point_),
        progress_(runner_, point_to_point_, started_, health_, waiter_) {
    const Shape& shape = founded_.members.shape;
    info_ = {.rank = founded_.members.me,
             .ranks = shape.ranks(),
             .nodes = shape.nodes(),
             .node = shape.node_of(founded_.members.me),
             .busbw_limit_gbs = busbw_limit_gbs(founded_),
             .timeout = founded_.config.timeout};
    health_.listen();
    founded_.context->join(*this);
  }

  ~CommunicatorImpl() override {
    if (net::forked()) return;
    founded_.context->leave(*this);
    const std::scoped_lock inside(inside_);  // a thread that is still inside a call is misuse, and waited for
    started_.fail(
        std::make_exception_ptr(InvalidArgument("the communicator was destroyed before the operation was done")));
    founded_.members.own().header().closed.store(1, std::memory_order_release);
  }

  void check(const CallArgs& args) const override { (void)in_place_of(args); }

  void run(const CallArgs& args) override {
    const InPlace in_place = in_place_of(args);
    const std::scoped_lock inside(inside_);
    refuse_in_group();
    throw_if_failed();
    if (started_.empty()) return progress_.run(args, in_place);
    progress_.complete(*started_.add(args, in_place));
  }

  OperationRef start(const CallArgs& args) override {
    const InPlace in_place = in_place_of(args);
    const std::scoped_lock inside(inside_);
    refuse_in_group();
    throw_if_failed();
    return let_go_on(started_.add(args, in_place));
  }

  bool test(const OperationRef& operation) override {
    if (net::forked()) net::refuse_if_forked("a test of an operation");
    const std::scoped_lock inside(inside_);
    progress_.advance();
    if (!operation->done) return false;
    throw_error(*operation);
    return true;
  }

  void wait(const OperationRef& operation) override {
    if (net::forked()) net::refuse_if_forked("a wait for an operation");
    const std::scoped_lock inside(inside_);
    progress_.complete(*operation);
  }

  void exchange(std::span<const Message> messages) override {
    net::refuse_if_forked("a send or receive");
    const std::scoped_lock inside(inside_);
    for (const Message& message : messages) point_to_point_.check(message);
    if (grouping_)
      group_.insert(group_.end(), messages.begin(), messages.end());
    else
      progress_.complete(*start_exchange(messages));
  }

  void group_start() override {
    const std::scoped_lock inside(inside_);
    if (grouping_) throw InvalidArgument("a group is open already");
    grouping_ = true;
    group_.clear();
  }

  void group_end() override {
    const std::scoped_lock inside(inside_);
    progress_.complete(*end_group());
  }

  OperationRef group_end_start() override {
    const std::scoped_lock inside(inside_);
    return let_go_on(end_group());
  }

  std::unique_ptr<Communicator> split(int color, int key) override { return split_by(*this, color, key, options_); }

  void set_algorithm(std::string_view name) override {
    const std::scoped_lock inside(inside_);
    runner_.set_algorithm(name);
  }

  std::string refuses(std::string_view algorithm, const CallArgs& args) const override {
    const std::scoped_lock inside(inside_);
    return runner_.refuses(algorithm, args);
  }

  void check_health() override {
    net::refuse_if_forked("a look at a communicator's health");  // its memory is not the child's
    const std::scoped_lock inside(inside_);
    if (started_.empty()) return health_.check(runner_.seq());
    if (const std::exception_ptr error = progress_.advance()) std::rethrow_exception(error);
  }
  CallInfo last_call() const noexcept override { return runner_.last_call(); }
  const CommInfo& info() const noexcept override { return info_; }
  const Shape& shape() const noexcept override { return founded_.members.shape; }
  bool placed_by_user() const noexcept override { return !founded_.config.nodes.empty(); }
  std::vector<Fact> facts() const override { return communicator_facts(founded_); }
  const algos::Model& model() const noexcept override { return founded_.measured.model; }
  bool direct() const noexcept override { return founded_.direct; }

 private:
  bool has_mail() const noexcept override {
    return founded_.members.transport != nullptr && founded_.members.transport->has_mail();
  }

  bool has_news() const noexcept override {
    return founded_.members.transport != nullptr && founded_.members.transport->has_news();
  }

  void serve_mail() noexcept override {
    const std::unique_lock inside(inside_, std::try_to_lock);
    if (!inside) return;
    try {
      founded_.members.transport->dispatch();
      health_.serve();
    } catch (const std::exception& error) {  // the next call of this communicator will run into it as well
      log_debug(Subsystem::health, "while serving a communicator that nobody waits in: {}", error.what());
    }
  }

  bool go_on() noexcept override {
    if (!started_.any()) return false;
    const std::unique_lock inside(inside_, std::try_to_lock);
    if (!inside) return true;
    progress_.advance();
    return !started_.empty();
  }

  void tell_awaited() noexcept override {
    founded_.members.own().header().awaited.store(progress_.awaited(), std::memory_order_relaxed);
  }

  InPlace in_place_of(const CallArgs& args) const {
    if (net::forked()) net::refuse_if_forked("a collective call");
    return check_arguments(args, founded_.members.me, founded_.members.size());
  }

  /// Before a plan, which may be refused for a reason of its own.
  void throw_if_failed() {
    if (founded_.members.own().header().failure.state.load(std::memory_order_relaxed) != 0) health_.throw_failure();
  }

  void refuse_in_group() const {
    if (grouping_) throw InvalidArgument("a collective in a group: only sends and receives may be in one");
  }

  /// For an operation that is not waited for now.
  OperationRef let_go_on(OperationRef operation) {
    progress_.step();
    if (founded_.config.progress_thread && !operation->done) founded_.context->wake_progress_thread();
    return operation;
  }

  OperationRef end_group() {
    net::refuse_if_forked("the end of a group");
    if (!grouping_) throw InvalidArgument("no group was started");
    grouping_ = false;
    return start_exchange(group_);
  }

  OperationRef start_exchange(std::span<const Message> messages) {
    throw_if_failed();
    point_to_point_.check_group(messages);
    return started_.add(messages);
  }

  mutable std::mutex inside_;  ///< held by whoever is in a call, or serves in its stead
  Founded founded_;
  CommOptions options_;
  CommInfo info_;
  Health health_;
  Waiter waiter_;
  mutable Runner runner_;
  PointToPoint point_to_point_;
  Started started_;
  Progress progress_;
  bool grouping_ = false;
  std::vector<Message> group_;  ///< what was collected since group_start()
};

}  // namespace

std::unique_ptr<Communicator> Communicator::create(const net::Bootstrap& bootstrap, const CommOptions& options) {
  Founded founded = found(bootstrap, options);
  std::unique_ptr<Communicator> made;
  agree(bootstrap, "finish the communicator",
        [&] { made = std::make_unique<CommunicatorImpl>(std::move(founded), options); });
  return made;
}

}  // namespace umbel::runtime
