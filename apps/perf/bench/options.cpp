// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <span>
#include <sstream>
#include <stdexcept>

#include "common/usage.hpp"
#include "sizes.hpp"

namespace umbel::bench {
namespace {

/// The command line is wrong; the message says what was expected.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The command line as typed; only what needs interpretation is text.
struct Raw {
  std::string min_bytes, max_bytes, step_bytes, step_factor;
  std::string iterations, warmup, check, cycles, root, across, cpu_time, local_register, threads = "1", gpus = "1",
                                                                                         timeout;
  std::string types = "float", ops = "sum", algorithms, peer;
};

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  std::istringstream stream(list);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  if (list.empty() || list.back() == ',') parts.emplace_back();
  return parts;
}

std::uint64_t to_size(const char* flag, const std::string& text) {
  if (const auto size = parse_size(text)) return *size;
  throw UsageError(fmt::format("{} {}: not a size; expected bytes, such as 8, 64K, 128M or 1G", flag, text));
}

/// The number that the whole text is; nullopt when it is none, or not within the bounds.
template <class Number>
std::optional<Number> number_of(const std::string& text, Number least, Number most) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool good = error == std::errc{} && end == text.data() + text.size() && value >= least && value <= most;
  return good ? std::optional(value) : std::nullopt;
}

constexpr int kAnyInt = 1'000'000'000;

int to_int(const char* flag, const std::string& text, int least, int most) {
  if (const auto value = number_of(text, least, most)) return *value;
  throw UsageError(fmt::format("{} {}: expected a whole number, at least {}{}", flag, text, least,
                               most < kAnyInt ? fmt::format(" and at most {}", most) : ""));
}

/// Leaves the target alone when the flag was not given.
template <class Target>
void take_int(Target& target, const char* flag, const std::string& text, int least, int most = kAnyInt) {
  if (!text.empty()) target = static_cast<Target>(to_int(flag, text, least, most));
}

void take_sizes(Options& options, const Raw& raw) {
  if (!raw.min_bytes.empty()) options.min_bytes = to_size("-b", raw.min_bytes);
  if (!raw.max_bytes.empty()) options.max_bytes = to_size("-e", raw.max_bytes);
  // one of the two alone: the other gives way
  if (raw.max_bytes.empty()) options.max_bytes = std::max(options.max_bytes, options.min_bytes);
  if (raw.min_bytes.empty()) options.min_bytes = std::min(options.max_bytes, options.min_bytes);
  if (options.min_bytes > options.max_bytes) {
    throw UsageError(fmt::format("-b {} is more than -e {}", raw.min_bytes, raw.max_bytes));
  }
  if (!raw.step_bytes.empty()) options.step_bytes = to_size("-i", raw.step_bytes);
  if (options.step_bytes == 0) throw UsageError("-i 0: the step must be at least one byte");
  take_int(options.step_factor, "-f", raw.step_factor, 1);
}

/// A comma list of names, each one that `find` knows, or all.
template <class Info>
std::vector<Info> infos_of(const char* flag, const char* noun, const std::string& list, std::span<const Info> known,
                           std::optional<Info> (*find)(std::string_view)) {
  std::vector<Info> infos;
  for (const std::string& name : split(list)) {
    if (name == "all") {
      infos.assign(known.begin(), known.end());
    } else if (const auto info = find(name)) {
      infos.push_back(*info);
    } else {
      std::vector<std::string_view> names;
      for (const Info& one : known) names.push_back(one.name);
      throw UsageError(
          fmt::format("{} {}: no such {}; there are {} and all", flag, name, noun, fmt::join(names, ", ")));
    }
  }
  return infos;
}

/// What was asked for by name must exist; `all` means all that does.
void refuse_combinations(const Options& options, const std::string& types, const std::string& ops) {
  const auto has_all = [](const std::string& list) { return std::ranges::count(split(list), "all") != 0; };
  const bool all = has_all(types) || has_all(ops);
  for (const TypeInfo& type : options.types) {
    for (const OpInfo& op : options.ops) {
      if (all || combine(type, op)) continue;
      throw UsageError(fmt::format("-d {} -o {}: {} does not serve {}", types, ops, op.name, type.name));
    }
  }
}

std::vector<std::string> known_algorithms(const Traits& traits) {
  std::vector<std::string> names;
  if (!traits.collective) return names;
  for (std::size_t i = 0; umbel_algorithm_name(*traits.collective, i) != nullptr; ++i)
    names.emplace_back(umbel_algorithm_name(*traits.collective, i));
  return names;
}

