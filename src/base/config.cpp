// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "base/config.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/hash.hpp"

namespace umbel {
namespace {

constexpr std::string_view kPrefix = "UMBEL_";
constexpr std::string_view kScriptsPrefix = "UMBEL_CLUSTER_";  // read by scripts/cluster, not by the library
constexpr std::array<std::string_view, 3> kCmaNames{"auto", "off", "on"};
constexpr std::array<std::string_view, 4> kWaitNames{"auto", "spin", "yield", "sleep"};
constexpr std::array<LogLevel, 6> kLogLevels{LogLevel::none, LogLevel::error, LogLevel::warn,
                                             LogLevel::info, LogLevel::debug, LogLevel::trace};

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  Number value{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <std::size_t N>
std::size_t index_of(const std::array<std::string_view, N>& names, std::string_view text) {
  const auto found = std::ranges::find(names, lower(text));
  if (found == names.end()) throw InvalidArgument(fmt::format("expected one of {}", fmt::join(names, ", ")));
  return static_cast<std::size_t>(found - names.begin());
}

/// A word in either case; anything else is a file's name.
std::string parse_tuning(std::string_view text) {
  std::string word = lower(text);
  return word == "auto" || word == "off" ? word : std::string(text);
}

bool parse_switch(std::string_view text) {
  if (text == "0") return false;
  if (text == "1") return true;
  throw InvalidArgument("expected 0 or 1");
}

std::chrono::milliseconds parse_seconds(std::string_view text) {
  constexpr double kLongest = 1e9;  // about 31 years
  const auto seconds = whole_number<double>(text);
  if (!seconds || !std::isfinite(*seconds) || *seconds < 0.001 || *seconds > kLongest)
    throw InvalidArgument("expected seconds, at least 0.001");
  return std::chrono::milliseconds(std::llround(*seconds * 1000));
}

int parse_channels(std::string_view text) {
  constexpr int kMost = 4;  // what the checker's campaign proves
  const auto value = whole_number<int>(text);
  if (!value || *value < 0 || *value > kMost)
    throw InvalidArgument(fmt::format("expected a number from 0 to {}", kMost));
  return *value;
}

std::uint64_t parse_window(std::string_view text) {
  constexpr std::uint64_t kLeast = 2U << 20U;
  const std::uint64_t bytes = parse_bytes(text);
  if (bytes < kLeast) throw InvalidArgument("expected at least 2M");
  return bytes;
}

/// Of a chunk or a piece: loops over them are counted in 32 bits.
std::uint64_t parse_cut(std::string_view text) {
  constexpr std::uint64_t kLeast = 4U << 10U;
  const std::uint64_t bytes = parse_bytes(text);
  if (bytes != 0 && bytes < kLeast) throw InvalidArgument("expected 0 or at least 4K");
  return bytes;
}

LogLevel parse_level(std::string_view text) {
  for (LogLevel level : kLogLevels)
    if (lower(text) == name_of(level)) return level;
  throw InvalidArgument("expected one of none, error, warn, info, debug, trace");
}

// One entry a variable, in the order in which people read them. `agreed` is false where ranks may well differ.
constexpr std::array kVariables{
    Config::Variable{.name = "UMBEL_ALGORITHM",
                     .type = "auto, a name or a list",
                     .meaning =
                         "The algorithm of every call. `auto`: the cost model chooses for each call. A name: for every "
                         "collective that "
                         "has an algorithm of this name; the others choose. `all_reduce:ring,broadcast:chain`: for "
                         "these; the others "
                         "choose. A named algorithm that cannot serve a call is an error, never replaced by another. "
                         "`all_reduce_perf --list-algorithms` names them, and the other programs theirs.",
                     .agreed = true,
                     .set = [](Config& c, std::string_view text) { c.algorithm = text; },
                     .get = [](const Config& c) { return c.algorithm; }},
    Config::Variable{
        .name = "UMBEL_REPRODUCIBLE",
        .type = "0 or 1",
        .meaning =
            "1: floating-point results depend on the number of ranks only, not on how they are placed on nodes, "
            "nor on the algorithm: only algorithms that fold in one canonical order run, a balanced tree over "
            "the ranks. Partial sums and products of 16- and 8-bit floats are carried in fp32, through memory of the "
            "library's own, and rounded once. Integers are the same in any order.",
        .agreed = true,
        .set = [](Config& c, std::string_view text) { c.reproducible = parse_switch(text); },
        .get = [](const Config& c) { return std::string(c.reproducible ? "1" : "0"); }},
    Config::Variable{
        .name = "UMBEL_NODES",
        .type = "a number or a list",
        .meaning =
            "Places the ranks on virtual nodes instead of the nodes found. A number: that many nodes of consecutive "
            "ranks, larger ones first (5 ranks on 2 nodes: 3 and 2). A comma list: the node of each rank (`0,1,0,1`); "
            "entries may be paths for more levels (`0/0,0/1,1/0,1/1`). Ranks on different virtual nodes use the "
            "network even on one host. What does not fit the number of ranks is an error.",
        .agreed = true,
        .set = [](Config& c, std::string_view text) { c.nodes = text; },
        .get = [](const Config& c) { return c.nodes; }},
    Config::Variable{
        .name = "UMBEL_TIMEOUT_S",
        .type = "seconds",
        .meaning =
            "The deadline of every wait for other ranks. When it passes, the call fails with an error that says who "
            "is missing.",
        .agreed = true,
        .set = [](Config& c, std::string_view text) { c.timeout = parse_seconds(text); },
        .get = [](const Config& c) { return fmt::format("{}", static_cast<double>(c.timeout.count()) / 1000); }},
    Config::Variable{.name = "UMBEL_DEBUG",
                     .type = "none, error, warn, info, debug or trace",
                     .meaning = "How much is logged, to stderr. Each level includes those before it.",
                     .agreed = false,
                     .set = [](Config& c, std::string_view text) { c.debug = parse_level(text); },
                     .get = [](const Config& c) { return std::string(name_of(c.debug)); }},
    Config::Variable{.name = "UMBEL_DEBUG_SUBSYS",
                     .type = "a list",
                     .meaning = "Who logs more than warnings: a comma list of init, net, window, topo, plan, exec, "
                                "wait, health or all; `^` "
                                "in front of a name takes it out (`^exec,^wait`: all but these two).",
                     .agreed = false,
                     .set =
                         [](Config& c, std::string_view text) {
                           static_cast<void>(SubsystemSet::parse(text));
                           c.debug_subsystems = text;
                         },
                     .get = [](const Config& c) { return c.debug_subsystems; }},
    Config::Variable{
        .name = "UMBEL_NET_DEVICES",
        .type = "a list",
        .meaning = "The network devices to use between nodes: a comma list of exact names (`eth0,eth1`), or with a "
                   "leading `^` "
                   "all but those (`^docker0,lo`). Unset: all that UCX finds. Of several interfaces named here, or in "
                   "UCX_NET_DEVICES, each process of a node takes one in turn, where there are as many processes; of "
                   "InfiniBand ports UCX takes the nearest. `umbel_info` prints what was chosen.",
        .agreed = false,
        .set = [](Config& c, std::string_view text) { c.net_devices = DeviceFilter::parse(text); },
        .get = [](const Config& c) { return c.net_devices.to_text(); }},
    Config::Variable{
        .name = "UMBEL_CMA",
        .type = "auto, off or on",
        .meaning =
            "Whether ranks of a node read each other's buffers by process_vm_readv. `auto`: where a real read works "
            "between all ranks; `on`: an error where it does not.",
        .agreed = true,
        .set = [](Config& c, std::string_view text) { c.cma = static_cast<CmaMode>(index_of(kCmaNames, text)); },
        .get = [](const Config& c) { return std::string(name_of(c.cma)); }},
    Config::Variable{
        .name = "UMBEL_REGISTERED",
        .type = "0 or 1",
        .meaning =
            "1: a hint that the buffers of calls come from umbel_mem_alloc. Node-mates read such memory in place "
            "anyway; the hint makes the choice of algorithms count on it. Calls with other buffers stay right, and "
            "where ranks cannot read each other's memory (UMBEL_CMA) nothing changes.",
        .agreed = true,
        .set = [](Config& c, std::string_view text) { c.registered = parse_switch(text); },
        .get = [](const Config& c) { return std::string(c.registered ? "1" : "0"); }},
    Config::Variable{
        .name = "UMBEL_TUNING",
        .type = "auto, off or a file",
        .meaning =
            "The tuning file that rank 0 takes figures of the cost model from, as `umbel_tune` has measured them on "
            "such a job. `auto`: `$XDG_CONFIG_HOME/umbel/tuning.json`, or else `$HOME/.config/umbel/tuning.json`, if "
            "there is one. A file that is named here must be a tuning file. Figures of another job than this one "
            "(ranks on each node, processor, network, version of Umbel) are not used, and there is a warning. `off`: "
            "none is read.",
        .agreed = false,
        .set = [](Config& c, std::string_view text) { c.tuning = parse_tuning(text); },
        .get = [](const Config& c) { return c.tuning; }},
    Config::Variable{
        .name = "UMBEL_WINDOW_BYTES",
        .type = "bytes",
        .meaning = "Shared memory that each rank gives, for each communicator, for data on its way to its neighbours. "
                   "At least 2M.",
        .agreed = true,
        .set = [](Config& c, std::string_view text) { c.window_bytes = parse_window(text); },
        .get = [](const Config& c) { return bytes_to_text(c.window_bytes); }},
    Config::Variable{
        .name = "UMBEL_PIECE_BYTES",
        .type = "bytes",
        .meaning = "How much of a large call an algorithm handles at a time, at least 4K. 0: chosen for each call.",
        .agreed = true,
        .set = [](Config& c, std::string_view text) { c.piece_bytes = parse_cut(text); },
        .get = [](const Config& c) { return bytes_to_text(c.piece_bytes); }},
    Config::Variable{
        .name = "UMBEL_CHUNK_BYTES",
        .type = "bytes",
        .meaning = "The unit in which data moves, so that steps overlap, at least 4K. 0: chosen for each call.",
        .agreed = true,
        .set = [](Config& c, std::string_view text) { c.chunk_bytes = parse_cut(text); },
        .get = [](const Config& c) { return bytes_to_text(c.chunk_bytes); }},
    Config::Variable{
        .name = "UMBEL_CHANNELS",
        .type = "a number",
        .meaning = "Rings that the algorithm `ring` runs side by side, at most 4; no other algorithm heeds it. 0: one.",
        .agreed = true,
        .set = [](Config& c, std::string_view text) { c.channels = parse_channels(text); },
        .get = [](const Config& c) { return std::to_string(c.channels); }},
    Config::Variable{
        .name = "UMBEL_WAIT",
        .type = "auto, spin, yield or sleep",
        .meaning = "What a rank does while it waits. `auto`: spins briefly and then yields where it has a core of its "
                   "own, and "
                   "sleeps after a while; where others want the core it yields a few times and sleeps.",
        .agreed = false,
        .set = [](Config& c, std::string_view text) { c.wait = static_cast<WaitMode>(index_of(kWaitNames, text)); },
        .get = [](const Config& c) { return std::string(name_of(c.wait)); }},
    Config::Variable{
        .name = "UMBEL_PROGRESS_THREAD",
        .type = "0 or 1",
        .meaning =
            "1: a thread of the library goes on with operations that were started (nonblocking, persistent) while "
            "the program does something else. It costs the core that it runs on, while there are any.",
        .agreed = false,
        .set = [](Config& c, std::string_view text) { c.progress_thread = parse_switch(text); },
        .get = [](const Config& c) { return std::string(c.progress_thread ? "1" : "0"); }},
};

/// Calls visit(name, value) for each UMBEL_* variable of an environment.
template <class Visit>
void for_each_variable(const char* const* environment, Visit&& visit) {
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const std::size_t equals = entry.find('=');
    if (!entry.starts_with(kPrefix) || equals == std::string_view::npos) continue;
    visit(entry.substr(0, equals), entry.substr(equals + 1));
  }
}

/// Levenshtein's distance: letters to insert, delete or replace.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

const Config::Variable* find_variable(std::string_view name) {
  const auto found = std::ranges::find(kVariables, name, &Config::Variable::name);
  return found == kVariables.end() ? nullptr : &*found;
}

std::string shown(std::string_view value) { return value.empty() ? "(unset)" : std::string(value); }

/// "rank 3", "ranks 1, 4, 5", or "the other ranks" for the largest of several groups.
std::string who(const std::vector<std::size_t>& ranks, bool largest) {
  if (largest) return "the other ranks";
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "));
}

/// The value of `name` in an agreed text.
std::string value_in(std::string_view text, std::string_view name) {
  const std::string key = std::string(name) + "=";
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (line.starts_with(key)) return std::string(line.substr(key.size()));
    begin = end + 1;
  }
  return {};
}

}  // namespace

