// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// umbel_memory_limits: what this host's memory allows two cores that exchange data, as one JSON document. Plain loops
// and memcpy, nothing of Umbel: scripts/compare holds every library's times against these figures.
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kSides = 2;

std::vector<int> allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof(set), &set);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

void bind_to(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  sched_setaffinity(0, sizeof(set), &set);
}

/// Both sides' threads, each on a core of its own.
void on_both_sides(const std::vector<int>& cores, const std::function<void(int side)>& work) {
  std::array<std::thread, kSides> threads;
  for (int side = 0; side < kSides; ++side) {
    threads[static_cast<std::size_t>(side)] = std::thread([&cores, &work, side] {
      bind_to(cores[static_cast<std::size_t>(side)]);
      work(side);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// Floats in huge pages where the system gives them, touched.
class Floats {
 public:
  explicit Floats(std::size_t count) : bytes_((count * sizeof(float) + kHugePage - 1) / kHugePage * kHugePage) {
    data_ = static_cast<float*>(std::aligned_alloc(kHugePage, bytes_));
    if (data_ == nullptr) throw std::bad_alloc();
    madvise(data_, bytes_, MADV_HUGEPAGE);
    std::memset(data_, 1, bytes_);
  }
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;
  ~Floats() { std::free(data_); }
  float* data() const { return data_; }

 private:
  static constexpr std::size_t kHugePage = std::size_t{2} << 20U;
  std::size_t bytes_;
  float* data_ = nullptr;
};

/// Where both sides meet; they spin, as nobody else wants their cores.
class Meeting {
 public:
  void meet(int side) {
    const int mine = came_[static_cast<std::size_t>(side)].value.fetch_add(1, std::memory_order_release) + 1;
    while (came_[static_cast<std::size_t>(1 - side)].value.load(std::memory_order_acquire) < mine) {
    }
  }

 private:
  struct alignas(64) Count {
    std::atomic<int> value{0};
  };
  std::array<Count, kSides> came_;
};

[[gnu::target_clones("avx512f", "avx2", "default")]] void add(float* out, const float* a, const float* b,
                                                              std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = a[i] + b[i];
}

enum class Work { copy, add };

/// Bytes per second of output of each side, both at once, from a buffer that the other one has just written. The best
/// of several tries.
double exchange_rate(const std::vector<int>& cores, Work work, std::size_t bytes) {
  constexpr double kBytesOfATry = 256e6;
  constexpr int kTries = 5;
  const std::size_t count = bytes / sizeof(float);
  const int rounds = std::clamp(static_cast<int>(kBytesOfATry / static_cast<double>(bytes)), 2, 400);
  const std::array<Floats, kSides> written{Floats(count), Floats(count)}, result{Floats(count), Floats(count)};
  Meeting meeting;
  std::array<double, kSides> best{};
  on_both_sides(cores, [&](int me) {
    const auto mine = static_cast<std::size_t>(me), other = 1 - mine;
    for (int attempt = 0; attempt < kTries; ++attempt) {
      double seconds = 0;
      for (int round = 0; round < rounds; ++round) {
        std::fill_n(written[mine].data(), count, static_cast<float>(round));
        meeting.meet(me);
        const Clock::time_point start = Clock::now();
        if (work == Work::copy) {
          std::memcpy(result[mine].data(), written[other].data(), count * sizeof(float));
        } else {
          add(result[mine].data(), written[mine].data(), written[other].data(), count);
        }
        seconds += std::chrono::duration<double>(Clock::now() - start).count();
        meeting.meet(me);
      }
      best[mine] = std::max(best[mine], static_cast<double>(count * sizeof(float)) * rounds / seconds);
    }
  });
  return std::min(best[0], best[1]);
}

/// One way, from a store on one core to its sight on another; seconds.
double flag_hop(const std::vector<int>& cores) {
  constexpr int kRounds = 200000;
  alignas(64) std::atomic<int> there{0};
  alignas(64) std::atomic<int> back{0};
  double seconds = 0;
  on_both_sides(cores, [&](int side) {
    const Clock::time_point start = Clock::now();
    for (int round = 1; round <= kRounds; ++round) {
      if (side == 0) there.store(round, std::memory_order_release);
      std::atomic<int>& awaited = side == 0 ? back : there;
      while (awaited.load(std::memory_order_acquire) < round) {
      }
      if (side == 1) back.store(round, std::memory_order_release);
    }
    if (side == 0) seconds = std::chrono::duration<double>(Clock::now() - start).count();
  });
  return seconds / kRounds / 2;
}

}  // namespace

int main() {
  const std::vector<int> cores = allowed_cores();
  if (cores.size() < kSides) {
    std::fprintf(stderr, "umbel_memory_limits needs two cores\n");
    return 3;
  }
  nlohmann::ordered_json limits{{"cores", cores.size()}, {"flag_hop_s", flag_hop(cores)}};
  for (const std::size_t bytes : {std::size_t{4} << 10U, std::size_t{64} << 10U, std::size_t{1} << 20U,
                                  std::size_t{16} << 20U, std::size_t{64} << 20U}) {
    limits["exchange"].push_back({{"bytes", bytes},
                                  {"copy_bytes_per_s", exchange_rate(cores, Work::copy, bytes)},
                                  {"add_bytes_per_s", exchange_rate(cores, Work::add, bytes)}});
  }
  std::puts(limits.dump().c_str());
  return EXIT_SUCCESS;
}
