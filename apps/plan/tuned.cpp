// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "tuned.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace umbel::plan {
namespace {

bool fits(const runtime::TuningEntry& entry, const CallOptions& options) {
  return entry.topology.ranks_on_nodes == runtime::ranks_on_nodes(shape_of(options.ranks, options.nodes));
}

}  // namespace

std::optional<runtime::TuningEntry> tuning_of(const CallOptions& options) {
  if (options.tuning.empty()) return std::nullopt;
  const runtime::TuningFile file = runtime::read_tuning_file(options.tuning);
  const auto found = std::find_if(file.entries.rbegin(), file.entries.rend(),
                                  [&](const runtime::TuningEntry& entry) { return fits(entry, options); });
  if (found != file.entries.rend()) return *found;
  if (file.entries.size() == 1) return file.entries.front();
  std::string known;
  for (const runtime::TuningEntry& entry : file.entries) known += "\n  " + entry.topology.text();
  throw InvalidArgument(fmt::format("{} has no entry for {} ranks{}; it has{}", options.tuning, options.ranks,
                                    options.nodes.empty() ? " on one node" : " placed as " + options.nodes,
                                    known.empty() ? " none" : ":" + known));
}

CallOptions as_tuned(CallOptions options, const runtime::TuningEntry& entry) {
  options.direct = entry.topology.cma;
  return options;
}

Placed placed_by(const CallOptions& options, const std::optional<runtime::TuningEntry>& entry) {
  if (!entry) return Placed(options);
  return Placed(as_tuned(options, *entry), entry->tuned(entry->at_start));
}

std::string text_of(const runtime::TuningEntry& entry, const CallOptions& options) {
  return fmt::format("by {}, {}, for {}{}", options.tuning, entry.provenance(), entry.topology.text(),
                     fits(entry, options) ? "" : ": other nodes than these");
}

std::string figures_text(const runtime::TuningEntry& entry) {
  std::string text;
  for (std::size_t k = 0; k < entry.figures.size(); ++k) {
    const auto& [name, figure] = runtime::kTunedFigures[k];
    if (entry.figures[k] > 0)
      text +=
          fmt::format("  {:<12} {:>12} at start {:>12} tuned\n", name,
                      runtime::figure_text(name, entry.at_start.*figure), runtime::figure_text(name, entry.figures[k]));
  }
  return text;
}

nlohmann::ordered_json to_json(const runtime::TuningEntry& entry, const CallOptions& options) {
  nlohmann::ordered_json json = runtime::to_json(entry);
  json["file"] = options.tuning;
  return json;
}

}  // namespace umbel::plan
