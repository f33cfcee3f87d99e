// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/communicator.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>

#include <fmt/format.h>

#include "algos/algorithm.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "net/fork.hpp"
#include "runtime/agreement.hpp"
#include "runtime/executor.hpp"
#include "runtime/facts.hpp"
#include "runtime/forced.hpp"
#include "runtime/founding.hpp"
#include "runtime/health.hpp"
#include "runtime/planner.hpp"
#include "runtime/tiny.hpp"
#include "runtime/waiter.hpp"

namespace umbel::runtime {
namespace {

/// Calls in a row that say nothing to their senders (a broadcast's root hears of nobody); then a barrier, so that a
/// fast rank does not flood the others.
constexpr int kMostOneWay = 64;

PlannerInputs planner_inputs(const Founded& founded) {
  return {.rank = founded.members.me,
          .shape = founded.members.shape,
          .model = founded.measured.model,
          .layout = founded.layout,
          .direct = founded.direct,
          .reproducible = founded.config.reproducible,
          .chunk_bytes = founded.config.chunk_bytes,
          .piece_bytes = founded.config.piece_bytes,
          .channels = founded.config.channels};
}

/// The bus bandwidth that nothing can beat: with one node the speed of copies in the cache, else that of the links.
double busbw_limit_gbs(const Founded& founded) {
  const double ranks = founded.members.size();
  const double nodes = founded.members.shape.nodes();
  if (ranks < 2) return 0;
  const double per_byte = nodes > 1 ? founded.measured.model.net_beta * 2 * (nodes - 1) / nodes
                                    : founded.measured.cache_beta * std::max(1.0, founded.ranks_per_core);
  return 2 * (ranks - 1) / ranks / per_byte / 1e9;
}

class CommunicatorImpl final : public Communicator, private Participant {
 public:
  explicit CommunicatorImpl(Founded founded)
      : founded_(std::move(founded)),
        health_(founded_.members, founded_.config.timeout),
        waiter_(*founded_.context, *this, founded_.config.wait, founded_.crowded),
        planner_(planner_inputs(founded_)),
        executor_(founded_.members, health_, waiter_),
        in_order_(founded_.config.reproducible && founded_.members.size() > 2),
        tiny_(founded_.members, health_, waiter_, founded_.crowded, in_order_) {
    const Shape& shape = founded_.members.shape;
    info_ = {.rank = founded_.members.me,
             .ranks = shape.ranks(),
             .nodes = shape.nodes(),
             .node = shape.node_of(founded_.members.me),
             .busbw_limit_gbs = busbw_limit_gbs(founded_),
             .timeout = founded_.config.timeout};
    for (const Collective collective : all_collectives())
      if (algos::find(collective, tiny_name(collective)) != nullptr)
        tiny_algorithm_[static_cast<std::size_t>(collective)] = algorithm_index(collective, tiny_name(collective));
    set_algorithm(founded_.config.algorithm);
    if (net::Transport* transport = founded_.members.transport.get()) {
      transport->set_control_handler([this](int peer, std::uint32_t type, std::span<const std::byte> bytes) {
        health_.on_control(peer, type, bytes);
      });
      transport->set_unexpected_handler([this](const net::MessageKey& key, const net::CallSummary& found,
                                               std::uint64_t) { health_.on_unexpected(key, found); });
    }
    founded_.context->join(*this);
  }

  ~CommunicatorImpl() override {
    if (net::forked()) return;
    founded_.context->leave(*this);
    const std::scoped_lock inside(inside_);  // a thread that is still inside a call is misuse, and waited for
    founded_.members.own().header().closed.store(1, std::memory_order_release);
  }

  void run(const CallArgs& args) override {
    if (net::forked()) net::refuse_if_forked("a collective call");
    const InPlace in_place = check_arguments(args, founded_.members.me, founded_.members.size());
    const std::scoped_lock inside(inside_);
    if (founded_.members.own().header().failure.state.load(std::memory_order_relaxed) != 0)
      health_.throw_failure();  // before a plan, which may be refused for a reason of its own
    if (one_way_ == kMostOneWay) perform({.collective = Collective::barrier}, InPlace::no);
    perform(args, in_place);
  }

  void set_algorithm(std::string_view name) override {
    forced_ = ForcedAlgorithms(name);
    last_plan_ = nullptr;
  }

