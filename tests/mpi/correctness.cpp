// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// correctness [--full] [--layout N]: every collective through the C ABI against scalar code, and against the host MPI
// where it has the call, over algorithm × count × type and operator × in-place × root × alignment × memory × placement.
// The pairwise sample by default: every two values of any two of these meet. With --full the product, but for type and
// operator, alignment and memory, which take turns. Calls follow each other without a barrier, and each rank overwrites
// its buffers as soon as it may: what closes an operation too early is found here. Exit status: 0 all right, 1 wrong
// data, 3 failure.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "layouts.hpp"
#include "mpi_reference.hpp"
#include "pairwise.hpp"
#include "support/cases.hpp"

namespace {

using namespace umbel;
using namespace umbel::test;

constexpr std::array kModes{"apart", "in-place", "in-place on odd ranks", "at the start on odd ranks"};
constexpr std::array<std::size_t, 5> kShifts{0, 1, 4, 16, 21};
/// Pairs of type and operator in a sample; of the few that a large job gets, all numbers of ranks together make up
/// many.
std::size_t arithmetics_sampled(int ranks) { return ranks > 8 ? 5 : 15; }

/// Of a rank's buffers none, all or every other one comes from umbel_mem_alloc; of the last, on odd ranks the other.
enum Memory : std::size_t { kHeap, kRegistered, kMixed, kMemories };

enum Factor : std::size_t { kArithmetic, kAlgorithm, kMode, kCount, kRoot, kShift, kMemory, kLayout };

std::vector<std::size_t> counts_for(int ranks) {
  const auto p = static_cast<std::size_t>(ranks);
  const std::size_t many = ranks > 8 ? 60'007 : 200'001;  // all ranks together work out the reference of all
  return {0, 1, p - 1, p, p + 1, 1237, 30'011, many};
}

struct Arithmetic {
  DType dtype;
  RedOp op;
};

std::vector<Arithmetic> all_arithmetics() {
  std::vector<Arithmetic> all;
  for (const DType dtype : all_dtypes())
    for (const RedOp op : all_redops())
      if (serves(op, dtype)) all.push_back({dtype, op});
  return all;
}

/// Registered memory for the two buffers of a case, kept for the next ones as long as they are no larger.
class RegisteredPair {
 public:
  std::shared_ptr<std::byte[]> take(std::size_t bytes) {
    auto& [memory, size] = kept_[next_++ % kept_.size()];
    if (size < bytes) {
      memory = {};  // before, so that its address may be the one given out
      void* fresh = nullptr;
      check(umbel_mem_alloc(&fresh, bytes));
      memory = {static_cast<std::byte*>(fresh), [](std::byte* taken) { check(umbel_mem_free(taken)); }};
      size = bytes;
    }
    return memory;
  }

 private:
  std::array<std::pair<std::shared_ptr<std::byte[]>, std::size_t>, 2> kept_;
  std::size_t next_ = 0;
};

/// An algorithm of a collective; "auto" for each too.
struct Named {
  Collective collective;
  std::string name;
  std::string text() const { return fmt::format("{}:{}", name_of(collective), name); }
};

std::vector<Named> all_named() {
  std::vector<Named> all;
  for (const Collective collective : all_collectives()) {
    if (plain(collective) != collective) continue;
    for (const std::string& name : algorithms_of(static_cast<umbel_collective_t>(collective)))
      all.push_back({collective, name});
    all.push_back({collective, "auto"});
  }
  return all;
}

umbel_result_t run_umbel(const Case& c, const void* send, void* recv, umbel_comm_t comm) {
  const auto dtype = static_cast<umbel_dtype_t>(c.dtype);
  const auto op = static_cast<umbel_op_t>(c.op);
  switch (c.collective) {
    case Collective::all_reduce:
      return umbel_all_reduce(send, recv, c.count, dtype, op, comm);
    case Collective::broadcast:
      return umbel_broadcast(send, recv, c.count, dtype, c.root, comm);
    case Collective::reduce:
      return umbel_reduce(send, recv, c.count, dtype, op, c.root, comm);
    case Collective::all_gather:
      return umbel_all_gather(send, recv, c.count, dtype, comm);
    case Collective::reduce_scatter:
      return umbel_reduce_scatter(send, recv, c.count, dtype, op, comm);
    case Collective::all_to_all:
      return umbel_all_to_all(send, recv, c.count, dtype, comm);
    case Collective::gather:
      return umbel_gather(send, recv, c.count, dtype, c.root, comm);
    case Collective::scatter:
      return umbel_scatter(send, recv, c.count, dtype, c.root, comm);
    case Collective::barrier:
      return umbel_barrier(comm);
    default:
      return UMBEL_ERROR_INTERNAL;
  }
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
        arithmetics_(all_arithmetics()),
        algorithms_(all_named()) {
    for (const Layout& layout : layouts_) comms_.push_back(make_comm(layout.nodes));
    find_refusals();
  }

  std::vector<std::size_t> sizes() const {
    return {arithmetics_sampled(ranks_),
            algorithms_.size(),
            kModes.size(),
            counts_.size(),
            roots().size(),
            kShifts.size(),
            kMemories,
            layouts_.size()};
  }
  bool served(std::size_t algorithm, std::size_t layout) const { return served_[algorithm][layout]; }
  bool served_anywhere(std::size_t algorithm) const {
    return std::ranges::find(served_[algorithm], true) != served_[algorithm].end();
  }
  std::size_t arithmetics() const { return arithmetics_.size(); }
  /// Of a sample: a part of all pairs of type and operator, another one for each number of ranks.
  std::size_t sampled(std::size_t index) const {
    return (index * (arithmetics_.size() / arithmetics_sampled(ranks_)) + static_cast<std::size_t>(ranks_)) %
           arithmetics_.size();
  }

  void run(const Choice& choice) {
    const Named& algorithm = algorithms_[choice[kAlgorithm]];
    const Arithmetic& arithmetic = arithmetics_[choice[kArithmetic]];
    Comm& comm = comms_[choice[kLayout]];
    const Case c{.collective = algorithm.collective,
                 .count = algorithm.collective == Collective::barrier ? 0 : counts_[choice[kCount]],
                 .dtype = arithmetic.dtype,
                 .op = arithmetic.op,
                 .root = rooted(algorithm.collective) ? roots()[choice[kRoot]] : 0,
                 .salt = ++cases_};
    if (algorithm.name != "auto" && comm.refusal(algorithm.name, call_of(c))) {  // some serve short messages only
      ++refused_cases_;
      return;
    }
    comm.set_algorithm(algorithm.text());
    try {
      check_case(
          c, rank_, ranks_, placed(choice[kMode]), kShifts[choice[kShift]],
          [&](const Case& one, const void* send, void* recv) { check(run_umbel(one, send, recv, comm.native())); },
          memory(choice[kMemory]));
      check_reference(c);
    } catch (const WrongResult& wrong) {
      ++wrong_cases_;
      fmt::print(stderr, "[rank {}] {} by {} on {} ({})\n", rank_, wrong.what(), algorithm.text(),
                 layouts_[choice[kLayout]].name, layouts_[choice[kLayout]].nodes);
    }
    const char* ran = comm.last_call().algorithm;
    if (ran == nullptr || (algorithm.name != "auto" && algorithm.name != ran)) {
      fmt::print(stderr, "[rank {}] forced {}, but {} ran\n", rank_, algorithm.text(),
                 ran == nullptr ? "nothing" : ran);
      ++wrong_cases_;
    }
    ++runs_of_[algorithm.text()];
  }

  /// Every algorithm must have run somewhere, once there are ranks enough for all placements, as many as all algorithms
  /// serve, and all placements were asked for.
  /// @param full  the whole product was run: scripts/lib/test_report.py repeats what that covered.
  int finish(bool full) {
    const bool enough_ranks = ranks_ >= 8 && std::has_single_bit(static_cast<unsigned>(ranks_));
    std::uint64_t wrong = wrong_cases_;
    std::string ran;
    for (const Named& algorithm : algorithms_) {
      const int runs = runs_of_[algorithm.text()];
      if (all_layouts_ && runs == 0 && enough_ranks) {
        fmt::print(stderr, "[rank {}] {} never ran\n", rank_, algorithm.text());
        ++wrong;
      }
      if (runs > 0) ran += fmt::format(" {}:{}", algorithm.text(), runs);
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start_;
    if (rank_ == 0)
      fmt::print(
          "{}{} ranks, {}: {} cases, {} also by MPI, {} wrong, {} refused for their length, {} refused pairs of "
          "algorithm and placement ({:.0f} s);"
          "{}\n",
          full ? "covered: " : "", ranks_,
          all_layouts_ ? fmt::format("{} placements", layouts_.size()) : layouts_.front().name, cases_, by_mpi_, wrong,
          refused_cases_, refused_, took.count(), ran);
    for (Comm& comm : comms_) comm.close();
    return wrong == 0 ? 0 : 1;
  }

 private:
  std::vector<Rank> roots() const {
    if (ranks_ == 1) return {0};
    return ranks_ == 2 ? std::vector<Rank>{0, 1} : std::vector<Rank>{0, ranks_ / 2, ranks_ - 1};
  }

  static Call call_of(const Case& c) {
    return {.collective = static_cast<umbel_collective_t>(c.collective),
            .count = c.count,
            .dtype = static_cast<umbel_dtype_t>(c.dtype),
            .op = static_cast<umbel_op_t>(c.op),
            .root = c.root};
  }

  Placed placed(std::size_t mode) const {
    const bool odd = rank_ % 2 == 1;
    return mode == 1 || (mode == 2 && odd) ? Placed::in_place : mode == 3 && odd ? Placed::at_start : Placed::apart;
  }

  TakeMemory memory(std::size_t kind) {
    return [this, kind, turn = rank_](std::size_t bytes) mutable {
      const bool registered = kind == kRegistered || (kind == kMixed && turn++ % 2 == 0);
      return registered ? registered_.take(bytes) : from_heap(bytes);
    };
  }

  /// The reference itself, held to what the host MPI makes of the same input.
  void check_reference(const Case& c) {
    constexpr std::size_t kFew = 2000;
    if (c.count > kFew || !mpi_serves(c, ranks_)) return;
    ++by_mpi_;
    check_case(c, rank_, ranks_, Placed::apart, 0,
               [&](const Case& one, const void* send, void* recv) { run_mpi(one, send, recv, rank_); });
  }

  /// Asks for every algorithm on every placement, and holds the answer to what a call does.
  void find_refusals() {
    std::vector<float> send(static_cast<std::size_t>(ranks_)), recv(send.size());
    for (const Named& algorithm : algorithms_) {
      std::vector<bool> served;
      for (Comm& comm : comms_) {
        const Case c{.collective = algorithm.collective, .count = 1};
        const bool serves =
            algorithm.name == "auto" ||
            !comm.refusal(algorithm.name,
                          {.collective = static_cast<umbel_collective_t>(algorithm.collective), .count = 1});
        served.push_back(serves);
        if (serves) continue;
        ++refused_;
        comm.set_algorithm(algorithm.text());
        const umbel_result_t result = run_umbel(c, send.data(), recv.data(), comm.native());
        if (result != UMBEL_ERROR_UNSUPPORTED || umbel_last_error()[0] == '\0') {
          throw Error(UMBEL_ERROR_INTERNAL, algorithm.text() + " was refused in words but not in deed");
        }
      }
      served_.push_back(served);
    }
  }

  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  int rank_;
  int ranks_;
  bool all_layouts_;
  std::vector<Layout> layouts_;
  std::vector<std::size_t> counts_;
  std::vector<Arithmetic> arithmetics_;
  std::vector<Named> algorithms_;
  std::vector<Comm> comms_;
  RegisteredPair registered_;
  std::vector<std::vector<bool>> served_;  // by algorithm, layout
  std::uint64_t cases_ = 0;
  std::uint64_t by_mpi_ = 0;
  std::uint64_t wrong_cases_ = 0;
  int refused_ = 0;
  int refused_cases_ = 0;
  std::map<std::string, int> runs_of_;
};

void run_sample(Sweep& sweep) {
  const auto allowed = [&](std::size_t i, std::size_t a, std::size_t j, std::size_t b) {
    if (i == kAlgorithm && j == kLayout) return sweep.served(a, b);
    return (i != kAlgorithm || sweep.served_anywhere(a)) && (j != kAlgorithm || sweep.served_anywhere(b));
  };
  for (Choice& choice : pairwise(sweep.sizes(), allowed)) {
    choice[kArithmetic] = sweep.sampled(choice[kArithmetic]);
    sweep.run(choice);
  }
}

void run_product(Sweep& sweep) {
  std::vector<std::size_t> sizes = sweep.sizes();
  sizes[kArithmetic] = sizes[kShift] = sizes[kMemory] = 1;
  Choice choice(sizes.size(), 0);
  std::size_t turn = 0;
  while (true) {
    if (sweep.served(choice[kAlgorithm], choice[kLayout])) {
      Choice one = choice;
      one[kArithmetic] = turn % sweep.arithmetics();
      one[kMemory] = turn % kMemories;
      one[kShift] = turn++ % kShifts.size();
      sweep.run(one);
    }
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
