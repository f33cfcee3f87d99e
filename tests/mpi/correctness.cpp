// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// correctness [--full] [--layout N]: all-reduce against a serial reference, over type × operation × algorithm ×
// in-place × count × placement, through the C ABI. The pairwise sample by default: every two values of any two of these
// meet. Calls follow each other without a barrier, and each rank overwrites its buffers as soon as it may: what closes
// an operation too early is found here. Exit status: 0 all right, 1 wrong data, 3 failure.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "bench/buffer.hpp"
#include "bench/data.hpp"
#include "bench/types.hpp"
#include "layouts.hpp"
#include "pairwise.hpp"

namespace {

using namespace umbel;
using namespace umbel::test;

constexpr std::size_t kLargestCount = std::size_t{1} << 20U;
constexpr std::size_t kLargestElement = 16;
constexpr std::uint64_t kSeed = 0x7465737473ULL;
constexpr std::array kModes{"out-of-place", "in-place", "in-place on odd ranks"};

enum Factor : std::size_t { kType, kOp, kAlgorithm, kMode, kCount, kLayout };

std::vector<std::uint64_t> counts_for(int ranks) {
  const auto p = static_cast<std::uint64_t>(ranks);
  return {0, 1, p - 1, p, p + 1, 12345, (3U << 17U) + 1, kLargestCount};
}

class Sweep {
 public:
  /// @param only  this layout; all by default.
  Sweep(int rank, int ranks, std::optional<std::size_t> only)
      : rank_(rank),
        ranks_(ranks),
        all_layouts_(!only),
        layouts_(only ? std::vector<Layout>{layouts_for(ranks).at(*only)} : layouts_for(ranks)),
        counts_(counts_for(ranks)),
        algorithms_(all_algorithms()),
        send_(kLargestCount * kLargestElement),
        recv_(kLargestCount * kLargestElement) {
    algorithms_.emplace_back("auto");
    for (const Layout& layout : layouts_) comms_.push_back(make_comm(layout.nodes));
    find_refusals();
  }

  std::vector<std::size_t> sizes() const {
    return {bench::all_types().size(),
            bench::all_ops().size(),
            algorithms_.size(),
            kModes.size(),
            counts_.size(),
            layouts_.size()};
  }
  bool served(std::size_t algorithm, std::size_t layout) const { return served_[algorithm][layout]; }
  bool served_anywhere(std::size_t algorithm) const {
    return std::ranges::find(served_[algorithm], true) != served_[algorithm].end();
  }

  void run(const Choice& choice) {
    const bench::TypeInfo& type = bench::all_types()[choice[kType]];
    const bench::OpInfo& op = bench::all_ops()[choice[kOp]];
    const std::uint64_t count = counts_[choice[kCount]];
    const std::string& algorithm = algorithms_[choice[kAlgorithm]];
    Comm& comm = comms_[choice[kLayout]];
    const bench::Pattern& pattern = pattern_of(choice[kType], choice[kOp]);
    const std::uint64_t iteration = ++cases_;
    const bool in_place = choice[kMode] == 1 || (choice[kMode] == 2 && rank_ % 2 == 1);

    send_.guard(count * type.size);
    recv_.guard(count * type.size);
    std::memset(recv_.data(), 0x5A, count * type.size);
    void* input = in_place ? recv_.data() : send_.data();
    pattern.fill(input, count, iteration);
    comm.set_algorithm(algorithm);
    check(umbel_all_reduce(count == 0 ? nullptr : input, count == 0 ? nullptr : recv_.data(), count, type.dtype, op.op,
                           comm.native()));

    std::uint64_t wrong = pattern.wrong_results(recv_.data(), count, iteration);
    if (!in_place) wrong += pattern.wrong_inputs(input, count, iteration);
    wrong += send_.broken_canaries() + recv_.broken_canaries();
    const char* ran = comm.last_call().algorithm;
    if (ran == nullptr || (algorithm != "auto" && algorithm != ran)) {
      fmt::print(stderr, "[rank {}] forced {}, but {} ran\n", rank_, algorithm, ran == nullptr ? "nothing" : ran);
      ++wrong;
    }
    if (wrong != 0) {
      ++wrong_cases_;
      fmt::print(stderr, "[rank {}] wrong {}: {} {} {} {} {} elements, {} ({})\n", rank_, wrong, algorithm, type.name,
                 op.name, kModes[choice[kMode]], count, layouts_[choice[kLayout]].name,
                 layouts_[choice[kLayout]].nodes);
    }
    ++runs_of_[algorithm];
  }

