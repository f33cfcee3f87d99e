// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/communicator.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>

#include <fmt/format.h>

#include "algos/algorithm.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "kernels/host/reduce.hpp"
#include "net/fork.hpp"
#include "runtime/agreement.hpp"
#include "runtime/executor.hpp"
#include "runtime/facts.hpp"
#include "runtime/founding.hpp"
#include "runtime/health.hpp"
#include "runtime/planner.hpp"
#include "runtime/waiter.hpp"

namespace umbel::runtime {
namespace {

constexpr std::uint64_t kMaxCount = (std::uint64_t{1} << 48U) - 1;
constexpr int kMaxTinyRanks = 64;
constexpr int kQuickLooks = 100;  ///< at a node-mate's line before anything else is looked after

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
        sources_(founded_.members.all.size()) {
    const Shape& shape = founded_.members.shape;
    info_ = {.rank = founded_.members.me,
             .ranks = shape.ranks(),
             .nodes = shape.nodes(),
             .node = shape.node_of(founded_.members.me),
             .busbw_limit_gbs = busbw_limit_gbs(founded_),
             .timeout = founded_.config.timeout};
    one_shot_ = algorithm_index("one_shot");
    tiny_allowed_ = shape.nodes() == 1 && shape.ranks() > 1 && shape.ranks() <= kMaxTinyRanks;
    in_order_ = founded_.config.reproducible && shape.ranks() > 2;
    if (in_order_) partials_.resize(founded_.members.all.size() * kInlineBytes);
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

  void all_reduce(const void* send, void* recv, std::size_t count, DType dtype, RedOp op) override {
    check(send, recv, count, dtype);
    const std::scoped_lock inside(inside_);
    if (founded_.members.own().header().failure.state.load(std::memory_order_relaxed) != 0)
      health_.throw_failure();  // before a plan, which may be refused for a reason of its own
    const std::size_t bytes = count * size_of(dtype);
    Call call{.seq = 0,
              .input = static_cast<const std::byte*>(send),
              .output = static_cast<std::byte*>(recv),
              .dtype = dtype,
              .op = op,
              .summary = {.count = count,
                          .collective = Collective::all_reduce,
                          .dtype = dtype,
                          .op = op,
                          .extra = static_cast<std::uint8_t>(forced_ + 1)}};
    const bool tiny = bytes <= kInlineBytes && tiny_allowed_ && tiny_serves(arithmetic_of(dtype, op));
    const Plan* plan = tiny ? nullptr : &plan_for(key_of(count, dtype, op, forced_));
    if (plan != nullptr) call.summary.plan = plan->hash;
    call.seq = seq_ + 1;
    health_.enter(call.seq, call.summary);
    seq_ = call.seq;
    if (tiny) {
      all_reduce_tiny(call, count);
    } else {
      take_bank(call.seq);
      publish(call);
      executor_.run(*plan, call);
      last_ = {.algorithm = plan->built->algorithm->name.data(), .predicted_s = plan->predicted_s};
    }
    founded_.members.own().header().done.store(seq_, std::memory_order_release);
  }

  void set_algorithm(std::string_view name) override {
    forced_ = algorithm_index(name);
    last_plan_ = nullptr;
  }

  std::string refuses(std::string_view algorithm, std::size_t count, DType dtype, RedOp op) const override {
    const PlanKey key = key_of(count, dtype, op, algorithm_index(algorithm));
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

  void check(const void* send, const void* recv, std::size_t count, DType dtype) const {
    if (net::forked()) net::refuse_if_forked("a collective call");
    if (count > kMaxCount / size_of(dtype)) throw InvalidArgument(fmt::format("count {} is too large", count));
    if (count == 0) return;
    if (send == nullptr || recv == nullptr) throw InvalidArgument("a buffer is NULL while count is not 0");
    const auto a = reinterpret_cast<std::uintptr_t>(send);
    const auto b = reinterpret_cast<std::uintptr_t>(recv);
    const std::size_t bytes = count * size_of(dtype);
    if (a != b && a < b + bytes && b < a + bytes)
      throw InvalidArgument("send and recv overlap; they must be equal or disjoint");
  }

  bool tiny_serves(Arithmetic arithmetic) const {
    return (forced_ < 0 || forced_ == one_shot_) && (!in_order_ || arithmetic != Arithmetic::widened);
  }

  static PlanKey key_of(std::size_t count, DType dtype, RedOp op, std::int32_t algorithm) {
    return {.count = count,
            .elem_bytes = static_cast<std::uint32_t>(size_of(dtype)),
            .arithmetic = arithmetic_of(dtype, op),
            .algorithm = algorithm};
  }

  const Plan& plan_for(const PlanKey& key) {
    if (last_plan_ == nullptr || !(key == last_key_)) {
      last_plan_ = nullptr;  // the planner may drop it, and throw
      try {
        last_plan_ = &planner_.plan(key);
      } catch (const Unsupported& error) {
        if (key.algorithm < 0) throw;
        const auto& forced = algos::all_reduce_catalog()[static_cast<std::size_t>(key.algorithm)];
        throw Unsupported(fmt::format("algorithm {}: {}", forced.name, error.what()));
      }
      last_key_ = key;
    }
    return *last_plan_;
  }

  /// The bank rule: this call reuses the bank of call seq − kBanks, which every node-mate must have left.
  ///
  /// With kBanks = 2 that is so anyway: this rank has finished call seq − 1, whose result depends on every rank's
  /// input, so every rank has begun seq − 1 and thus finished seq − 2. Inside one node that knowledge came through
  /// semaphores, and with it the order of memory. Over several nodes it may have come through the network, which orders
  /// nothing between two ranks of one node: their `done` is looked at, for the order, and is never waited for.
  void take_bank(std::uint64_t seq) {
    if (founded_.members.shape.nodes() == 1 || seq <= kBanks) return;
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

  /// One shot, the data inside the control lines: each rank writes its line, reads all the others' and folds them in
  /// the order of ranks, in reproducible mode as a tree.
  void all_reduce_tiny(const Call& call, std::size_t count) {
    Members& members = founded_.members;
    ControlLine& own = members.own().line(call.seq);
    const std::size_t bytes = count * size_of(call.dtype);
    own.summary = call.summary;
    if (bytes != 0) std::memcpy(own.payload, call.input, bytes);
    own.seq.store(call.seq, std::memory_order_release);
    for (const Member& member : members.all) member.ring_bell();
    waiter_.reset();
    for (std::size_t rank = 0; rank < members.all.size(); ++rank) {
      const ControlLine& line = members.all[rank].arena.line(call.seq);
      await(line, call.seq);
      if (line.summary != call.summary) {
        health_.note_mismatch(static_cast<Rank>(rank), line.summary);
        health_.mismatch();
      }
      sources_[rank] = line.payload;
    }
    if (count != 0 && in_order_)
      fold_as_tree(call, count);
    else if (count != 0)
      kernels::reduce(call.dtype, call.op, call.output, sources_.data(), static_cast<int>(sources_.size()), count,
                      static_cast<std::uint32_t>(sources_.size()));
    if (last_tiny_bytes_ != bytes) {
      const auto& algorithm = algos::all_reduce_catalog()[static_cast<std::size_t>(one_shot_)];
      last_tiny_bytes_ = bytes;
      tiny_predicted_s_ = algorithm.cost(
          {.shape = members.shape, .spec = {}, .model = founded_.measured.model, .bytes = bytes, .cut = {}});
    }
    last_ = {.algorithm = algos::all_reduce_catalog()[static_cast<std::size_t>(one_shot_)].name.data(),
             .predicted_s = tiny_predicted_s_};
  }

  /// The canonical tree over the ranks: lower ones on the left, left parts powers of two.
  void fold_as_tree(const Call& call, std::size_t count) {
    const std::size_t ranks = sources_.size();
    for (std::size_t step = 1; step < ranks; step *= 2) {
      const bool last = 2 * step >= ranks;
      for (std::size_t left = 0; left + step < ranks; left += 2 * step) {
        const void* pair[] = {sources_[left], sources_[left + step]};
        std::byte* into = last ? call.output : partials_.data() + left * kInlineBytes;
        kernels::reduce(call.dtype, call.op, into, pair, 2, count, last ? static_cast<std::uint32_t>(ranks) : 0);
        sources_[left] = into;
      }
    }
  }

  void await(const ControlLine& line, std::uint64_t seq) {
    if (line.seq.load(std::memory_order_acquire) == seq) return;
    if (!founded_.crowded)
      for (int looks = 0; looks < kQuickLooks; ++looks)
        if (line.seq.load(std::memory_order_acquire) == seq) return;
    while (line.seq.load(std::memory_order_acquire) != seq) health_.look(waiter_.idle());
  }

  std::mutex inside_;  ///< held by whoever is in a call, or serves in its stead
  Founded founded_;
  CommInfo info_;
  Health health_;
  Waiter waiter_;
  mutable Planner planner_;
  Executor executor_;
  std::vector<const void*> sources_;  ///< of a tiny fold, by rank
  std::uint64_t seq_ = 0;
  std::int32_t forced_ = -1;
  std::int32_t one_shot_ = -1;
  bool tiny_allowed_ = false;
  bool in_order_ = false;            ///< reproducible mode, and there is more than one order
  std::vector<std::byte> partials_;  ///< of a tiny fold in order
  std::size_t last_tiny_bytes_ = ~std::size_t{0};
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
