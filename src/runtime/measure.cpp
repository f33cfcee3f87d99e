// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <thread>
#include <vector>

#include "kernels/host/copy.hpp"
#include "kernels/host/reduce.hpp"
#include "net/window/cma.hpp"
#include "runtime/agreement.hpp"
#include "runtime/topology.hpp"

namespace umbel::runtime {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::size_t kBytes = 512U << 10U;
constexpr std::size_t kPart = 64U << 10U;
constexpr std::size_t kCacheBytes = 16U << 10U;
constexpr int kTries = 5;
constexpr int kRoundTrips = 32;
constexpr auto kPatience = 2s;  ///< a partner that does not answer: keep the default

double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

template <class Work>
double best_of(Work&& work) {
  double best = 1e9;
  for (int k = 0; k < kTries; ++k) {
    const auto start = Clock::now();
    work();
    best = std::min(best, seconds(Clock::now() - start));
  }
  return std::max(best, 1e-9);
}

/// One rank's numbers.
struct Sample {
  double copy = 0, cache = 0, fold = 0, read = 0, handed = 0, direct = 0, flag = 0, message = 0, post = 0, wire = 0,
         l2_bytes = 0;
};

double median(const std::vector<Sample>& samples, double Sample::*field, double otherwise) {
  std::vector<double> values;
  for (const Sample& sample : samples)
    if (sample.*field > 0) values.push_back(sample.*field);
  if (values.empty()) return otherwise;
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

void measure_memory(Members& members, Sample& sample) {
  std::byte* const a = members.own().slots(0);
  std::byte* const b = members.own().slots(1);
  std::memset(a, 1, kBytes);
  sample.l2_bytes = static_cast<double>(host_topology().l2_bytes);
  sample.copy = best_of([&] { kernels::copy(b, a, kBytes); }) / kBytes;
  sample.cache = best_of([&] { kernels::copy(b, a, kCacheBytes); }) / kCacheBytes;
  const void* sources[2] = {a, b};
  sample.fold =
      best_of([&] { kernels::reduce(DType::fp32, RedOp::sum, b, sources, 2, kBytes / sizeof(float), 0); }) / kBytes;
}

/// Time for a byte of `read(offset, bytes)`, which reads what a neighbour has written: each part once, as in a call,
/// since to read it again would find it in the own cache.
template <class Read>
double best_of_parts(std::size_t part, Read&& read) {
  double best = 1e9;
  for (std::size_t offset = 0; offset + part <= kBytes; offset += part) {
    const auto start = Clock::now();
    read(offset, part);
    best = std::min(best, seconds(Clock::now() - start));
  }
  return std::max(best, 1e-9) / static_cast<double>(part);
}

/// The neighbour in the node, cyclically; −1 when alone.
Rank neighbour(const Members& members) {
  const auto peers = members.shape.peers_of(members.me);
  if (peers.size() < 2) return -1;
  return peers[(static_cast<std::size_t>(members.shape.local_index(members.me)) + 1) % peers.size()];
}

/// Waits until a flag has come to a value. False when that takes to `end`: then the default is the better answer.
bool await_flag(const std::atomic<std::uint64_t>& flag, std::uint64_t value, Clock::time_point end) {
  constexpr int kQuickLooks = 1000;
  for (int looks = 0; flag.load(std::memory_order_acquire) < value; ++looks) {
    if (looks < kQuickLooks) continue;
    std::this_thread::yield();
    if (Clock::now() > end) return false;
  }
  return true;
}

/// Time for a byte that all write to their window and read from the neighbour's, part after part, as in a call: cores
/// that share a cache or a bus hinder each other then, which neither shows alone. 0 without an answer.
double handed_over(Members& members, const Arena& neighbours) {
  constexpr std::uint64_t kFirst = 1000;  // more than any value of measure_flag()
  const Arena& own = members.own();
  const std::byte* const source = own.slots(1);
  std::byte* const into = own.slots(1) + kBytes;
  std::vector<double> times;
  const auto end = Clock::now() + kPatience;
  for (std::size_t offset = 0; offset + kPart <= kBytes; offset += kPart) {
    const std::uint64_t shown = kFirst + offset;
    const auto start = Clock::now();
    kernels::copy(own.slots(0) + offset, source + offset, kPart);
    own.header().ping.store(shown, std::memory_order_release);
    if (!await_flag(neighbours.header().ping, shown, end)) return 0;
    kernels::copy(into, neighbours.slots(0) + offset, kPart);
    times.push_back(seconds(Clock::now() - start) / kPart);
  }
  std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
  return times[times.size() / 2];
}

void measure_peer(Members& members, Sample& sample) {
  const Rank peer = neighbour(members);
  if (peer < 0) return;
  const Member& member = members.at(peer);
  std::byte* const into = members.own().slots(1);
  const std::byte* const window = member.arena.slots(0);
  sample.read =
      best_of_parts(kPart, [&](std::size_t offset, std::size_t bytes) { kernels::copy(into, window + offset, bytes); });
}

/// By process_vm_readv, every second rank at a time: of two that read from each other at once neither shows what one
/// alone can do. Large parts, as calls read them: the call itself takes long.
/// @param peer_memory  kBytes of the neighbour's, of its own
void measure_direct(Members& members, std::uint64_t peer_memory, bool odd, Sample& sample) {
  const Rank peer = neighbour(members);
  if (peer < 0 || (members.shape.local_index(members.me) % 2 != 0) != odd) return;
  const Member& member = members.at(peer);
  std::byte* const into = members.own().slots(1);
  constexpr std::size_t kLargePart = 256U << 10U;
  sample.direct =
      member.same_process ? sample.read : best_of_parts(kLargePart, [&](std::size_t offset, std::size_t bytes) {
        net::cma_read(member.process.pid, peer_memory + offset, into, bytes);
      });
}

/// The first two ranks of each node pass a flag to and fro.
void measure_flag(Members& members, Sample& sample) {
  const auto peers = members.shape.peers_of(members.me);
  const int place = members.shape.local_index(members.me);
  if (peers.size() < 2 || place > 1) return;
  std::atomic<std::uint64_t>& mine = members.own().header().ping;
  std::atomic<std::uint64_t>& theirs = members.at(peers[place == 0 ? 1 : 0]).arena.header().ping;
  // Both may still be on one core, where the bootstrap's yields have left them: who sleeps wakes up on an idle one.
  constexpr auto kMoment = 50us;
  if (place == 1) std::this_thread::sleep_for(kMoment);
  const auto end = Clock::now() + kPatience;
  double best = 1e9;
  for (std::uint64_t k = 1; k <= kRoundTrips; ++k) {
    const auto start = Clock::now();
    if (place == 0) theirs.store(k, std::memory_order_release);
    if (!await_flag(mine, k, end)) return;
    if (place == 1) theirs.store(k, std::memory_order_release);
    best = std::min(best, seconds(Clock::now() - start) / 2);
  }
  if (place == 0) sample.flag = best;
}

/// Rank 0 and the first rank of the second node: small messages to and fro, then a train of large ones.
class NetMeasurement {
 public:
  explicit NetMeasurement(Members& members) : members_(members), buffer_(members.own().slots(0)) {}

  void run(Sample& sample) {
    const Rank far = members_.shape.node_ranks(1).front();
    if (members_.me != 0 && members_.me != far) return;
    peer_ = members_.me == 0 ? far : 0;
    members_.connect(peer_);
    bool answers = ping_pong(sample) && burst(sample);
    std::vector<double> rates;
    for (std::uint32_t k = 0; answers && k < kTrains; ++k) answers = train(k, rates);
    if (!rates.empty()) {
      std::ranges::sort(rates);
      sample.wire = rates[rates.size() / 2];
    }
    // A receive that is left posted would let a late message write into slots that calls use by then.
    for (const net::RequestId request : posted_) members_.transport->abandon(request);
    members_.transport->forget(0);
  }

 private:
  static constexpr std::size_t kCar = 64U << 10U;
  static constexpr std::uint32_t kCars = 48;
  static constexpr std::uint32_t kSkipped = 16;  ///< what a shaper lets through at once, and TCP's slow start
  static constexpr std::uint32_t kInFlight = 8;
  static constexpr std::uint32_t kTrains = 3;  ///< the median counts: one that waited in a buffer looks too fast

  void post(bool send, std::int32_t channel, std::uint32_t index, std::size_t bytes) {
    const net::MessageKey key{.source = send ? members_.me : peer_, .sequence = 0, .channel = channel, .index = index};
    posted_.push_back(send ? members_.transport->post_send(peer_, key, {}, buffer_, bytes)
                           : members_.transport->post_recv(key, {}, buffer_ + kCar * (1 + index % kInFlight), bytes));
  }

  /// Waits for the oldest request. False when it failed, or took so long that the default is the better answer.
  bool await() {
    const auto end = Clock::now() + kPatience;
    while (true) {
      const net::RequestState state = members_.transport->test(posted_.front());
      if (state != net::RequestState::pending) posted_.pop_front();
      if (state == net::RequestState::done) return true;
      if (state != net::RequestState::pending) return false;
      if (members_.transport->progress() == 0) std::this_thread::yield();
      if (Clock::now() >= end) return false;
    }
  }

  bool ping_pong(Sample& sample) {
    double best = 1e9;
    for (std::uint32_t k = 0; k < kRoundTrips; ++k) {
      const auto start = Clock::now();
      const bool first = members_.me == 0;
      for (const bool send : {first, !first}) {
        post(send, 0, k, 8);
        if (!await()) return false;
      }
      if (k > 2) best = std::min(best, seconds(Clock::now() - start) / 2);
    }
    sample.message = best;
    return true;
  }

  /// Small messages at once: sending one takes as long as the sender spends on it, and little is left for the receiver
  /// that it would not do meanwhile.
  bool burst(Sample& sample) {
    const bool send = members_.me == 0;
    const auto start = Clock::now();
    for (std::uint32_t k = 0; k < kRoundTrips; ++k) post(send, 2, k, 8);
    for (std::uint32_t k = 0; k < kRoundTrips; ++k)
      if (!await()) return false;
    if (send) sample.post = std::min(seconds(Clock::now() - start) / kRoundTrips, sample.message);
    return true;
  }

  bool train(std::uint32_t number, std::vector<double>& rates) {
    const bool send = members_.me == 0;
    std::uint32_t posted = 0;
    Clock::time_point start{};
    for (std::uint32_t k = 0; k < kCars; ++k) {
      for (; posted < std::min(kCars, k + kInFlight); ++posted) post(send, 1, number * kCars + posted, kCar);
      if (!await()) return false;
      if (k + 1 == kSkipped) start = Clock::now();
    }
    if (send) return true;
    rates.push_back(seconds(Clock::now() - start) / static_cast<double>((kCars - kSkipped) * kCar));
    return true;
  }

  Members& members_;
  std::byte* buffer_;
  Rank peer_ = -1;
  std::deque<net::RequestId> posted_;  ///< oldest first
};

}  // namespace

Measured measure(const net::Bootstrap& bootstrap, Members& members, bool direct, double ranks_per_core) {
  Sample sample;
  // Memory as callers have it: its pages are other ones than a window's, which matters to process_vm_readv.
  std::vector<std::byte> own_memory;
  // Each step ends with an agreement: a rank that throws alone would leave the others in the bootstrap for ever.
  agree(bootstrap, "measure its memory", [&] {
    measure_memory(members, sample);
    if (direct) own_memory.assign(kBytes, std::byte{1});
  });
  const auto addresses = net::all_gather(bootstrap, reinterpret_cast<std::uint64_t>(own_memory.data()));
  const Rank peer = neighbour(members);
  agree(bootstrap, "measure its neighbour's answers", [&] {
    measure_flag(members, sample);
    if (peer >= 0) kernels::copy(members.own().slots(1), members.at(peer).arena.slots(0), kBytes);  // maps its pages
  });
  agree(bootstrap, "write what its neighbour reads", [&] { std::memset(members.own().slots(0), 2, kBytes); });
  agree(bootstrap, "measure its neighbour's memory", [&] { measure_peer(members, sample); });
  agree(bootstrap, "hand over memory", [&] {
    // With more ranks than cores they cannot all copy at the same time.
    if (peer >= 0 && ranks_per_core <= 1) sample.handed = handed_over(members, members.at(peer).arena);
  });
  for (int turn = 0; turn < (direct ? 2 : 0); ++turn) {
    const std::uint64_t memory = peer < 0 ? 0 : addresses[static_cast<std::size_t>(peer)];
    agree(bootstrap, "measure its neighbour's own memory", [&] { measure_direct(members, memory, turn != 0, sample); });
  }
  agree(bootstrap, "measure the network", [&] {
    if (members.transport) NetMeasurement(members).run(sample);
  });
  const std::vector<Sample> all = net::all_gather(bootstrap, sample);
  Measured result;
  const algos::Model otherwise;
  result.model = {.local_alpha = median(all, &Sample::flag, otherwise.local_alpha),
                  .local_beta = median(all, &Sample::read, otherwise.local_beta),
                  .direct_beta = median(all, &Sample::direct, otherwise.direct_beta),
                  .copy_beta = median(all, &Sample::copy, otherwise.copy_beta),
                  .gamma = median(all, &Sample::fold, otherwise.gamma),
                  .net_alpha = median(all, &Sample::message, otherwise.net_alpha),
                  .net_post = median(all, &Sample::post, otherwise.net_post),
                  .net_beta = median(all, &Sample::wire, otherwise.net_beta),
                  .cache_bytes = median(all, &Sample::l2_bytes, otherwise.cache_bytes),
                  .ranks_per_core = std::max(1.0, ranks_per_core)};
  // What a hand-over takes beside the copy that it begins with.
  const double handed = median(all, &Sample::handed, 0);
  result.model.local_beta = std::max(result.model.local_beta, handed - result.model.copy_beta);
  result.cache_beta = median(all, &Sample::cache, otherwise.copy_beta);
  return result;
}

}  // namespace umbel::runtime
