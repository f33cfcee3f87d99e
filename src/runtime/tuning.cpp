// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/tuning.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/log.hpp"
#include "runtime/agreement.hpp"

namespace umbel::runtime {
namespace {

constexpr std::string_view kDefault = "auto";
constexpr std::string_view kOff = "off";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string default_path() {
  if (const std::string config = variable("XDG_CONFIG_HOME"); !config.empty()) return config + "/umbel/tuning.json";
  if (const std::string home = variable("HOME"); !home.empty()) return home + "/.config/umbel/tuning.json";
  return "";
}

/// What is wrong with an entry for this job; empty where nothing is.
std::vector<std::string> objections(const TuningEntry& entry, const TuningQuestion& question) {
  std::vector<std::string> found = differences(entry.topology, question.topology);
  if (entry.made.version != question.version)
    found.push_back(fmt::format("version of Umbel: {}, here {}", entry.made.version, question.version));
  return found;
}

std::string changes_text(const TuningEntry& entry, const algos::Model& at_start) {
  std::vector<std::string> changes;
  for (std::size_t k = 0; k < entry.figures.size(); ++k) {
    const auto& [name, figure] = kTunedFigures[k];
    if (entry.figures[k] > 0)
      changes.push_back(
          fmt::format("{} {} → {}", name, figure_text(name, at_start.*figure), figure_text(name, entry.figures[k])));
  }
  return fmt::format("{}", fmt::join(changes, ", "));
}

TuningAnswer of_no_use(const std::string& reason, std::string_view advice) {
  return {.text = "none: " + reason,
          .warning =
              fmt::format("{}; what was measured at the start is used. {}, or set UMBEL_TUNING=off", reason, advice)};
}

TuningAnswer answer_from(const TuningFile& file, const std::string& path, const TuningQuestion& question) {
  constexpr std::string_view kTune = "Run umbel_tune as this job is run";
  if (file.entries.empty()) return of_no_use(fmt::format("the tuning file {} has no entries", path), kTune);
  const auto nearest = std::ranges::min_element(
      file.entries, {}, [&](const TuningEntry& entry) { return objections(entry, question).size(); });
  const std::vector<std::string> wrong = objections(*nearest, question);
  if (wrong.empty())
    return {.figures = nearest->figures,
            .text = fmt::format("{}, {}: {}", path, nearest->provenance(), changes_text(*nearest, question.at_start)),
            .warning = {}};
  return of_no_use(fmt::format("the tuning file {} has no figures for this job; the nearest, {}, are for {}", path,
                               nearest->provenance(), fmt::join(wrong, "; ")),
                   kTune);
}

void warn(const TuningAnswer& answer) {
  // A program that makes many communicators, of parts of its ranks, is told once.
  static std::atomic<bool> first{true};
  const bool loud = first.exchange(false);
  if (answer.warning.empty()) return;
  if (loud)
    log_warn(Subsystem::init, "{}", answer.warning);
  else
    log_info(Subsystem::init, "{}", answer.warning);
}

/// From rank 0 to all: the figures, then the text; nothing where there is no file.
std::string packed(const TuningAnswer& answer) {
  if (answer.text == TuningAnswer{}.text) return "";
  std::string bytes(sizeof(Figures), '\0');
  std::memcpy(bytes.data(), answer.figures.data(), sizeof(Figures));
  return bytes + answer.text;
}

}  // namespace

std::string tuning_path(const std::string& setting) {
  return setting == kOff ? "" : setting == kDefault ? default_path() : setting;
}

TuningAnswer ask_tuning_file(const TuningQuestion& question) {
  const std::string path = tuning_path(question.setting);
  const bool by_default = question.setting == kDefault;
  std::error_code ignored;
  if (path.empty() || (by_default && !std::filesystem::exists(path, ignored))) return {};
  try {
    return answer_from(read_tuning_file(path), path, question);
  } catch (const InvalidArgument& error) {
    if (!by_default && question.must_be_read) throw InvalidArgument(fmt::format("UMBEL_TUNING: {}", error.what()));
    return of_no_use(error.what(), "Remove it and run umbel_tune");
  }
}

std::string apply_tuning(const net::Bootstrap& bootstrap, const TuningQuestion& question, algos::Model& model) {
  TuningAnswer answer;
  agree(bootstrap, "use its tuning file", [&] {
    if (bootstrap.rank == 0) answer = ask_tuning_file(question);
  });
  if (bootstrap.rank == 0 && bootstrap.size > 1) warn(answer);  // alone, a rank has nothing to choose
  const std::string agreed =
      net::all_gather_bytes(bootstrap, bootstrap.rank == 0 ? packed(answer) : std::string()).front();
  if (agreed.empty()) return TuningAnswer{}.text;
  Figures figures{};
  std::memcpy(figures.data(), agreed.data(), sizeof(figures));
  for (std::size_t k = 0; k < figures.size(); ++k)
    if (figures[k] > 0) model.*kTunedFigures[k].second = figures[k];
  return agreed.substr(sizeof(figures));
}

}  // namespace umbel::runtime
