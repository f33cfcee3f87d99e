// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// umbel_tune: measures what the cost model goes by, carefully, on the job that it is started as, and writes it into a
// tuning file. Exit status: 0, 2 usage or a wrong setting, 3 failure.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.hpp"
#include "common/launcher.hpp"
#include "mpi_bootstrap.hpp"
#include "net/host.hpp"
#include "progress_bar.hpp"
#include "runtime/agreement.hpp"
#include "runtime/tuner.hpp"
#include "runtime/tuning.hpp"
#include "umbel/umbel.h"

namespace {

using umbel::runtime::TuningEntry;
using umbel::runtime::TuningFile;
using umbel::tune::ProgressBar;

using umbel::apps::kFailure;
using umbel::apps::kUsage;

enum class Progress { automatic, none, bar, lines };

struct Options {
  std::string output;  ///< empty: where communicators look
  double seconds = 10;
  bool json = false;
  Progress progress = Progress::automatic;
};

void add_options(CLI::App& app, Options& options) {
  const std::map<std::string, Progress> styles{
      {"auto", Progress::automatic}, {"bar", Progress::bar}, {"lines", Progress::lines}, {"none", Progress::none}};
  app.add_option("-o,--output", options.output,
                 "The tuning file; default: the one that UMBEL_TUNING names, or else the one that is read by default");
  app.add_option("--seconds", options.seconds, "About how long to measure")
      ->check(CLI::Range(0.1, 86400.0))
      ->capture_default_str();
  app.add_flag("--json", options.json, "Print the result as JSON");
  app.add_option("--progress", options.progress,
                 "On stderr: a bar, lines, or none; auto: a bar where stderr is a terminal, which under some launchers "
                 "it never is, else lines")
      ->transform(CLI::CheckedTransformer(styles, CLI::ignore_case))
      ->default_str("auto");
  app.set_version_flag("--version", fmt::format("Umbel {} ({})", umbel_version(), umbel_revision()));
}

ProgressBar::Style style_of(Progress progress) {
  switch (progress) {
    case Progress::none:
      return ProgressBar::Style::none;
    case Progress::bar:
      return ProgressBar::Style::bar;
    case Progress::lines:
      return ProgressBar::Style::lines;
    case Progress::automatic:
      break;
  }
  return ::isatty(STDERR_FILENO) != 0 ? ProgressBar::Style::bar : ProgressBar::Style::lines;
}

/// The file to be written, with what is in it already. That it can be written is known before anything is measured.
class Target {
 public:
  Target(const std::string& output, const std::string& setting)
      : path_(output.empty() ? umbel::runtime::tuning_path(setting) : output) {
    if (path_.empty())
      throw umbel::InvalidArgument("where to? -o names the tuning file; without it, UMBEL_TUNING or HOME");
    const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
    if (is_default() && !folder.empty()) std::filesystem::create_directories(folder);
    if (std::filesystem::exists(path_)) file_ = umbel::runtime::read_tuning_file(path_);
    if (::access(folder.empty() ? "." : folder.c_str(), W_OK) != 0)
      throw umbel::InvalidArgument(
          fmt::format("cannot write the tuning file {}: no folder that can be written to", path_));
  }

  void write(TuningEntry entry) {
    file_.put(std::move(entry));
    umbel::runtime::write_tuning_file(path_, file_);
  }

  const std::string& path() const { return path_; }
  bool is_default() const { return path_ == umbel::runtime::tuning_path("auto"); }
  std::size_t entries() const { return file_.entries.size(); }

 private:
  std::string path_;
  TuningFile file_;
};

TuningEntry::Made made_now() {
  return {.version = umbel_version(),
          .revision = umbel_revision(),
          .date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))),
          .host = umbel::net::host_hint().host_name};
}

void print(const TuningEntry& entry, const Target& target, const umbel::runtime::Tuned& result) {
  fmt::print("{}\n{:<14} {:>14} {:>14} {:>16}\n", entry.topology.text(), "figure", "at start", "tuned",
             "time, ÷ start");
  for (std::size_t k = 0; k < entry.figures.size(); ++k) {
    const auto& [name, figure] = umbel::runtime::kTunedFigures[k];
    const double tuned = entry.figures[k], start = entry.at_start.*figure;
    if (tuned > 0)
      fmt::print("{:<14} {:>14} {:>14} {:>16}\n", name, umbel::runtime::figure_text(name, start),
                 umbel::runtime::figure_text(name, tuned), fmt::format("{:.2f}", tuned / start));
  }
  for (const std::string_view name : result.unclear)
    fmt::print("{:<14} too much noise to tell: left as it is at the start\n", name);
  fmt::print("medians of {} rounds, in {}, which has {} entr{}\n", result.rounds, target.path(), target.entries(),
             target.entries() == 1 ? "y" : "ies");
  fmt::print("{}\n", target.is_default() ? "communicators of such a job use it from now on"
                                         : "communicators of such a job use it with UMBEL_TUNING=" + target.path());
}

void print_json(const TuningEntry& entry, const Target& target, const umbel::runtime::Tuned& result) {
  nlohmann::ordered_json document{{"schema", 1}, {"file", target.path()}, {"rounds", result.rounds}};
  document["entry"] = umbel::runtime::to_json(entry);
  fmt::print("{}\n", document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

void tune(const Options& options) {
  const umbel::net::Bootstrap bootstrap = umbel::tune::mpi_bootstrap();
  const auto runner = umbel::runtime::TaskRunner::create(bootstrap, {});
  const umbel::runtime::Founded& founded = runner->founded();
  std::unique_ptr<Target> target;  // of rank 0
  umbel::runtime::agree(bootstrap, "prepare the tuning file", [&] {
    if (bootstrap.rank == 0) target = std::make_unique<Target>(options.output, founded.config.tuning);
  });
  ProgressBar bar(bootstrap.rank == 0 ? style_of(options.progress) : ProgressBar::Style::none);
  const umbel::runtime::Tuned tuned = umbel::runtime::tune(
      *runner, {.seconds = options.seconds, .progress = [&bar](double done, double left) { bar.show(done, left); }});
  bar.close();
  umbel::runtime::agree(bootstrap, "write the tuning file", [&] {
    if (bootstrap.rank != 0) return;
    const TuningEntry entry{.topology = umbel::runtime::topology_of(founded),
                            .made = made_now(),
                            .figures = tuned.figures,
                            .at_start = founded.measured.model};
    target->write(entry);
    (options.json ? print_json : print)(entry, *target, tuned);
  });
}

int finish(int status) {
  std::fflush(stdout);
  MPI_Finalize();
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  CLI::App app{
      "Measures copies, folds, flags and messages as this job's ranks do them all at once, and writes a tuning file: "
      "the\n"
      "cost model of such a job then goes by these figures, not by those that are measured in a moment at its start.\n"
      "Run it by mpirun, as the job that should be tuned."};
  Options options;
  add_options(app, options);
  if (const auto status = umbel::apps::early_exit(app, argc, argv, rank, size)) return finish(*status);
  if (size == 1) {
    fmt::print(stderr, "one rank alone has nothing to choose from: run umbel_tune by mpirun, as the job to be tuned\n");
    return finish(kUsage);
  }
  try {
    tune(options);
    return finish(0);
  } catch (const std::exception& error) {
    fmt::print(stderr, "rank {}: {}\n", rank, error.what());
    std::fflush(nullptr);
    ::_exit(dynamic_cast<const umbel::InvalidArgument*>(&error) != nullptr ? kUsage
                                                                           : kFailure);  // MPI may never answer
  }
}
