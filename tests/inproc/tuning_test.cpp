// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Tuning with ranks as threads: tasks run and give figures, a file of them is used by all ranks alike.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <fstream>

#include <fmt/format.h>

#include "algos/algorithm.hpp"
#include "inproc/placement.hpp"
#include "inproc/ranks.hpp"
#include "runtime/tuner.hpp"
#include "runtime/tuning.hpp"
#include "support/sanitized.hpp"

#ifndef UMBEL_VERSION_TEXT
#error "the build says which version this is"
#endif

namespace umbel::test {
namespace {

using runtime::Figures;
using runtime::kTunedFigures;
using runtime::TaskRunner;
using runtime::TuningEntry;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

/// A file of the test's own, gone when it ends.
class TemporaryFile {
 public:
  TemporaryFile()
      : path_(testing::TempDir() + "umbel_tuning_" + std::to_string(::getpid()) + "_" +
              testing::UnitTest::GetInstance()->current_test_info()->name()) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

class Tasks : public testing::TestWithParam<Placement> {};

TEST_P(Tasks, GiveAFigureOfEverythingThatThereIs) {
  const auto [ranks, nodes] = GetParam();
  EXPECT_THAT(run_threads(ranks,
                          [&](int rank, Gathering& gathering) {
                            const auto runner = TaskRunner::create(gathering.bootstrap(rank), test_options(nodes));
                            double told = 0;
                            const runtime::Tuned tuned = tune(
                                *runner, {.seconds = 0.1, .progress = [&told](double done, double) { told = done; }});
                            require(tuned.rounds >= 3, fmt::format("{} rounds", tuned.rounds));
                            require((told > 0) == (rank == 0), "rank 0 is told how far it is");
                            const Shape& shape = runner->founded().members.shape;
                            for (std::size_t k = 0; k < kTunedFigures.size(); ++k) {
                              const std::string_view name = kTunedFigures[k].first;
                              const bool is_there = name.starts_with("net")                  ? shape.nodes() > 1
                                                    : name == "copy_beta" || name == "gamma" ? true
                                                                                             : shape.largest_node() > 1;
                              const double figure = tuned.figures[k];
                              // (Noise may hide how much a read adds to a write.)
                              const bool unclear = std::ranges::count(tuned.unclear, name) > 0;
                              require(figure >= 0 && std::isfinite(figure), fmt::format("{} is {}", name, figure));
                              require((figure > 0 || unclear) == is_there, fmt::format("{} is {}", name, figure));
                            }
                            const auto all = net::all_gather(gathering.bootstrap(rank), tuned.figures);
                            require(all.front() == tuned.figures, "not the same figures on all ranks");
                          }),
              Each(""));
}

INSTANTIATE_TEST_SUITE_P(On, Tasks,
                         placed_on({Placement{2, ""}, Placement{4, ""}, Placement{4, "2"}, Placement{5, "2"},
                                    Placement{3, "3"}, Placement{4, "0,1,0,1"}}),
                         name_of_placement);

/// A file for `ranks` ranks on `nodes` with figures that nobody measures.
TuningEntry write_file(const std::string& path, int ranks, const std::string& nodes) {
  TuningEntry entry;
  entry.made = {.version = UMBEL_VERSION_TEXT, .revision = "r", .date = "2026-01-31", .host = "h"};
  for (std::size_t k = 0; k < entry.figures.size(); ++k) entry.figures[k] = (static_cast<double>(k) + 1) / 3e7;
  const Outcome outcome = run_threads(ranks, [&](int rank, Gathering& gathering) {
    const auto runner = TaskRunner::create(gathering.bootstrap(rank), test_options(nodes));
    if (rank == 0) entry.topology = topology_of(runner->founded());
  });
  EXPECT_THAT(outcome, Each(""));
  runtime::write_tuning_file(path, {.entries = {entry}});
  return entry;
}

runtime::CommOptions tuned_options(const std::string& path, const std::string& nodes) {
  runtime::CommOptions options = test_options(nodes);
  options.config->tuning = path;
  return options;
}

/// Rank 0 alone knows of the file.
Outcome run_with_file_on_rank_0(int ranks, const std::string& path, const std::string& nodes,
                                const std::function<void(runtime::Communicator&)>& work) {
  return run_threads(ranks, [&](int rank, Gathering& gathering) {
    const auto comm = runtime::Communicator::create(
        gathering.bootstrap(rank), tuned_options(rank == 0 ? path : "a file that is not there", nodes));
    work(*comm);
  });
}

std::string tuning_fact(const runtime::Communicator& comm) {
  for (const runtime::Fact& fact : comm.facts())
    if (fact.name == "tuning") return fact.value;
  return "no such fact";
}

TEST(TuningFile, OfRank0IsUsedByAllRanks) {
  for (const char* nodes : {"", "2"}) {
    const TemporaryFile file;
    const TuningEntry entry = write_file(file.path(), 4, nodes);
    EXPECT_THAT(run_with_file_on_rank_0(4, file.path(), nodes,
                                        [&](runtime::Communicator& comm) {
                                          for (std::size_t k = 0; k < kTunedFigures.size(); ++k)
                                            require(comm.model().*kTunedFigures[k].second == entry.figures[k],
                                                    std::string(kTunedFigures[k].first));
                                          require(comm.model().cache_bytes > 4096, "not a figure of the file's");
                                          const std::string fact = tuning_fact(comm);
                                          require(fact.find(file.path()) == 0 && fact.find("gamma") != fact.npos, fact);
                                          // rank 0 of the other part has no such file: no reason to fail there
                                          const auto part = comm.split(comm.info().rank % 2, 0);
                                          require(tuning_fact(*part).starts_with("none: "), tuning_fact(*part));
                                          require(part->model().gamma != entry.figures[4], "of another topology");
                                          std::vector<float> data(1000, 1.0F);
                                          comm.all_reduce(data.data(), data.data(), data.size(), DType::fp32,
                                                          RedOp::sum);
                                          require(data.back() == 4.0F, "wrong sum");
                                        }),
                Each(""));
  }
}

TEST(TuningFile, LeavesRegisteredBuffersAsFastAsWindows) {
  const TemporaryFile file;
  const TuningEntry entry = write_file(file.path(), 2, "");
  runtime::CommOptions options = tuned_options(file.path(), "");
  options.registered = true;
  EXPECT_THAT(run_ranks(2, options,
                        [&](runtime::Communicator& comm, Gathering&) {
                          require(comm.model().local_beta == entry.figures[1], "not tuned");
                          require(comm.model().direct_beta == entry.figures[1], "not as the window");
                        }),
              Each(""));
}

TEST(TuningFile, OfAnotherJobIsNotUsed) {
  const TemporaryFile file;
  const TuningEntry entry = write_file(file.path(), 4, "2");
  EXPECT_THAT(
      run_with_file_on_rank_0(4, file.path(), "",
                              [&](runtime::Communicator& comm) {
                                require(comm.model().gamma != entry.figures[4], "used");
                                require(tuning_fact(comm).find("2 nodes of 2, here 1 node of 4") != std::string::npos,
                                        tuning_fact(comm));
                              }),
      Each(""));
}

TEST(TuningFile, ThatIsBrokenIsAnErrorOnAllRanks) {
  const TemporaryFile file;
  std::ofstream(file.path()) << "{}";
  EXPECT_THAT(run_with_file_on_rank_0(3, file.path(), "", [](runtime::Communicator&) {}),
              Each(AllOf(HasSubstr("Invalid: "), HasSubstr("is no tuning file"), HasSubstr("UMBEL_TUNING"))));
  EXPECT_THAT(run_ranks(2, tuned_options("nowhere/at all", ""), [](runtime::Communicator&, Gathering&) {}),
              Each(AllOf(HasSubstr("Invalid: "), HasSubstr("cannot read the tuning file nowhere/at all"))));
}

}  // namespace
}  // namespace umbel::test