std::string_view name_of(CmaMode mode) noexcept { return kCmaNames[static_cast<std::size_t>(mode)]; }
std::string_view name_of(WaitMode mode) noexcept { return kWaitNames[static_cast<std::size_t>(mode)]; }

std::span<const Config::Variable> Config::variables() noexcept { return kVariables; }

Config Config::from_environment(const char* const* environment) {
  Config config;
  for_each_variable(environment, [&config](std::string_view name, std::string_view value) {
    const Variable* variable = find_variable(name);
    if (variable == nullptr || value.empty()) return;
    try {
      variable->set(config, value);
    } catch (const InvalidArgument& error) {
      throw InvalidArgument(fmt::format("{}={}: {}", name, value, error.what()));
    }
  });
  return config;
}

Config Config::from_environment() { return from_environment(environ); }

std::vector<std::pair<std::string_view, std::string>> Config::values() const {
  std::vector<std::pair<std::string_view, std::string>> all;
  all.reserve(kVariables.size());
  for (const Variable& variable : kVariables) all.emplace_back(variable.name, variable.get(*this));
  return all;
}

std::string Config::agreed_text() const {
  std::string text;
  for (const Variable& variable : kVariables)
    if (variable.agreed) text += fmt::format("{}={}\n", variable.name, variable.get(*this));
  return text;
}