/// What UMBEL_ALGORITHM, of the form that umbel_comm_set_algorithm takes, names for this collective; "" when nothing.
std::string configured_algorithm(const Traits& traits, const std::vector<std::string>& known) {
  const char* text = std::getenv("UMBEL_ALGORITHM");
  if (text == nullptr || !traits.collective) return {};
  const std::string prefix = fmt::format("{}:", umbel_collective_name(*traits.collective));
  for (std::string name : split(text)) {
    if (name.starts_with(prefix)) name.erase(0, prefix.size());
    if (std::ranges::find(known, name) != known.end()) return name;
  }
  return {};
}

void take_algorithms(Options& options, const Raw& raw, const Traits& traits) {
  const std::vector<std::string> known = known_algorithms(traits);
  if (raw.algorithms.empty()) {
    // so that a case it cannot serve becomes a row
    if (const std::string name = configured_algorithm(traits, known); !name.empty()) {
      options.algorithms = options.named = {name};
    }
    return;
  }
  for (const std::string& name : split(raw.algorithms)) {
    if (name == "all") {
      options.algorithms.insert(options.algorithms.end(), known.begin(), known.end());
    } else if (name == "auto") {
      options.algorithms.push_back(name);
    } else if (std::ranges::find(known, name) != known.end()) {
      options.algorithms.push_back(name);
      options.named.push_back(name);
    } else {
      throw UsageError(
          fmt::format("--algo {}: no such algorithm; there are {}, all and auto", name, fmt::join(known, ", ")));
    }
  }
}

void take_roots(Options& options, const std::string& text, int ranks) {
  const int last = std::max(ranks - 1, 0);
  const bool all = text == "all" || text == "-1";  // -1: nccl-tests' word for it
  const int first = all || text.empty() ? 0 : to_int("-r", text, 0, last);
  options.roots.clear();
  for (int root = first; root <= (all ? last : first); ++root) options.roots.push_back(root);
}

/// nccl-tests drives several GPUs from one process; here a process is a rank, and mpirun makes more of them.
void refuse_several(const Raw& raw, int argc, const char* const* argv, int ranks) {
  const int threads = to_int("-t", raw.threads, 1, 4096);
  const int gpus = to_int("-g", raw.gpus, 1, 4096);
  if (threads == 1 && gpus == 1) return;
  std::string command = argv[0];
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const auto is = [&](std::string_view short_name, std::string_view long_name) {
      return argument.starts_with(short_name) || argument == long_name ||
             argument.starts_with(std::string(long_name) + "=");
    };
    if (is("-g", "--ngpus") || is("-t", "--nthreads")) {
      if (argument == "-g" || argument == "-t" || argument == "--ngpus" || argument == "--nthreads")
        ++i;  // and its value
      continue;
    }
    command += ' ';
    command += argument;
  }
  throw UsageError(fmt::format("{}: a process is one rank here. The same with processes:\n  mpirun -n {} {}",
                               gpus > 1 ? fmt::format("-g {}", gpus) : fmt::format("-t {}", threads),
                               static_cast<long long>(ranks) * threads * gpus, command));
}

void take_timeout(Options& options, const std::string& text) {
  if (text.empty()) return;
  constexpr double kLongest = 1e9;
  const auto seconds = number_of(text, 0.0, kLongest);
  if (!seconds || *seconds == 0) throw UsageError(fmt::format("-T {}: expected seconds, more than 0", text));
  options.timeout_s = *seconds;
}

void refuse_stdout(const char* flag, const std::string& file) {
  if (file == "-") throw UsageError(fmt::format("{} -: expected the name of a file; the table is on stdout", flag));
}

/// What has no meaning for a collective has no influence either; scripts may give all apps the same flags.
void drop_meaningless(Options& options, const Traits& traits) {
  if (!traits.reduces) options.ops = {OpInfo{UMBEL_SUM, "none"}};
  if (!traits.has_root) options.roots = {0};
  if (moves_data(traits)) return;
  options.types = {TypeInfo{UMBEL_INT8, "none", "none", 1, Kind::signed_integer, 0}};
  options.min_bytes = options.max_bytes = 0;
}

Options interpret(Options options, const Raw& raw, const Traits& traits, int ranks) {
  refuse_stdout("--json", options.json_file);
  refuse_stdout("--csv", options.csv_file);
  take_sizes(options, raw);
  take_int(options.iterations, "-n", raw.iterations, 1);
  take_int(options.warmup, "-w", raw.warmup, 0);
  take_int(options.check, "-c", raw.check, 0);
  take_int(options.cycles, "-N", raw.cycles, 0);
  take_roots(options, raw.root, ranks);
  take_int(options.across, "-a", raw.across, 0, 3);
  take_int(options.cpu_time, "-C", raw.cpu_time, 0, 1);
  take_int(options.local_register, "-R", raw.local_register, 0, 1);
  take_timeout(options, raw.timeout);
  options.types = infos_of("-d", "type", raw.types, all_types(), find_type);
  options.ops = infos_of("-o", "operator", raw.ops, all_ops(), find_op);
  if (traits.reduces) refuse_combinations(options, raw.types, raw.ops);
  take_algorithms(options, raw, traits);
  if (!raw.peer.empty() && raw.peer != "mpi") {
    throw UsageError(fmt::format("--peer {}: no such peer; there is mpi", raw.peer));
  }
  options.peer_mpi = !raw.peer.empty();
  drop_meaningless(options, traits);
  return options;
}