  std::string refuses(std::string_view algorithm, const CallArgs& args) const override {
    const PlanKey key = key_of(args, algorithm_index(args.collective, algorithm));
    last_plan_ = nullptr;
    return planner_.refuses(key);
  }

  void check_health() override {
    net::refuse_if_forked("a look at a communicator's health");  // its memory is not the child's
    const std::scoped_lock inside(inside_);
    health_.check(seq_);
  }
  CallInfo last_call() const noexcept override { return last_; }
  const CommInfo& info() const noexcept override { return info_; }
  const Shape& shape() const noexcept override { return founded_.members.shape; }
  std::vector<Fact> facts() const override { return communicator_facts(founded_); }

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

  /// The algorithm that a tiny call is an instance of.
  static std::string_view tiny_name(Collective collective) {
    return collective == Collective::all_reduce ? "one_shot" : "direct";
  }

  void perform(const CallArgs& args, InPlace in_place) {
    const std::int32_t forced = forced_.of(args.collective);
    const std::int32_t tiny_algorithm = tiny_algorithm_[static_cast<std::size_t>(plain(args.collective))];
    Call call{.seq = seq_ + 1,
              .input = static_cast<const std::byte*>(args.send),
              .output = static_cast<std::byte*>(args.recv),
              .dtype = args.dtype,
              .op = args.op,
              .summary = {.count = args.count,
                          .root = rooted(args.collective) ? static_cast<std::int16_t>(args.root) : std::int16_t{-1},
                          .collective = args.collective,
                          .dtype = args.dtype,
                          .op = args.op,
                          .extra = static_cast<std::uint8_t>(forced + 1)}};
    const bool tiny = (forced < 0 || forced == tiny_algorithm) && tiny_.serves(args) && !widened_in_order(args);
    const Plan* plan = tiny ? nullptr : &plan_for(key_of(args, forced));
    if (plan != nullptr) call.summary.plan = plan->hash;
    health_.enter(call.seq, call.summary);
    seq_ = call.seq;
    take_bank(call.seq);
    if (tiny) {
      tiny_.run(call, args);
      last_ = {.algorithm = algos::catalog(args.collective)[static_cast<std::size_t>(tiny_algorithm)].name.data(),
               .predicted_s = tiny_prediction(args, tiny_algorithm)};
    } else {
      run_planned(*plan, call, args, in_place);
    }
    leave(args.collective);
  }

  /// The in-place forms in which results would fall on elements that are still to be read go by way of scratch memory.
  void run_planned(const Plan& plan, Call& call, const CallArgs& args, InPlace in_place) {
    const BufferBytes bytes = buffer_bytes(args, founded_.members.me, founded_.members.size());
    if (in_place == InPlace::exchanged) {
      std::byte* copy = scratch(bytes.input);
      std::memcpy(copy, call.input, bytes.input);
      call.input = copy;
    } else if (in_place == InPlace::at_start) {
      call.output = scratch(bytes.output);
    }
    publish(call);
    executor_.run(plan, call);
    if (in_place == InPlace::at_start) std::memcpy(args.recv, call.output, bytes.output);
    last_ = {.algorithm = plan.built->algorithm->name.data(), .predicted_s = plan.predicted_s};
  }

  /// Memory of this communicator's own, kept for the next call: peers may read it as they may a user's buffer.
  std::byte* scratch(std::size_t bytes) {
    if (scratch_bytes_ < bytes) {
      scratch_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
      scratch_bytes_ = bytes;
    }
    return scratch_.get();
  }

  void leave(Collective collective) {
    founded_.members.own().header().done.store(seq_, std::memory_order_release);
    if (synchronizes(collective)) {
      synchronized_ = seq_;
      one_way_ = 0;
      return;
    }
    ++one_way_;
    for (const Member& member : founded_.members.all) member.ring_bell();  // who waits for this rank's bank
  }

  bool widened_in_order(const CallArgs& args) const {
    return in_order_ && reduces(args.collective) && arithmetic_of(args.dtype, args.op) == Arithmetic::widened;
  }

  static PlanKey key_of(const CallArgs& args, std::int32_t algorithm) {
    return {.collective = plain(args.collective),
            .count = args.count,
            .elem_bytes = static_cast<std::uint32_t>(size_of(args.dtype)),
            .arithmetic = reduces(args.collective) ? arithmetic_of(args.dtype, args.op) : Arithmetic::exact,
            .root = rooted(args.collective) ? args.root : 0,
            .algorithm = algorithm};
  }