std::uint64_t Config::agreed_hash() const { return hash_of(agreed_text()); }

std::vector<std::string> unknown_variables(const char* const* environment) {
  std::vector<std::string> messages;
  for_each_variable(environment, [&messages](std::string_view name, std::string_view) {
    if (find_variable(name) != nullptr || name.starts_with(kScriptsPrefix)) return;
    const auto distance = [name](const Config::Variable& variable) { return edit_distance(variable.name, name); };
    const Config::Variable& nearest = *std::ranges::min_element(kVariables, {}, distance);
    messages.push_back(fmt::format("{} is no variable of Umbel's; the nearest is {}", name, nearest.name));
  });
  return messages;
}

std::vector<std::string> unknown_variables() { return unknown_variables(environ); }

std::string explain_difference(std::span<const std::string> agreed_text_of_rank) {
  std::vector<std::string> sentences;
  for (const Config::Variable& variable : kVariables) {
    if (!variable.agreed) continue;
    std::map<std::string, std::vector<std::size_t>> ranks_of_value;
    for (std::size_t rank = 0; rank < agreed_text_of_rank.size(); ++rank)
      ranks_of_value[value_in(agreed_text_of_rank[rank], variable.name)].push_back(rank);
    if (ranks_of_value.size() < 2) continue;
    const auto size_of_group = [](const auto& group) { return group.second.size(); };
    const auto largest = std::ranges::max_element(ranks_of_value, {}, size_of_group);
    std::vector<std::string> parts;
    for (auto group = ranks_of_value.begin(); group != ranks_of_value.end(); ++group) {
      const bool rest = group == largest && group->second.size() > 1;
      parts.push_back(fmt::format("{} on {}", shown(group->first), who(group->second, rest)));
    }
    sentences.push_back(fmt::format("{} is {}", variable.name, fmt::join(parts, ", ")));
  }
  return fmt::format("{}", fmt::join(sentences, "; "));
}

}  // namespace umbel