void declare(CLI::App& app, Raw& raw, Options& options) {
  app.set_version_flag("--version", fmt::format("Umbel {} ({})", umbel_version(), umbel_revision()));
  app.add_option("-b,--minbytes", raw.min_bytes,
                 "Smallest size; K, M, G are 1024-based (default 32M). With one share a rank: of all shares");
  app.add_option("-e,--maxbytes", raw.max_bytes, "Largest size (default 32M)");
  app.add_option("-i,--stepbytes", raw.step_bytes, "Step between sizes (default 1M)");
  app.add_option("-f,--stepfactor", raw.step_factor, "Factor between sizes, instead of a step");
  app.add_option("-n,--iters", raw.iterations, "Timed iterations (default 20)");
  app.add_option("-w,--warmup_iters", raw.warmup, "Iterations before those (default 5)");
  app.add_option("-N,--run_cycles", raw.cycles, "Run the whole sweep so many times, 0: until stopped (default 1)");
  app.add_option("-d,--datatype", raw.types,
                 "Type, a comma list, or all (default float); nccl-tests' names and fp32, bf16, …");
  app.add_option(
      "-o,--op", raw.ops,
      "sum, prod, min, max, avg, band, bor, bxor, land, lor, lxor, minloc, maxloc, a comma list, or all that serve "
      "the type (default sum); without a meaning where nothing is reduced");
  app.add_option("-r,--root", raw.root,
                 "Root, or all: one after another (default 0); without a meaning where there is no root");
  app.add_option("-c,--check", raw.check, "Check the results of so many iterations, 0: none (default 1)");
  app.add_option("-a,--average", raw.across,
                 "Time of an iteration: 0 rank 0's, 1 mean, 2 minimum, 3 maximum over ranks (default 3)");
  app.add_option("-C,--report_cputime", raw.cpu_time,
                 "1: CPU time of the calling thread instead of elapsed time (default 0)");
  app.add_option("-R,--local_register", raw.local_register,
                 "1: buffers are memory that node-mates read in place, and calls are planned for that (default 0)");
  app.add_option("-T,--timeout", raw.timeout,
                 "Deadline of every wait in seconds, more than 0 (default UMBEL_TIMEOUT_S)");
  app.add_option("-g,--ngpus", raw.gpus, "Only 1: a process is one rank");
  app.add_option("-t,--nthreads", raw.threads, "Only 1: a process is one rank");
  app.add_option("--algo", raw.algorithms, "Algorithm, a comma list, all, or auto: chosen per call (default)");
  app.add_flag("--list-algorithms", options.list_algorithms, "Print the algorithms and exit");
  app.add_flag("--reproducible", options.reproducible, "The same bits whatever the algorithm and layout");
  app.add_option("--peer", raw.peer, "mpi: time the same call of the MPI library too, alternating in the same loop");
  app.add_flag("--percentiles", options.percentiles, "Print columns p50 and p99");
  app.add_option("-J,--json,--output_file", options.json_file, "Write the results as JSON too");
  app.add_option("--csv", options.csv_file, "Write the results as CSV too");
}

}  // namespace

Parsed parse_options(const Traits& traits, int argc, const char* const* argv, int ranks) {
  CLI::App app{
      "Times a collective over sizes, checks every result, and prints a table. Run it by mpirun.\n"
      "Exit status: 0 right, 1 wrong data, 2 usage (also an algorithm that was named and can serve no row),\n3 "
      "failure."};
  Raw raw;
  Options options;
  declare(app, raw, options);
  const std::string hint = fmt::format("{}: see --help\n", argv[0]);
  try {
    app.parse(argc, argv);
    refuse_several(raw, argc, argv, ranks);
    return {interpret(options, raw, traits, ranks), {}, kExitRight};
  } catch (const CLI::ParseError& error) {
    const apps::UsageText usage = apps::usage_text(app, error);
    return {std::nullopt, usage.text, usage.wrong ? kExitUsage : kExitRight};
  } catch (const UsageError& error) {
    return {std::nullopt, std::string(error.what()) + "\n" + hint, kExitUsage};
  }
}

}  // namespace umbel::bench