  double tiny_prediction(const CallArgs& args, std::int32_t algorithm) {
    const std::size_t bytes = args.count * size_of(args.dtype);
    if (tiny_bytes_ != bytes || tiny_collective_ != args.collective) {
      tiny_bytes_ = bytes;
      tiny_collective_ = args.collective;
      tiny_predicted_s_ = algos::catalog(args.collective)[static_cast<std::size_t>(algorithm)].cost(
          {.shape = founded_.members.shape, .spec = {}, .model = founded_.measured.model, .bytes = bytes, .cut = {}});
    }
    return tiny_predicted_s_;
  }

  const Plan& plan_for(const PlanKey& key) {
    if (last_plan_ == nullptr || !(key == last_key_)) {
      last_plan_ = nullptr;  // the planner may drop it, and throw
      try {
        last_plan_ = &planner_.plan(key);
      } catch (const Unsupported& error) {
        if (key.algorithm < 0) throw;
        const auto& forced = algos::catalog(key.collective)[static_cast<std::size_t>(key.algorithm)];
        throw Unsupported(fmt::format("algorithm {}: {}", forced.name, error.what()));
      }
      last_key_ = key;
    }
    return *last_plan_;
  }

  /// The bank rule: this call reuses the bank of call seq − kBanks, which every node-mate must have left.
  ///
  /// With kBanks = 2 that is so anyway when the last call was one that nobody finishes before all have begun: then
  /// every rank has begun seq − 1 and thus finished seq − 2. Inside one node that knowledge came through semaphores or
  /// lines, and with it the order of memory. Over several nodes it may have come through the network, which orders
  /// nothing between two ranks of one node: their `done` is looked at, for the order, and is never waited for.
  void take_bank(std::uint64_t seq) {
    const bool known = synchronized_ + 1 == seq && founded_.members.shape.nodes() == 1;
    if (known || seq <= kBanks) return;
    for (Rank rank : founded_.members.shape.peers_of(founded_.members.me)) {
      const Header& header = founded_.members.at(rank).arena.header();
      waiter_.reset();
      while (header.done.load(std::memory_order_acquire) < seq - kBanks) health_.look(waiter_.idle());
    }
  }

  /// The control line of a call whose data goes through the program.
  void publish(const Call& call) {
    ControlLine& line = founded_.members.own().line(call.seq);
    const UserBuffers buffers{reinterpret_cast<std::uint64_t>(call.input),
                              reinterpret_cast<std::uint64_t>(call.output)};
    line.summary = call.summary;
    std::memcpy(line.payload, &buffers, sizeof(buffers));
    line.seq.store(call.seq, std::memory_order_release);
  }

  std::mutex inside_;  ///< held by whoever is in a call, or serves in its stead
  Founded founded_;
  CommInfo info_;
  Health health_;
  Waiter waiter_;
  mutable Planner planner_;
  Executor executor_;
  bool in_order_;  ///< reproducible mode, and there is more than one order
  TinyCalls tiny_;
  std::uint64_t seq_ = 0;
  std::uint64_t synchronized_ = 0;  ///< the last call that no rank finished before all had begun it
  int one_way_ = 0;                 ///< calls since
  ForcedAlgorithms forced_;
  std::array<std::int32_t, kCollectiveCount> tiny_algorithm_{};
  std::unique_ptr<std::byte[]> scratch_;
  std::size_t scratch_bytes_ = 0;
  Collective tiny_collective_ = Collective::barrier;
  std::size_t tiny_bytes_ = ~std::size_t{0};
  double tiny_predicted_s_ = 0;
  mutable const Plan* last_plan_ = nullptr;
  PlanKey last_key_{};
  CallInfo last_{};
};

}  // namespace

std::unique_ptr<Communicator> Communicator::create(const net::Bootstrap& bootstrap, const CommOptions& options) {
  Founded founded = found(bootstrap, options);
  std::unique_ptr<Communicator> made;
  agree(bootstrap, "finish the communicator", [&] { made = std::make_unique<CommunicatorImpl>(std::move(founded)); });
  return made;
}

}  // namespace umbel::runtime