  /// Every algorithm must have run somewhere, once there are ranks enough for all placements and all were asked for.
  /// @param full  the whole product was run: scripts/lib/test_report.py repeats what that covered.
  int finish(bool full) {
    constexpr int kEnoughRanks = 8;
    std::uint64_t wrong = wrong_cases_;
    std::string ran;
    for (const std::string& algorithm : algorithms_) {
      if (all_layouts_ && runs_of_[algorithm] == 0 && ranks_ >= kEnoughRanks) {
        fmt::print(stderr, "[rank {}] {} never ran\n", rank_, algorithm);
        ++wrong;
      }
      if (runs_of_[algorithm] > 0) ran += fmt::format(" {}:{}", algorithm, runs_of_[algorithm]);
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start_;
    if (rank_ == 0)
      fmt::print("{}{} ranks, {}: {} cases, {} wrong, {} refused pairs of algorithm and placement ({:.0f} s);{}\n",
                 full ? "covered: " : "", ranks_,
                 all_layouts_ ? fmt::format("{} placements", layouts_.size()) : layouts_.front().name, cases_, wrong,
                 refused_, took.count(), ran);
    for (Comm& comm : comms_) comm.close();
    return wrong == 0 ? 0 : 1;
  }

 private:
  /// Asks for every algorithm on every placement, and holds the answer to what a call does.
  void find_refusals() {
    float value = 0;
    for (const std::string& algorithm : algorithms_) {
      std::vector<bool> served;
      for (Comm& comm : comms_) {
        const bool serves = algorithm == "auto" || !comm.refusal(algorithm, 1, UMBEL_FP32, UMBEL_SUM);
        served.push_back(serves);
        if (serves) continue;
        ++refused_;
        comm.set_algorithm(algorithm);
        const umbel_result_t result = umbel_all_reduce(&value, &value, 1, UMBEL_FP32, UMBEL_SUM, comm.native());
        if (result != UMBEL_ERROR_UNSUPPORTED || umbel_last_error()[0] == '\0') {
          throw Error(UMBEL_ERROR_INTERNAL, algorithm + " was refused in words but not in deed");
        }
      }
      served_.push_back(served);
    }
  }

  const bench::Pattern& pattern_of(std::size_t type, std::size_t op) {
    auto& pattern = patterns_[{type, op}];
    if (!pattern)
      pattern = std::make_unique<bench::Pattern>(bench::all_types()[type], bench::all_ops()[op], ranks_, rank_, kSeed);
    return *pattern;
  }

  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  int rank_;
  int ranks_;
  bool all_layouts_;
  std::vector<Layout> layouts_;
  std::vector<std::uint64_t> counts_;
  std::vector<std::string> algorithms_;
  std::vector<Comm> comms_;
  std::vector<std::vector<bool>> served_;  // by algorithm, layout
  std::map<std::pair<std::size_t, std::size_t>, std::unique_ptr<bench::Pattern>> patterns_;
  bench::Buffer send_;
  bench::Buffer recv_;
  std::uint64_t cases_ = 0;
  std::uint64_t wrong_cases_ = 0;
  int refused_ = 0;
  std::map<std::string, int> runs_of_;
};

bool exists(std::size_t type, std::size_t op) { return combine(bench::all_types()[type], bench::all_ops()[op]); }

void run_sample(Sweep& sweep) {
  const auto allowed = [&](std::size_t i, std::size_t a, std::size_t j, std::size_t b) {
    if (i == kType && j == kOp) return exists(a, b);
    if (i == kAlgorithm && j == kLayout) return sweep.served(a, b);
    return (i != kAlgorithm || sweep.served_anywhere(a)) && (j != kAlgorithm || sweep.served_anywhere(b));
  };
  for (const Choice& choice : pairwise(sweep.sizes(), allowed)) sweep.run(choice);
}

void run_product(Sweep& sweep) {
  const std::vector<std::size_t> sizes = sweep.sizes();
  Choice choice(sizes.size(), 0);
  while (true) {
    if (sweep.served(choice[kAlgorithm], choice[kLayout]) && exists(choice[kType], choice[kOp])) sweep.run(choice);
    std::size_t factor = 0;
    while (factor < sizes.size() && ++choice[factor] == sizes[factor]) choice[factor++] = 0;
    if (factor == sizes.size()) return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  bool full = false;
  std::optional<std::size_t> layout;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--full") == 0) full = true;
    if (std::strcmp(argv[i], "--layout") == 0 && i + 1 < argc) layout = static_cast<std::size_t>(std::atoi(argv[++i]));
  }
  try {
    Sweep sweep(rank, ranks, layout);
    if (full) {
      run_product(sweep);
    } else {
      run_sample(sweep);
    }
    const int status = sweep.finish(full);
    MPI_Finalize();
    return status;
  } catch (const std::exception& error) {
    fmt::print(stderr, "[rank {}] {}\n", rank, error.what());
    ::sleep(1);  // the others have something to say too
    ::_exit(3);
  }
}
